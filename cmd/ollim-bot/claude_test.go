package main

import (
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
	// Each of these would start the command once more: a reminder that is due, and a session that it does not know.
	testkit.Must(t, errors.Join(os.Remove(filepath.Join(w.data, "reminders", "overdue-library-book.md")), os.Remove(filepath.Join(w.data, "state", "sessions.json"))))
	for _, name := range []string{"laundry.md", "stand-up-prep.md", "call-the-dentist.md"} { // the fixture's dates pass
		w.later(name)
	}
	w.env = append(claudetest.CLIEnv(t, api), "OLLIM_DATA_DIR="+w.data, "OLLIM_TIMEZONE=America/Los_Angeles",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("its log:\n%s", w.read("state/bot.log"))
		}
	})
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

// TestADayOverTheRealCommand is one bot in the sandbox of this machine. The user accepts a reminder for a promise, a routine fires,
// asks the bot, pings and reports, and a mail gives orders. After a restart the next message of the user carries the report.
func TestADayOverTheRealCommand(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	w := newClaudeWorld(t)
	g := w.hasGoogle()
	w.emptiesHome() // D1
	w.setenv("PATH", filepath.Dir(built(t))+":/usr/bin:/bin")
	bot := w.plain()
	t.Run("a promise becomes a reminder", func(t *testing.T) { w.promises(t, bot) })
	t.Run("a routine asks the bot, pings and reports", func(t *testing.T) { w.asksTheBot(t, bot) })
	t.Run("a hostile mail can do nothing", func(t *testing.T) { w.obeysAMail(t, bot, g) })
	bot.ends()

	term := startCommand(t, exec.Command(built(t), "run"), append(w.env, "OLLIM_USER_NAME=Ada")) // who is set up gets no welcome
	term.seen(map[string]string{"the ping in the chat": `The red door is open`, "the update": `Told the user`})
	term.typeKeys("5i")
	term.typeKeys("what about the door?\r")
	term.seen(map[string]string{"an answer": `I heard:`})
	w.knows("what about the door?")
	w.asked("with the update", func(r claudetest.Request) bool {
		return strings.Contains(r.Prompt(), "what about the door?") && strings.Contains(r.Prompt(), "Told the user about the red door.")
	})
	term.typeKeys("\x1b")
	term.seen(map[string]string{"the keys of the frame": `q quit`})
	term.quits()
}

// promises: the user writes a promise, the model calls propose_reminder through the real
// command, the user accepts, and the reminder file quotes the promise. Words that the user has
// not written are refused.
func (w *claudeWorld) promises(t *testing.T, bot *program) {
	const words = "I'll call the dentist tomorrow"
	at := time.Now().AddDate(0, 0, 1).Format("2006-01-02T15:04")
	bot.types("say " + words + ". " + claudetest.Script(
		claudetest.Step{Tool: "mcp__discord__propose_reminder", Input: map[string]any{"words": `I'll send "Eve" the keys`}},
		claudetest.Step{Tool: "mcp__discord__propose_reminder", Input: map[string]any{"words": words, "run_at": at}},
		claudetest.Step{Text: firstWords}))
	bot.hears("bot: " + firstWords)
	bot.asks("questions", "Answers: Remind me, Other time…, No.")
	if strings.Contains(w.read("state/proposals.json"), "Eve") {
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

// TestTheFirstStartKeepsTheConversation is D1 in the built program behind Landlock (TestADayOverTheRealCommand is behind bubblewrap, and
// core/agent/claude has each fence by itself): with an empty home, the conversation, a fork, a background run and the next
// start all know what was said first. The next start is on another machine: in another home and another directory, to which
// what docs/migrate.md names was copied.
func TestTheFirstStartKeepsTheConversation(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	w := newClaudeWorld(t)
	w.emptiesHome()
	w.setenv("PATH", pathWithout(t, "bwrap"))
	bot := w.plain()
	bot.asks("say "+claudetest.Script(claudetest.Step{Text: firstWords}), "bot: "+firstWords)
	bot.types("say /fork")
	bot.types("say what fruit, fork?")
	w.knows("what fruit, fork?")
	bot.types("say /fork exit")
	bot.asks("new reminder in 1 minutes what fruit, run?", "added")
	bot.types("fire what fruit")
	w.knows("what fruit, run?")
	bot.types("say what fruit, now?")
	w.knows("what fruit, now?")
	bot.types("quit")
	bot.ends()

	w.moves()
	bot = w.plain()
	bot.types("say what fruit, later?")
	w.knows("what fruit, later?")
	bot.types("quit")
	bot.ends()
	if strings.Contains(bot.out.String(), "no longer knows") {
		t.Errorf("the second start lost the conversation:\n%s", bot.out.String())
	}
	if out := w.runs("history", "search", "fruit"); !strings.Contains(out, "what fruit, now?") {
		t.Errorf("the history does not know it: %s", out)
	}
}

// firstWords are what the bot has said first in a conversation that is looked at later.
const firstWords = "It is a quince."

// emptiesHome leaves the command nothing but an empty home.
func (w *claudeWorld) emptiesHome() {
	w.t.Helper()
	w.setenv("HOME", w.t.TempDir())
	w.env = slices.DeleteFunc(w.env, func(v string) bool { return strings.HasPrefix(v, "CLAUDE_CONFIG_DIR=") })
}

// moves takes the bot to a new machine.
func (w *claudeWorld) moves() {
	w.t.Helper()
	old, sessions := w.data, func() string {
		return filepath.Join(sessionfile.ConfigDir(w.env), sessionfile.Projects, sessionfile.Folder(w.data))
	}
	from, fresh := sessions(), w.t.TempDir()
	w.data = filepath.Join(fresh, "a new place", "data")
	for name, value := range map[string]string{"HOME": fresh, "CLAUDE_CONFIG_DIR": filepath.Join(fresh, "config"), "OLLIM_DATA_DIR": w.data} {
		w.setenv(name, value)
	}
	testkit.Must(w.t, errors.Join(os.CopyFS(w.data, os.DirFS(old)), os.CopyFS(sessions(), os.DirFS(from))))
	testkit.Must(w.t, os.RemoveAll(old))
}

// knows waits for a request with this prompt, whose history has what was said first.
func (w *claudeWorld) knows(prompt string) {
	w.t.Helper()
	w.asked(prompt+" with the history", func(r claudetest.Request) bool {
		return r.Ended && strings.Contains(r.Prompt(), prompt) && slices.ContainsFunc(r.Messages, func(m claudetest.Message) bool {
			return m.Role == "assistant" && strings.Contains(m.Text, firstWords)
		})
	})
}
