package history

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// command runs the real claude command once with a message.
func command(t *testing.T, path, dir string, env []string, message string, args ...string) {
	t.Helper()
	line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []map[string]string{
		{"type": "text", "text": message}, {"type": "text", "text": sessionfile.LastBlock},
	}}})
	testkit.Must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{
		"-p", "--setting-sources=", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash(echo *)",
	}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, env, strings.NewReader(string(line)+"\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("claude: %v: %s", err, out)
	}
}

// Checks that we read the real command's files: a session, and a fork of it, whose file
// contains a copy.
func TestWithTheRealCLIASessionAndItsForkAreRead(t *testing.T) {
	testkit.Alone(t)
	path := claudetest.RequireCLI(t)
	api := claudetest.Start(t, claudetest.Options{})
	env, dir := claudetest.CLIEnv(t, api), t.TempDir()
	d := storetest.At(t, dir)
	main, fork := store.NewUUID(), store.NewUUID()
	begin := time.Now().Add(-time.Second)
	command(t, path, dir, env, "[2026-02-24 Tue 02:30 PM PT] Where is the red key? "+claudetest.Script(
		claudetest.Step{Tool: "Bash", Input: map[string]any{"command": "echo under the mat", "description": "look"}}, claudetest.Step{Text: "Under the mat."},
	), "--session-id", main)
	command(t, path, dir, env, "[2026-02-24 Tue 02:31 PM PT] [routine-bg:a1b2c3d4] Water the ficus. "+
		claudetest.Script(claudetest.Step{Text: "Watered."}), "--resume", main, "--fork-session", "--session-id", fork)

	h := New(Options{Dir: d, ConfigDir: sessionfile.ConfigDir(env)})
	list, more := listed(t, h, Query{})
	if len(list) != 2 || more != 0 || list[0].ID != fork || list[1].ID != main {
		t.Fatalf("%+v and %d more", list, more)
	}
	for i, words := range []string{"[routine-bg:a1b2c3d4] Water the ficus.", "Where is the red key?"} {
		s := list[i]
		if !strings.HasPrefix(s.Words, words) || s.Messages != 2 || !s.Exact || s.Started.Before(begin) || s.Last.Before(s.Started) {
			t.Errorf("%+v", s)
		}
	}
	if list[0].Kind != Background {
		t.Errorf("the fork is %s", list[0].Kind)
	}
	for id, want := range map[string][]string{
		main: {"user Where is the red key?", "call Bash(echo under the mat)", "result under the mat", "bot Under the mat."},
		fork: {"program [routine-bg:a1b2c3d4] Water the ficus.", "bot Watered."},
	} {
		c, err := h.Show(id, Brief())
		testkit.Must(t, err)
		got := talked(c.Entries)
		for i := range got { // the fake API's script is part of the message
			got[i], _, _ = strings.Cut(got[i], " @@")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	hits, _, err := h.Search([]string{"under", "mat."}, time.Time{})
	if err != nil || len(hits) == 0 || hits[0].Session != main || hits[0].Excerpt != "Under the mat." {
		t.Errorf("%v, %v", hits, err)
	}
	for _, hit := range hits {
		if hit.Session == fork {
			t.Errorf("a copy was found: %v", hit)
		}
	}
}
