package doctor

import (
	"fmt"
	"strings"
	"testing"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/storage/store/storetest"
)

func TestTheShareOfTheCacheIsJudgedByTheNewestRuns(t *testing.T) {
	id := 0
	run := func(read, written, rest int) string {
		id++
		return fmt.Sprintf(`{"id":"%08x","kind":"routine","task":"r1","title":"Look","state":"done","queued":"2026-11-23T09:00:00Z",`+
			`"started":"2026-11-23T09:00:00Z","ended":"2026-11-23T09:01:00Z","tokens":100,"cost_usd":0.1,"usage":{"input_tokens":%d,"cache_read_tokens":%d,"cache_write_tokens":%d}}`+"\n", id, rest, read, written)
	}
	many := func(n, read, written int) (ledger string) {
		for range n {
			ledger += run(read, written, 0)
		}
		return ledger
	}
	for name, c := range map[string]struct {
		ledger, level, says string
	}{
		"no run":            {"", pass, "no run has reported"},
		"no cache":          {run(0, 0, 100), pass, "no run has reported"},
		"nearly all":        {run(90, 5, 5), pass, "90 % of the prompts of the last 1 run came from the cache"},
		"half":              {run(50, 25, 25) + run(0, 0, 1000), pass, "50 %"},
		"less":              {run(49, 50, 1), warn, "less than half makes runs expensive"},
		"older runs do not": {many(10, 0, 100) + many(cachedRuns, 100, 0), pass, "100 % of the prompts of the last 50 runs"},
	} {
		dir := storetest.Prepared(t)
		storetest.Put(t, dir, "state/fork_runs.jsonl", c.ledger)
		r := &report{DataDir: console.DataDir{Dir: dir}}
		r.cache()
		if got := r.Checks; len(got) != 1 || got[0].Level != c.level || got[0].Label != "cache" || !strings.Contains(got[0].Message, c.says) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
