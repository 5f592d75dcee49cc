package plain

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
)

// What the command line gets of plain mode: the same words, without numbers, questions and words for the agent.
func TestTheShellGetsTheAnswersOfPlainMode(t *testing.T) {
	now := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		line, want string
		failed     string
		misread    bool
		undo       command.Value
		do         command.Value
	}{
		{line: "list", want: "3 tasks:\naaaa1111, Email sweep, routine, every hour\nbbbb2222, Medication, routine, was due 08:00\ncccc3333, Medication refill, reminder, once\n"},
		{line: "list is:reminder", want: "task cccc3333, Medication refill, reminder, once\n"},
		{line: "chat", want: "message m1, 09:00, bot: Good morning.\n"},
		{line: "problems", want: textNoProblems + "\n"},
		{line: "task 2", failed: textWords, misread: true},
		{line: "task zzz", failed: `no task matches "zzz"`, misread: true},
		{line: "file medic", failed: "\"medic\" matches 2 tasks\n2 tasks:\nbbbb2222, Medication, routine, was due 08:00\ncccc3333, Medication refill, reminder"},
		{line: "task", failed: "task takes TASK", misread: true},
		{line: "engine of my car", failed: "engine takes nothing after it", misread: true},
		{line: "capacity 6", want: "capacity 5 to 6\n", undo: command.RestoreBudget{Capacity: 5}, do: command.SetBudget{Capacity: ptr(6)}},
		{line: "say hello", want: "sent\n", do: command.Say{Text: "hello"}},
		{line: "again x", failed: textNoRuns, misread: true},
	} {
		b := newBot()
		b.fixed = now
		b.snap.Schedule.Tasks[1].Next = now.Add(-time.Hour)
		b.snap.Chat = []transcript.Entry{{ID: "m1", At: now, Role: transcript.Bot, Text: "Good morning."}}
		name, rest := command.CutWord(c.line)
		row, _ := command.Find(command.InShell, name)
		a, err := Line(t.Context(), b, row, rest, t.TempDir())
		failed := ""
		if err != nil {
			failed = err.Error()
		}
		misread := errors.As(err, new(*MisreadError))
		if err == nil && a.Text != c.want || !strings.HasPrefix(failed, c.failed) || (failed == "") != (c.failed == "") || misread != c.misread || cmp.Diff(c.undo, a.Undo) != "" {
			t.Errorf("%s: %q, %q (misread %v), undo %v", c.line, a.Text, failed, misread, a.Undo)
		}
		if did := b.done(); c.do == nil && len(did) > 0 || c.do != nil && cmp.Diff([]command.Value{c.do}, did) != "" {
			t.Errorf("%s did %v", c.line, did)
		}
	}
}

// A limit that would hold runs asks first, and nobody can answer in a shell.
func TestAQuestionIsAnErrorInTheShell(t *testing.T) {
	b := newBot()
	b.follows = "two runs would wait"
	row, _ := command.Find(command.InPlain, "settings")
	if _, err := Line(t.Context(), b, row, "daily limit 1", t.TempDir()); err == nil || !strings.Contains(err.Error(), "two runs would wait") || !strings.Contains(err.Error(), "asks first") {
		t.Errorf("%v", err)
	}
}

func TestACommandThatIsElsewhereIsNamedWhereItIs(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.hasLines(s.types("doctor"), "doctor is a command of the shell: ollim-bot doctor", textToAgent)
		s.hasLines(s.types("clear"), "clear is a command of the conversation: write /clear to the bot", textToAgent)
	})
}

func TestTheLinesOfTheShellHaveTheirCodeHere(t *testing.T) {
	for _, c := range command.Table {
		if c.Plain && (handlers[c.Name] == nil || c.In&command.InPlain == 0 || c.In&command.InShell == 0 || c.In&command.InAgent != 0) {
			t.Errorf("the row of %s passes it on to plain mode, which has no code for it", c.Name)
		}
	}
}

// A viewer that leaves ends nothing.
func TestQuittingBesideABotThatRunsOnAsksNothing(t *testing.T) {
	play(t, Options{Remains: true}, func(s *stage) {
		s.change(func(n *core.Snapshot) { n.Forks = []fork.View{{ID: "f", Title: "A", State: fork.Running}} })
		s.one(s.types("quit"), "goodbye")
		s.ended <- <-s.ended
	})
}

func ptr[T any](v T) *T { return &v }
