package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/config"
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

// later makes a reminder of the fixture due tomorrow.
func (w *claudeWorld) later(reminder string) {
	w.t.Helper()
	path := filepath.Join(w.data, "reminders", reminder)
	tomorrow := time.Now().AddDate(0, 0, 1).UTC().Format(time.RFC3339)
	put(w.t, path, regexp.MustCompile(`(?m)^run-at:.*$`).ReplaceAllString(stored(path), `run-at: "`+tomorrow+`"`))
}

// file writes a file of the data directory, or another one, as its user would.
func (w *claudeWorld) file(name, text string) {
	w.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(w.data, name)
	}
	put(w.t, name, text)
}

// due fires a task that the user has written.
func (w *claudeWorld) due(id, extra string, steps ...claudetest.Step) {
	w.t.Helper()
	w.file("reminders/"+id+".md", dueNow(id, extra, steps...))
}

// read is a file of the data directory, "" where there is none.
func (w *claudeWorld) read(name string) string { return stored(w.data, name) }

func (w *claudeWorld) has(name string) bool { return exists(filepath.Join(w.data, name)) }

// setenv sets a variable of everything that is started from now on.
func (w *claudeWorld) setenv(name, value string) { w.env = config.With(w.env, name, value) }

// runs runs a command of the program's, which succeeds.
func (w *claudeWorld) runs(args ...string) string {
	w.t.Helper()
	got := shell(w.t, built(w.t), w.env, args...)
	if got.status != exitDone {
		w.t.Fatalf("%s: %+v", args, got)
	}
	return got.out
}

// asked waits until the model has been asked something.
func (w *claudeWorld) asked(what string, is func(claudetest.Request) bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	if err := w.api.Wait(ctx, func(list []claudetest.Request) bool { return slices.ContainsFunc(list, is) }); err != nil {
		w.t.Fatalf("the model was never asked %s: %v", what, err)
	}
}

// toolResults are the results of the calls that some messages answer.
func toolResults(messages []claudetest.Message) (list []claudetest.Block) {
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Type == "tool_result" {
				list = append(list, b)
			}
		}
	}
	return list
}

// readByTheModel are the results of all calls.
func (w *claudeWorld) readByTheModel() string {
	read := map[string]bool{}
	for _, r := range w.api.Requests() {
		for _, b := range toolResults(r.Messages) {
			read[b.Text] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(read)), "\n---\n")
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
	w.file("routines/aaaa0001.md", "---\nid: \"aaaa0001\"\ncron: \"* * * * *\"\nbackground: true\nallow-ping: true\ndescription: \"aaaa0001\"\n---\nDo it.\n\n"+
		claudetest.Script(call("mcp__discord__ping_user", map[string]any{"message": "The red door is open."}),
			call("mcp__discord__report_updates", map[string]any{"message": "Told the user about the red door."}), claudetest.Step{Text: "All done."})+"\n")
	w.headless("state/pending_updates.json", func(s string) bool { return strings.Contains(s, "red door") })
	testkit.Must(t, os.Remove(filepath.Join(w.data, "routines", "aaaa0001.md")))
	if pings := w.read("state/pings.jsonl"); !strings.Contains(pings, "aaaa0001") {
		t.Errorf("no ping was written down: %s", pings)
	}

	term := startCommand(t, exec.Command(built(t), "run"), append(w.env, "OLLIM_USER_NAME=Ada")) // who is set up gets no welcome
	term.seen(map[string]string{"the ping in the chat": `The red door is open`, "the update": `Told the user`})
	term.typeKeys("5i")
	term.typeKeys("what about the door?\r")
	term.seen(map[string]string{"an answer": `I heard:`})
	w.asked("with the update", func(r claudetest.Request) bool {
		return strings.Contains(r.Prompt(), "what about the door?") && strings.Contains(r.Prompt(), "Told the user about the red door.")
	})
	term.typeKeys("\x1b")
	term.seen(map[string]string{"the keys of the frame": `q quit`})
	term.quits()
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
		w.due(fmt.Sprintf("bbbb%04d", i), "")
	}
	w.headless("state/fork_runs.jsonl", func(s string) bool { return ended(s, "bbbb") == runs })
	if most := atOnce(w.read("state/fork_runs.jsonl")); most > 4 {
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
func atOnce(s string) (most int) {
	var done []ledgerLine
	for _, l := range ledgerLines(s) {
		if l.State == "done" {
			done = append(done, l)
		}
	}
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

// TestAPromiseOverTheRealCommand: the user writes a promise, the model calls
// propose_reminder through the real command, the user accepts, and the reminder file
// quotes the promise. Words that the user has not written are refused.
func TestAPromiseOverTheRealCommand(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	const words = "I'll call the dentist tomorrow"
	w := newClaudeWorld(t)
	at := time.Now().AddDate(0, 0, 1).Format("2006-01-02T15:04")
	bot := w.plain()
	bot.types("say " + words + ". " + claudetest.Script(
		claudetest.Step{Tool: "mcp__discord__propose_reminder", Input: map[string]any{"words": `I'll send "Eve" the keys`}},
		claudetest.Step{Tool: "mcp__discord__propose_reminder", Input: map[string]any{"words": words, "run_at": at}},
		claudetest.Step{Text: "That is a plan."}))
	bot.hears("bot: That is a plan.")
	bot.asks("questions", "Answers: Remind me, Other time…, No.")
	if strings.Contains(stored(w.data, "state", "proposals.json"), "Eve") {
		t.Error("words that the user has not written are proposed")
	}
	bot.asks("answer yes", "you will be reminded at ")
	files, err := filepath.Glob(filepath.Join(w.data, "reminders", "*.md"))
	testkit.Must(t, err)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		testkit.Must(t, err)
		if strings.Contains(string(text), `\"`+words+`\"`) {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d files quote the promise: %q", found, files)
	}
	bot.ends()
}

// says lets the bot without a screen hear a line, and waits until the API has been asked
// with all the words in one request.
func (w *claudeWorld) says(line string, words ...string) {
	w.t.Helper()
	bot := w.plain()
	bot.types("say " + line)
	w.asked(line, func(r claudetest.Request) bool {
		return r.Ended && !slices.ContainsFunc(words, func(word string) bool { return !bytes.Contains(r.Raw, []byte(word)) })
	})
	bot.ends() // when it has answered
}

// TestTheConversationGoesOnOnANewMachine: another home, another directory, and the real
// command goes on with what was said on the old one. What is copied is what docs/migrate.md names.
func TestTheConversationGoesOnOnANewMachine(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	w := newClaudeWorld(t)
	w.says("the heron is in the reeds", "the heron is in the reeds")
	old, sessions := w.data, func() string {
		return filepath.Join(sessionfile.ConfigDir(w.env), sessionfile.Projects, sessionfile.Folder(w.data))
	}
	from := sessions()
	fresh := t.TempDir()
	w.data = filepath.Join(fresh, "a new place", "data")
	for name, value := range map[string]string{"HOME": fresh, "CLAUDE_CONFIG_DIR": filepath.Join(fresh, "config"), "OLLIM_DATA_DIR": w.data} {
		w.setenv(name, value)
	}
	testkit.Must(t, errors.Join(os.CopyFS(w.data, os.DirFS(old)), os.CopyFS(sessions(), os.DirFS(from))))
	testkit.Must(t, os.RemoveAll(old))
	w.says("and the reeds are green", "the heron is in the reeds", "and the reeds are green")
	if out := w.runs("history", "search", "heron"); !strings.Contains(out, "the heron is in the reeds") {
		t.Errorf("the history does not know it: %s", out)
	}
}
