package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// An hourly routine whose runs nearly always have something to say: half as many cost half as much.
func TestTheCostsAreExplainedFromTheLedgerAndTheFiles(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	root := t.TempDir()
	put(t, filepath.Join(root, "routines/sweep.md"), "---\nid: sweep001\ncron: \"0 * * * *\"\ndescription: Inbox sweep\nbackground: true\n---\nLook.\n")
	var ledger, spending strings.Builder
	for i := range 20 {
		at := time.Now().Add(-time.Duration(i+1) * time.Minute).Format(time.RFC3339)
		fmt.Fprintf(&ledger, `{"id":"%08x","kind":"routine","task":"sweep001","title":"Inbox sweep","state":"done","queued":%q,"started":%q,"ended":%q,`+
			`"reports":1,"tokens":5000,"cost_usd":0.19}`+"\n", i, at, at, at)
		fmt.Fprintf(&spending, `{"at":%q,"for":"run","task":{"kind":"routine","id":"sweep001"},"run":"%08x","usage":{"input_tokens":5000,"cost_usd":0.19},"requests":1}`+"\n", at, i)
	}
	put(t, filepath.Join(root, "state/fork_runs.jsonl"), ledger.String())
	put(t, filepath.Join(root, "state/spending.jsonl"), spending.String())
	env := []string{"OLLIM_DATA_DIR=" + root, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "OLLIM_TIMEZONE=UTC"}
	const want = "Inbox sweep: 100 % of the costs; every 2 hours instead of every hour would have saved up to $1.90.\n" +
		"    cron: \"0 */2 * * *\"   # sweep001\n"
	if got := shell(t, built(t), env, "costs", "--explain"); got.status != 0 || !strings.HasSuffix(got.out, want) || !strings.HasPrefix(got.out, "last 30 days: 20 runs") {
		t.Errorf("%+v", got)
	}
	var answer struct {
		Advice []struct {
			ID, Change string
			Saves      float64 `json:"saves_usd"`
		}
	}
	got := shell(t, built(t), env, "costs", "--json")
	testkit.Must(t, json.Unmarshal([]byte(got.out), &answer))
	if a := answer.Advice; len(a) != 1 || a[0].ID != "sweep001" || a[0].Change != `cron: "0 */2 * * *"` || a[0].Saves < 1.89 || a[0].Saves > 1.91 {
		t.Errorf("%+v of %s", a, got.out)
	}
}
