package plain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/absence"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// ended is a run that ended so long ago.
func ended(id, title string, ago time.Duration, change func(f *fork.View)) fork.View {
	now := time.Now()
	f := fork.View{
		ID: id, Title: title, Kind: routines.KindRoutine, TaskID: "aaaa1111", State: fork.Done, Session: "s",
		Started: now.Add(-ago), Ended: now.Add(90*time.Second - ago), Usage: agent.Usage{CostUSD: 0.02},
	}
	if change != nil {
		change(&f)
	}
	return f
}

// What a screen reader says of a short day, from the headline to the evening.
func TestADayIsHeardInTheOrderInWhichItIsNeeded(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		time.Sleep(9 * time.Hour)
		now := time.Now()
		failed := ended("f1", "Inbox sweep", 2*time.Hour, func(f *fork.View) { f.State, f.Error = fork.Failed, "the mail server did not answer" })
		s.bot.stored = []fork.View{ended("f0", "Email sweep", 26*time.Hour, func(f *fork.View) { f.Pings = 1 })}
		s.bot.away = absence.Report{
			Span:  absence.Span{From: now.Add(-8 * time.Hour), To: now.Add(-time.Hour)},
			Tasks: []absence.Task{{Title: "Inbox sweep", Runs: 3, Failed: 1, Why: "the mail server did not answer", Dollars: 0.06}, {Title: "Tea break", Runs: 1, Pings: 1, Dollars: 0.01}},
			Sum:   absence.Task{Runs: 4, Pings: 1, Failed: 1, Dollars: 0.07},
			Log: []audit.Entry{
				{At: now.Add(-time.Hour), Actor: "user", From: "dashboard", Action: audit.TaskFired, Subject: "aaaa1111", Detail: "Email sweep starts now"},
				{At: now.Add(-30 * time.Hour), Actor: "user", Action: audit.ConfigChanged, Subject: "daily_cap", Detail: "off → $5.00"},
			},
		}
		s.bot.past = command.TaskPast{
			File: command.TaskFile{Task: routines.Task{Kind: routines.KindRoutine, ID: "aaaa1111", Description: "Email sweep", Body: "Look.", Background: true}, Cron: "0 * * * *"},
			Runs: []fork.View{failed, ended("f2", "Email sweep", time.Hour, nil)}, Rate: fork.Rate{Runs: 40, Pings: 10},
			Answers: budget.Answers{Pings: 10, Answered: 8, Median: 6 * time.Minute}, Next: []command.NextFire{{At: now.Add(time.Hour), Verdict: command.VerdictSure}},
		}
		var said strings.Builder
		hear := func(lines []string) { said.WriteString(strings.Join(lines, "\n") + "\n") }
		hear(s.change(func(n *core.Snapshot) {
			n.Forks = []fork.View{failed}
			n.Failures, n.Ended = n.Forks, n.Forks
			n.Schedule.Entries = []schedule.Entry{
				{ID: "aaaa1111", Description: "Email sweep", FireTime: now.Add(time.Hour)}, {ID: "bbbb2222", Description: "Medication", FireTime: now.Add(3 * time.Hour), Silent: true},
			}
			n.Schedule.Day = n.Schedule.Entries
			n.Updates = []updates.Update{{Key: "u", At: now, Message: "Two letters."}}
		}))
		for _, line := range strings.Split(`status
away
audit
runs
runs is:failed
day
day yesterday
tasks is:reminder
task email
run inbox
seen
edit email
edit email title Morning mail
edit email pings sometimes
edit email when 99 * * * *
settings
settings money
settings daily limit
settings quiet hours 22:00-07:30
settings quiet hours later
settings dayly limit
delete medication
no
capacity +1
undo
redo
statsu
no
prefix off`, "\n") {
			said.WriteString("\n> " + line + "\n")
			hear(s.types(line))
		}
		said.WriteString("\n")
		hear(s.change(func(n *core.Snapshot) {
			n.Chat = []transcript.Entry{{ID: "1", Role: transcript.Ping, Source: "Tea break", Text: "The kettle is on."}}
			n.Approvals = []policy.Approval{
				policy.Request{ID: "x", Tool: "Edit", Question: "Change the file notes.md?", Text: "-milk\n+oat milk"}.Asked(time.Now()),
			}
		}))
		for _, line := range []string{"approvals", "y", "thank you, that was all", "quit"} {
			said.WriteString("\n> " + line + "\n")
			hear(s.types(line))
		}
		goldentest.Compare(t, "day.golden", said.String())
		if err := <-s.ended; err != nil {
			t.Error(err)
		}
		s.ended <- nil
	})
}

