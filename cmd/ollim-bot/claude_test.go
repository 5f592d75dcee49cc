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
)

// modelWorld is the real bot with a model of ours: an API on loopback.
type modelWorld struct {
	*world
	api *claudetest.Server
}

// newClaudeWorld is one whose bot talks to the model with the real command.
func newClaudeWorld(t *testing.T) *modelWorld {
	t.Helper()
	cli := claudetest.RequireCLI(t)
	w := newModelWorld(t)
	w.setenv("OLLIM_CLAUDE", cli)
	return w
}

// newModelWorld is one without the command, for an engine that needs none.
func newModelWorld(t *testing.T) *modelWorld {
	t.Helper()
	w := &modelWorld{newWorld(t), claudetest.Start(t, claudetest.Options{})}
	w.data = filepath.Join(t.TempDir(), "data")
	w.env = append(claudetest.CLIEnv(t, w.api), "OLLIM_DATA_DIR="+w.data, "OLLIM_TIMEZONE=America/Los_Angeles",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	for _, v := range w.env {
		if home, ok := strings.CutPrefix(v, "HOME="); ok {
			w.home = home
		}
	}
	testkit.Must(t, os.CopyFS(w.data, os.DirFS(filepath.Join("testdata", "fixtures", "data-dir"))))
	// Each of these would start the command once more: a reminder that is due, routines at their minutes, and a session that
	// it does not know.
	for _, name := range []string{"reminders/overdue-library-book.md", "routines", "state/sessions.json"} {
		testkit.Must(t, os.RemoveAll(w.path(name)))
	}
	tomorrow := time.Now().AddDate(0, 0, 1).UTC().Format(time.RFC3339)
	for _, name := range []string{"laundry", "stand-up-prep", "call-the-dentist"} { // the fixture's dates pass
		file := "reminders/" + name + ".md"
		w.file(file, regexp.MustCompile(`(?m)^run-at:.*$`).ReplaceAllString(w.read(file), `run-at: "`+tomorrow+`"`))
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("its log:\n%s", w.read("state/bot.log"))
		}
	})
	return w
}

// due fires a task that the user has written.
func (w *modelWorld) due(id, extra string, steps ...claudetest.Step) {
	w.t.Helper()
	w.file("reminders/"+id+".md", dueNow(id, extra, steps...))
}

// asked waits until the model has been asked something.
func (w *modelWorld) asked(what string, is func(claudetest.Request) bool) {
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
func (w *modelWorld) readByTheModel() string {
	read := map[string]bool{}
	for _, r := range w.api.Requests() {
		for _, b := range toolResults(r.Messages) {
			read[b.Text] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(read)), "\n---\n")
}

// runsEnded waits until so many runs of some tasks are done.
func (w *world) runsEnded(tasks string, n int) {
	w.t.Helper()
	w.until(fmt.Sprintf("the end of %d runs of %s", n, tasks), func() bool { return ended(w.read("state/fork_runs.jsonl"), tasks) >= n })
}

// plain starts the program in plain mode.
func (w *modelWorld) plain() {
	w.t.Helper()
	w.launch("run", "--plain", "--engine", "claude")
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
	w.plain()
	t.Run("a promise becomes a reminder", w.promises)
	t.Run("a routine asks the bot, pings and reports", w.asksTheBot)
	t.Run("a hostile mail can do nothing", func(t *testing.T) { w.obeysAMail(t, g) })
	w.ends()

	term := startCommand(t, exec.Command(built(t), "run"), append(w.env, "OLLIM_USER_NAME=Ada")) // who is set up gets no welcome
	term.seen(map[string]string{"the ping in the chat": `The red door is open`, "the update": `About the red door`})
	term.typeKeys("5i")
	term.typeKeys("what about the door?\r")
	term.seen(map[string]string{"an answer": `I heard:`})
	w.knows("what about the door?")
	w.asked("with the update", func(r claudetest.Request) bool {
		return strings.Contains(r.Prompt(), "what about the door?") && strings.Contains(r.Prompt(), "About the red door.")
	})
	term.typeKeys("\x1b")
	term.seen(map[string]string{"the keys of the frame": `q quit`})
	term.quits()
}

// promises: the user writes a promise, the model calls propose_reminder through the real command, the user accepts, and the
// reminder file quotes the promise. Words that the user has not written are refused.
func (w *modelWorld) promises(t *testing.T) {
	const words = "I'll call the dentist tomorrow"
	at := time.Now().AddDate(0, 0, 1).Format("2006-01-02T15:04")
	w.types("say " + words + ". " + claudetest.Script(
		claudetest.Step{Tool: "mcp__discord__propose_reminder", Input: map[string]any{"words": `I'll send "Eve" the keys`}},
		claudetest.Step{Tool: "mcp__discord__propose_reminder", Input: map[string]any{"words": words, "run_at": at}},
		claudetest.Step{Text: firstWords}))
	w.hears("bot: " + firstWords)
	w.asks("questions", "Answers: Remind me, Other time…, No.")
	if strings.Contains(w.read("state/proposals.json"), "Eve") {
		t.Error("words that the user has not written are proposed")
	}
	w.asks("answer yes", "you will be reminded at ")
	files, err := filepath.Glob(w.path("reminders/*.md"))
	testkit.Must(t, err)
	quoting := slices.DeleteFunc(files, func(file string) bool { return !strings.Contains(stored(file), `\"`+words+`\"`) })
	if len(quoting) != 1 {
		t.Errorf("these files quote the promise: %q", quoting)
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
func ended(s, tasks string) (n int) {
	for _, l := range ledgerLines(s) {
		if l.State == "done" && strings.HasPrefix(l.Task, tasks) {
			n++
		}
	}
	return n
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
	w.plain()
	w.asks("say "+claudetest.Script(claudetest.Step{Text: firstWords}), "bot: "+firstWords)
	w.types("say /fork")
	w.types("say what fruit, fork?")
	w.knows("what fruit, fork?")
	w.types("say /fork exit")
	w.asks("new reminder in 1 minutes what fruit, run?", "added")
	w.types("fire what fruit")
	w.knows("what fruit, run?")
	w.types("say what fruit, now?")
	w.knows("what fruit, now?")
	w.types("quit")
	w.ends()

	w.moves()
	w.plain()
	w.types("say what fruit, later?")
	w.knows("what fruit, later?")
	w.types("quit")
	w.ends()
	if strings.Contains(w.out.String(), "no longer knows") {
		t.Error("the second start lost the conversation")
	}
	if out := w.runs("history", "search", "fruit"); !strings.Contains(out, "what fruit, now?") {
		t.Errorf("the history does not know it: %s", out)
	}
}

// firstWords are what the bot has said first in a conversation that is looked at later.
const firstWords = "It is a quince."

// emptiesHome leaves the command nothing but an empty home.
func (w *modelWorld) emptiesHome() {
	w.t.Helper()
	w.setenv("HOME", w.t.TempDir())
	w.env = slices.DeleteFunc(w.env, func(v string) bool { return strings.HasPrefix(v, "CLAUDE_CONFIG_DIR=") })
}

// moves takes the bot to a new machine.
func (w *modelWorld) moves() {
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
func (w *modelWorld) knows(prompt string) {
	w.t.Helper()
	w.asked(prompt+" with the history", func(r claudetest.Request) bool {
		return r.Ended && strings.Contains(r.Prompt(), prompt) && slices.ContainsFunc(r.Messages, func(m claudetest.Message) bool {
			return m.Role == "assistant" && strings.Contains(m.Text, firstWords)
		})
	})
}
