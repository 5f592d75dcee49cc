package plain

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/command"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
)

// What the command line gets of plain mode: the same words, without numbers, questions and words for the agent.
func TestTheShellGetsTheAnswersOfPlainMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			line, want string
			failed     string
			misread    bool
			undo       command.Value
			does       string
		}{
			{line: "list", want: "3 tasks:\naaaa1111, Email sweep, routine, every hour\nbbbb2222, Medication, routine, was due Friday 31 December 1999 23:00\ncccc3333, Medication refill, reminder, once\n"},
			{line: "list is:reminder", want: "task cccc3333, Medication refill, reminder, once\n"},
			{line: "chat", want: "message m1, 00:00, bot: Good morning.\n"},
			{line: "problems", want: textNoProblems + "\n"},
			{line: "task 2", failed: textWords, misread: true},
			{line: "task zzz", failed: `no task matches "zzz"`, misread: true},
			{line: "file medic", failed: "\"medic\" matches 2 tasks\n2 tasks:\nbbbb2222, Medication, routine, was due Friday 31 December 1999 23:00\ncccc3333, Medication refill, reminder"},
			{line: "task", failed: "task takes TASK", misread: true},
			{line: "engine of my car", failed: "engine takes nothing after it", misread: true},
			{line: "capacity 6", want: "capacity 5 to 6\n", undo: command.RestoreBudget{Capacity: 5}, does: "SetBudget Capacity=6"},
			{line: "say hello", want: "sent\n", does: "Say Text=hello"},
			{line: "again x", failed: textNoRuns, misread: true},
			{line: "settings daily limit 1", failed: "two runs would wait. Type yes to set it, anything else to leave it unchanged\n\nThis asks first", does: "SetConfig Key=daily_cap Value=1"},
		} {
			b := newBot()
			b.world.Schedule.Tasks[1].Next = time.Now().Add(-time.Hour)
			b.world.Chat = []transcript.Entry{{ID: "m1", At: time.Now(), Role: transcript.Bot, Text: "Good morning."}}
			b.world.Follows = "two runs would wait"
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
			if did := strings.Join(b.takes(), "; "); did != c.does {
				t.Errorf("%s does %q", c.line, did)
			}
		}
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
func TestQuittingBesideABotThatRemainsAsksNothing(t *testing.T) {
	play(t, Options{Remains: true, Typed: true}, func(s *stage) {
		s.bot.change(func(w *world) { w.Forks = []fork.View{{ID: "f", Title: "A", State: fork.Running}} })
		s.hears()
		one(t, s.types("quit"), "goodbye")
		s.ended <- <-s.ended
	})
}
