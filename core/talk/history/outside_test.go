package history

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/claude/sessionfile"
	sessions "ollimbot/core/agent/messages/history"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
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

func TestSessionsOfTheMessagesAPIAreReadAsThoseOfTheCommand(t *testing.T) {
	w := newWorld(t)
	const id, forkID = "6327f32f-1332-4813-936c-06afbe431c7b", "7327f32f-1332-4813-936c-06afbe431c7b"
	keep := func(h *sessions.History, lines ...string) {
		for _, l := range lines {
			testkit.Must(t, h.Add([]byte(l)))
			time.Sleep(time.Minute)
		}
	}
	synctest.Test(t, func(t *testing.T) { // it starts at midnight of the year 2000
		h, err := sessions.New(w.dir.Path(sessions.Folder), id)
		testkit.Must(t, err)
		testkit.Must(t, h.Begin([]byte(`[{"name":"Read"}]`), []byte(`[]`), sessions.Facts{}))
		keep(h, `{"role":"user","content":[{"type":"text","text":"[2000-01-01 Sat 12:00 AM UTC] where are the plums?"}]}`,
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"plums.md"}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"in the cellar"}]}]}`,
			`{"role":"assistant","content":[{"type":"text","text":"In the cellar."}]}`,
			`{"role":"user","content":[{"type":"text","text":"Go on, you have not reported yet."}]}`)
		f, err := sessions.Fork(w.dir.Path(sessions.Folder), id, forkID)
		testkit.Must(t, err)
		keep(f, `{"role":"user","content":[{"type":"text","text":"[2000-01-01 Sat 12:05 AM UTC] [routine-bg:de300001] Count the plums."}]}`)
		testkit.Must(t, f.Close())
		testkit.Must(t, h.Close())
	})
	list, _, err := w.history().List(Query{Limit: 10})
	testkit.Must(t, err)
	if len(list) != 2 || list[0].ID != forkID || list[0].Kind != Background || list[0].Messages != 1 ||
		list[1].Messages != 2 || list[1].Words != "where are the plums?" || list[1].Started.Year() != 2000 {
		t.Errorf("%+v", list)
	}
	c, err := w.history().Show(id[:8], Full())
	testkit.Must(t, err)
	want := []string{
		"user where are the plums?", "call Read(plums.md)", "result in the cellar", "bot In the cellar.", "program Go on, you have not reported yet.",
	}
	if diff := cmp.Diff(want, talked(c.Entries)); diff != "" {
		t.Error(diff)
	}
	for i, e := range c.Entries {
		if got := e.At.Minute(); got != i {
			t.Errorf("%s is of minute %d, not %d", e.Text, got, i)
		}
	}
	hits, _, err := w.history().Search([]string{"cellar"}, time.Time{})
	testkit.Must(t, err)
	if len(hits) != 1 || hits[0].Session != id || hits[0].At.Minute() != 3 {
		t.Errorf("%+v", hits)
	}
}

func TestPingsAreSetAgainstTheUsersNextMessage(t *testing.T) {
	w := family(t)
	w.session(mainID, at(301), append(talk(), headed(at(200), "Took it."), answers(at(200), "Good."),
		headed(at(210), "[routine:c0ffee00] Review the day."), answers(at(210), "Shall we?"),
		headed(at(220), "[button] Yes"), answers(at(220), "Then let's."),
		headed(at(300), "[reminder:d0d0d0d0] Tea."), answers(at(300), "Tea!"))...)
	w.state("pings.jsonl", fmt.Sprintf(`{"at": %q, "task": "9a8b7c6d", "title": "Medication", "kind": "ping", "critical": true, "run": "1a2b3c4d", "id": "1a2b3c4d-1"}
