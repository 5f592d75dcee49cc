package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// claudeWorld is the real bot over the real command, which talks to an API of
// ours on loopback.
type claudeWorld struct {
	t    *testing.T
	api  *claudetest.Server
	env  []string
	data string
}

func newClaudeWorld(t *testing.T) *claudeWorld {
	t.Helper()
	cli := claudetest.RequireCLI(t)
	w := newWorld(t)
	w.env = append(w.env, "OLLIM_CLAUDE="+cli)
	return w
}

// newWorld is one without the command, for an engine that needs none.
func newWorld(t *testing.T) *claudeWorld {
	t.Helper()
	api := claudetest.Start(t, claudetest.Options{})
	w := &claudeWorld{t: t, api: api, data: filepath.Join(t.TempDir(), "data")}
	testkit.Must(t, os.CopyFS(w.data, os.DirFS(filepath.Join("testdata", "fixtures", "data-dir"))))
	for _, name := range []string{"laundry.md", "stand-up-prep.md", "call-the-dentist.md"} { // the fixture's dates pass
		w.later(name)
	}
	w.env = append(claudetest.CLIEnv(t, api), "OLLIM_DATA_DIR="+w.data, "OLLIM_TIMEZONE=America/Los_Angeles",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	return w
}

// routine writes one that fires each minute and lets the model take steps.
func (w *claudeWorld) routine(name string, steps ...claudetest.Step) {
	w.t.Helper()
	text := "---\nid: \"" + name + "\"\ncron: \"* * * * *\"\nbackground: true\nallow-ping: true\ndescription: \"" + name +
		"\"\n---\nDo it.\n\n" + claudetest.Script(steps...) + "\n"
	testkit.Must(w.t, os.WriteFile(filepath.Join(w.data, "routines", name+".md"), []byte(text), 0o600))
}

// later makes a reminder of the fixture due tomorrow.
func (w *claudeWorld) later(reminder string) {
	w.t.Helper()
	path := filepath.Join(w.data, "reminders", reminder)
	text, err := os.ReadFile(path)
	testkit.Must(w.t, err)
	due := regexp.MustCompile(`(?m)^run-at:.*$`)
	tomorrow := time.Now().AddDate(0, 0, 1).UTC().Format(time.RFC3339)
	testkit.Must(w.t, os.WriteFile(path, due.ReplaceAll(text, []byte(`run-at: "`+tomorrow+`"`)), 0o600))
}

// headless runs the bot until a file of the data directory satisfies done.
func (w *claudeWorld) headless(file string, done func(string) bool) {
	w.t.Helper()
	bot := launch(w.t, w.env, "run", "--headless", "--engine", "claude")
	bot.until(file+" as expected", func() bool { return done(stored(w.data, file)) })
	bot.stops()
}

// plain starts the program in plain mode.
func (w *claudeWorld) plain() *program {
	w.t.Helper()
	return launch(w.t, w.env, "run", "--plain", "--engine", "claude")
}

// TestARoutineOverTheRealCommand: a routine fires, pings and reports through
// the real command, and the next message of the user carries the report.
func TestARoutineOverTheRealCommand(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	w := newClaudeWorld(t)
	w.routine("aaaa0001",
		claudetest.Step{Tool: "mcp__discord__ping_user", Input: map[string]any{"message": "The red door is open."}},
		claudetest.Step{Tool: "mcp__discord__report_updates", Input: map[string]any{"message": "Told the user about the red door."}},
		claudetest.Step{Text: "All done."})
	w.headless("state/pending_updates.json", func(s string) bool { return strings.Contains(s, "red door") })
	testkit.Must(t, os.Remove(filepath.Join(w.data, "routines", "aaaa0001.md")))
	pings, err := os.ReadFile(filepath.Join(w.data, "state", "pings.jsonl"))
	if err != nil || !strings.Contains(string(pings), "aaaa0001") {
		t.Errorf("no ping was written down: %s %v", pings, err)
	}

	term := startTerminalIn(t, append(w.env, "OLLIM_USER_NAME=Ada"), "run") // who is set up gets no welcome
	term.seen(map[string]string{"the ping in the chat": `The red door is open`, "the update": `Told the user`})
	term.typeKeys("5i")
	term.typeKeys("what about the door?\r")
	term.seen(map[string]string{"an answer": `I heard:`})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err = w.api.Wait(ctx, func(list []claudetest.Request) bool {
		for _, r := range list {
			if p := r.Prompt(); strings.Contains(p, "what about the door?") && strings.Contains(p, "Told the user about the red door.") {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Errorf("the message did not carry the update: %v", err)
	}
	term.typeKeys("\x1b")
	term.seen(map[string]string{"the keys of the frame": `q quit`})
	if status := term.quit(); status != 0 {
		t.Errorf("it ended with status %d", status)
	}
}

// TestTwentyRunsOverTheRealCommand: what is due at once waits in line, four at a
// time, and every one of them ends.
func TestTwentyRunsOverTheRealCommand(t *testing.T) {
	testkit.Alone(t)
	testkit.Campaign(t, "claude")
	t.Parallel()
	w := newClaudeWorld(t)
	const runs = 20
	for i := range runs {
		id := fmt.Sprintf("bbbb%04d", i)
		text := "---\nid: \"" + id + "\"\nrun-at: \"" + time.Now().Add(-time.Minute).UTC().Format(time.RFC3339) +
			"\"\nbackground: true\nupdate-main-session: \"freely\"\ndescription: \"Task " + id + "\"\n---\nDo it.\n\n" +
			claudetest.Script(claudetest.Step{Text: "Done with " + id + "."}) + "\n"
		testkit.Must(t, os.WriteFile(filepath.Join(w.data, "reminders", id+".md"), []byte(text), 0o600))
	}
	w.headless("state/fork_runs.jsonl", func(s string) bool { return ended(s, "bbbb") == runs })
	ledger, err := os.ReadFile(filepath.Join(w.data, "state", "fork_runs.jsonl"))
	testkit.Must(t, err)
	if most := atOnce(t, string(ledger)); most > 4 {
		t.Errorf("%d runs at once", most)
	}
}

// ledgerLine is what these tests read of the ledger of runs.
type ledgerLine struct {
	ID, Task, State string
	Started, Ended  time.Time
}

func ledgerLines(s string) []ledgerLine {
	var list []ledgerLine
	for line := range strings.Lines(s) {
		var l ledgerLine
		if json.Unmarshal([]byte(line), &l) == nil {
			list = append(list, l)
		}
	}
	return list
}

// ended counts the runs of some tasks that are done.
func ended(s, tasks string) int {
	n := 0
	for _, l := range ledgerLines(s) {
		if l.State == "done" && strings.HasPrefix(l.Task, tasks) {
			n++
		}
	}
	return n
}

// atOnce is how many runs overlapped at most.
func atOnce(t *testing.T, s string) int {
	t.Helper()
	var done []ledgerLine
	for _, l := range ledgerLines(s) {
		if l.State == "done" {
			done = append(done, l)
		}
	}
	most := 0
	for _, a := range done {
		n := 0
		for _, b := range done {
			if !b.Started.After(a.Started) && b.Ended.After(a.Started) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