func TestACallIsAnsweredAfterItWasRead(t *testing.T) {
	for answer, want := range map[string]policy.Verdict{"y": policy.Allow, "no": policy.Deny, "notices": ""} {
		play(t, Options{}, func(s *stage) {
			s.change(func(n *core.Snapshot) {
				n.Approvals = []policy.Approval{policy.Request{ID: "x", Tool: "Bash", Question: "Run this command?", Text: "ls"}.Asked(time.Now())}
			})
			s.one(s.types("y"), "there is no question to answer") // it has not been read
			s.types("approvals")
			s.types(answer)
			if want != "" {
				s.did(command.Answer{ID: "x", Verdict: want})
			} else {
				s.did()
			}
			s.one(s.types("y"), "there is no question to answer")
		})
	}
	play(t, Options{ReadOnly: true}, func(s *stage) {
		s.change(func(n *core.Snapshot) {
			n.Approvals = []policy.Approval{policy.Request{ID: "x", Tool: "Bash", Question: "Run this command?", Text: "ls"}.Asked(time.Now())}
		})
		s.hasLines(s.types("approvals"), "Run this command?", "1: ls")
		s.one(s.types("y"), "there is no question to answer")
	})
}

func TestAFieldIsEditedWithTheChecksOfTheForm(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.past.File = command.TaskFile{Task: routines.Task{Kind: routines.KindRoutine, ID: "aaaa1111", Description: "Old", Body: "Look.", Background: true, Mode: routines.OnPing, Digest: "v1"}, Cron: "0 * * * *"}
		for line, says := range map[string]string{
			"edit":                             "error: edit takes TASK [FIELD VALUE]",
			"edit email sweep when 99 * * * *": "error: ",
			"edit email pings sometimes":       "error: Pings takes one of: ",
			"edit email until done":            "has no field until",
			"edit email title Old":             `Title is already "Old"`,
			"edit email prompt":                "error: ",
		} {
			s.one(s.types(line), says)
		}
		s.did()
		s.one(s.types("edit email sweep title A new title"), "so it is")
		s.types(`edit aaaa1111 prompt first\`)
		s.one(s.types("second"), "so it is")
		body := "first\nsecond"
		s.did(
			command.EditTask{ID: "aaaa1111", Version: "v1", Edit: routines.Edit{Set: []command.Field{{Key: "description", Value: "A new title"}}}},
			command.EditTask{ID: "aaaa1111", Version: "v1", Edit: routines.Edit{Body: &body}},
		)
	})
}

func TestNoFileGoesUnasked(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.undo = command.RemoveTask{ID: "bbbb2222", Version: "v1"}
		s.types("add routine 0 9 * * * greet me")
		s.change(func(n *core.Snapshot) { n.Schedule.Tasks[1].Version = "v2" })
		s.one(s.types("undo"), "routines/m.md was edited since. Undo would remove it, edits included. Type yes to delete the file")
		s.types("no")
		s.types("undo")
		s.one(s.types("yes"), "undone: so it is")
		if did := s.bot.done(); len(did) != 2 || did[1] != (command.DeleteTask{ID: "bbbb2222"}) {
			t.Errorf("did %+v", did)
		}
	})
}

func TestASettingIsNamedReadAndSet(t *testing.T) {
	dir := t.TempDir()
	play(t, Options{Config: dir}, func(s *stage) {
		s.hasLines(s.types("settings Money of mine"), `there is no setting "Money of mine"`, textToAgent)
		s.one(s.types("settings hours"), "Quiet hours: off") // a part of its name
		if got := strings.Join(s.types("settings ping"), "\n"); !strings.Contains(got, "Pings saved up: ") || !strings.Contains(got, "Ping refill: ") || strings.Contains(got, "Theme") {
			t.Errorf("settings ping reads\n%s", got)
		}
		s.one(s.types("settings daily_cap 5"), "so it is")
		s.one(s.types("settings pings saved up 6"), "capacity 5 to 6; undo takes it back")
		s.one(s.types("settings ping refill soon"), `"soon" is not a whole number`)
		s.one(s.types("settings clock 13"), "Clock must be one of: 24, 12")
		s.one(s.types("settings clock 12"), "so it is")
		six := 6
		s.did(command.SetConfig{Key: "daily_cap", Value: "5"}, command.SetBudget{Capacity: &six}, command.SetLook{Name: "clock", Value: "12", Was: "24"})
		s.one(s.change(func(n *core.Snapshot) { n.Budget.State.Capacity = 7 }), "12:00:")
		s.one(s.types("prefix off"), "times are hidden")
		s.bot.follows = "this model costs more"
		s.one(s.types("settings main model opus"), "this model costs more. Type yes to set it")
		s.one(s.types("yes"), "so it is")
	})
	saved, err := os.ReadFile(filepath.Join(dir, "dashboard.yaml"))
	testkit.Must(t, err)
	if text := string(saved); !strings.Contains(text, `clock: "12"`) || !strings.Contains(text, `prefix: "off"`) {
		t.Errorf("saved %s", text)
	}
	play(t, Options{Config: dir, ReadOnly: true}, func(s *stage) { // it is kept
		s.one(s.change(func(n *core.Snapshot) { n.Budget.State.Capacity = 7 }), "budget: 3 of 7")
		s.one(s.types("settings clock 24"), "this is read-only")
		s.one(s.types("edit email title X"), "error: ")
	})
}

func TestAWordThatIsNoCommand(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.hasLines(s.types("statsu"), `unknown command "statsu"; help lists the commands; did you mean status?`, "Type yes to send it")
		s.one(s.types("no"), "nothing changed")
		s.hasLines(s.types("snoze email 2h"), "did you mean snooze?", "Type yes")
		s.types("notices")
		s.hasLines(s.types("zebra"), `unknown command "zebra"; help lists the commands`, "Type yes")
		s.did()
		s.one(s.types("yes"), "sent")
		s.one(s.types("What is left today?"), "sent")
		s.did(command.Say{Text: "zebra"}, command.Say{Text: "What is left today?"})
	})
	play(t, Options{ReadOnly: true}, func(s *stage) {
		s.one(s.types("zebra"), "unknown command")
		s.one(s.types("What is left today?"), "error: this is read-only")
		s.did()
	})
}

func TestOlderRunsAreFoundAndNamed(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		for i := range 400 {
			s.bot.stored = append(s.bot.stored, ended(fmt.Sprint("r", i), fmt.Sprint("Task ", i), time.Duration(i+1)*time.Hour, nil))
		}
		s.bot.speaks("r3", tail.Line{At: time.Now(), Kind: tail.Text, Text: "I was here."})
		s.hears()
		got := s.types("runs")
		if len(got) != maxLines+1 || got[0] != "400 runs:" || got[maxLines] != "and 287 more lines; type more to continue" {
			t.Errorf("heard %q", got)
		}
		if all := s.types("more all"); all[len(all)-1] != "and 100 older runs; narrow the list with a filter, such as a day" {
			t.Errorf("the last line is %q", all[len(all)-1])
		}
		s.one(s.types("more"), "there is no more")
		s.hasLines(s.types("tail 4"), "Task 3, Friday 31 December 1999 20:00, done, 1 minute 30 seconds, $0.02", "I was here.")
		s.hasLines(s.types(`runs "task 33"`), "11 runs:", "1, Task 33,", "2, Task 330,", "3, ", "4, ", "5, ", "6, ", "7, ", "8, ", "9, ", "10, ", "11, ")
		s.one(s.types("continue 2"), "so it is")
		s.one(s.types("runs is:failed"), "nothing matches is:failed")
		s.did(command.ResumeFork{Run: "r330"})
	})
}