garbage
{"at": %q, "task": "9a8b7c6d", "title": "Medication", "kind": "ping", "run": "1a2b3c4d", "refused": "no token left"}
{"at": %q, "answers": "1a2b3c4d-1", "how": "reply"}
{"at": "2026-11-01T12:00:00+00:00", "task": "old", "title": "Too old", "kind": "ping", "critical": false, "run": "00000000"}
{"at": %q, "task": "9a8b7c6d", "title": "Medi\u001b[31mcation", "kind": "embed", "critical": false, "run": "ffffffff"}
`, at(181).Format(time.RFC3339), at(182).Format(time.RFC3339), at(199).Format(time.RFC3339), at(400).Format(time.RFC3339)))
	w.state("schedule.json", fmt.Sprintf(`{"routines": {
"9a8b7c6d": {"cron": "0 20 * * *", "last_fire": %q, "outcome": "skipped"},
"c0ffee00": {"cron": "0 21 * * *", "last_fire": %q, "outcome": "done"},
"feedfeed": {"cron": "0 21 * * *", "last_fire": %q, "outcome": "failed"},
"nothing": null}}`, stamp(at(390)), stamp(at(210).Add(-2*time.Second)), stamp(at(290))))
	w.put(w.dir.Path("routines/review.md"), "---\nid: \"c0ffee00\"\ncron: \"0 21 * * *\"\ndescription: \"Evening review\"\n---\nReview the day.\n", noon)
	w.state("transcript.jsonl", fmt.Sprintf(`{"id":"t1","at":%q,"role":"you","text":"a"}
{"id":"t2","at":%q,"role":"bot","text":"b"}
{"id":"t2","deleted":true}`, stamp(at(295)), stamp(at(299))))

	got, more, err := w.history().Pings(at(-60))
	if err != nil || more != 0 {
		t.Fatal(err, more)
	}
	after := func(minutes int) *int { return &minutes }
	want := []Event{
		{
			At: at(180), What: Fired, Task: "9a8b7c6d", Title: "Medication", Kind: "routine", Background: true,
			State: "done", Pings: 1, Session: runID,
		},
		{
			At: at(181), What: Pinged, Task: "9a8b7c6d", Title: "Medication", Kind: "routine", Background: true,
			Form: "ping", Critical: true, Session: runID, Next: at(199), How: budget.Replied, Minutes: after(18),
		},
		{At: at(210), What: Fired, Task: "c0ffee00", Title: "Evening review", Kind: "routine", Session: mainID, Next: at(220), Minutes: after(10)},
		{At: at(290), What: Fired, Task: "feedfeed", Kind: "routine", State: "failed", Next: at(295), Minutes: after(5)},
		{At: at(300), What: Fired, Task: "d0d0d0d0", Kind: "reminder", Session: mainID},
		{At: at(390), What: Fired, Task: "9a8b7c6d", Title: "Medication", Kind: "routine", State: "skipped"},
		{At: at(400), What: Pinged, Task: "9a8b7c6d", Title: "Medication", Kind: "routine", Background: true, Form: "embed"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	sums, err := w.history().Answers(at(-60))
	wantSums := []Summary{{
		Task: "9a8b7c6d", Title: "Medication", Rate: fork.Rate{Runs: 1, Pings: 1, Paid: 1},
		Answers: budget.Answers{Pings: 2, Answered: 1, Median: 18 * time.Minute},
	}}
	if diff := cmp.Diff(wantSums, sums); err != nil || diff != "" {
		t.Error(err, diff)
	}
	data, err := json.Marshal(append(sums, Summary{Task: "t", Answers: budget.Answers{Pings: 2, Answered: 1, Median: 150 * time.Second}}, Summary{}))
	const said = `[{"task":"9a8b7c6d","title":"Medication","runs":1,"pings":2,"answered":1,"pings_per_run":1,"answer_rate":0.5,"median_minutes":18},` +
		`{"task":"t","title":"","runs":0,"pings":2,"answered":1,"pings_per_run":1,"answer_rate":0.5,"median_minutes":3},` +
		`{"task":"","title":"","runs":0,"pings":0,"answered":0,"pings_per_run":1,"answer_rate":0,"median_minutes":null}]`
	if string(data) != said || err != nil {
		t.Errorf("as JSON they are %s, %v", data, err)
	}
	if strings.Contains(w.logged.String(), "level") {
		t.Errorf("there was something to complain about: %s", &w.logged)
	}
}

func TestPingsThatCannotBeReadAreAnError(t *testing.T) {
	w := newWorld(t)
	testkit.Must(t, os.MkdirAll(w.dir.Path("state/pings.jsonl/in-the-way"), 0o700))
	_, _, listed := w.history().Pings(time.Time{})
	if _, summed := w.history().Answers(time.Time{}); listed == nil || summed == nil {
		t.Errorf("%v, %v", listed, summed)
	}
}

func TestATaskHasFiredWhenItsRunWasQueuedAndNotWhenThatStarted(t *testing.T) {
	w := newWorld(t)
	w.state("fork_runs.jsonl", fmt.Sprintf(`{"id": "11111111", "kind": "routine", "task": "9a8b7c6d", "state": "done", "queued": %q, "started": %q, "ended": %q}`+"\n",
		stamp(at(0)), stamp(at(40)), stamp(at(41))))
	list, _, err := w.history().Pings(time.Time{})
	if err != nil || len(list) != 1 || !list[0].At.Equal(at(0)) {
		t.Errorf("%+v, %v; want a fire at noon", list, err)
	}
}

func TestManyPingsAreBounded(t *testing.T) {
	w := newWorld(t)
	var lines strings.Builder
	for i := range maxEvents + 7 {
		fmt.Fprintf(&lines, `{"at": %q, "task": "t", "title": "T", "kind": "ping"}`+"\n", at(i).Format(time.RFC3339))
	}
	w.state("pings.jsonl", lines.String())
	events, more, err := w.history().Pings(time.Time{})
	if err != nil || len(events) != maxEvents || more != 7 || !events[0].At.Equal(at(7)) {
		t.Errorf("%d events, %d more, %v", len(events), more, err)
	}
}
