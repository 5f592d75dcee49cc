package plain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/routines"
)

func TestToolCallsAreAnsweredByNumber(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.change(func(n *core.Snapshot) {
			n.Approvals = []policy.Approval{policy.Request{ID: "x", Tool: "Bash", Question: "Run this command?", Text: "ls"}.Asked(time.Now()), policy.Request{ID: "y", Tool: "Bash", Question: "Run this command?", Text: "rm"}.Asked(time.Now())}
		})
		if got := s.hears(); len(got) != 2 || !strings.Contains(got[1], "number 2, Run this command? rm, waits") || !strings.Contains(got[1], "command? rm") {
			t.Errorf("heard %q", got)
		}
		s.hasLines(s.types("allow"), "repeat the command with one of these", "2 tool calls:", "1, Run this command? ls", "2, Run this command? rm")
		s.one(s.types("deny 2"), "number 2 is denied")
		s.one(s.types("ALLOW 1"), "number 1 is allowed")
		s.types("allow 7")
		want := []command.Value{command.Answer{ID: "y", Verdict: policy.Deny}, command.Answer{ID: "x", Verdict: policy.Allow}}
		if got := s.bot.done(); !slices.Equal(got, want) {
			t.Errorf("did %+v, want %+v", got, want)
		}
		s.bot.change(func(n *core.Snapshot) { n.Approvals = nil })
		if got := s.hears(); len(got) != 2 || !strings.Contains(strings.Join(got, " "), "number 1 is no longer waiting") {
			t.Errorf("heard %q", got)
		}
	})
}

func TestCommandsReachTheBot(t *testing.T) {
	six := 6
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of every bubble, a Saturday
	for _, c := range []struct {
		line string
		want command.Value
		says string
	}{
		{"say what is left?", command.Say{Text: "what is left?"}, "sent"},
		{"capacity +1", command.SetBudget{Capacity: &six}, "capacity 5 to 6; undo takes it back"},
		{"refill 6", command.SetBudget{RefillMinutes: &six}, ""},
		{"preview email", command.Line{Text: "preview email"}, "so  it · is"},
		{"fire email", command.FireNow{ID: "aaaa1111", Stays: true}, "so it is"},
		{"FIRE Email sweep", command.FireNow{ID: "aaaa1111", Stays: true}, "so it is"},
		{"snooze email until 18:30", command.Snooze{ID: "aaaa1111", Until: start.Add(18*time.Hour + 30*time.Minute)}, "so it is"},
		{"snooze email off", command.Snooze{ID: "aaaa1111"}, "so it is"},
		{"status --json", command.Line{Text: "status --json"}, "so, it, is"},
		{"webhooks", command.Line{Text: "webhook list "}, "so, it, is"},
		{"starters --install", command.Line{Text: "routine starters --install"}, "so, it, is"},
		{`reminder add -m "call mum" --delay 20`, command.Line{Text: `reminder add -m "call mum" --delay 20`}, "so, it, is"},
		{"preview nothing", command.Line{Text: "preview nothing"}, "error: there is no such task"},
		{"mute 2h", command.MuteUntil{Until: start.Add(2 * time.Hour)}, "so it is"},
		{"lift off", command.Line{Text: "lift off"}, "caps lifted; undo takes it back"},
		{"routine cancel email", command.Line{Text: "routine cancel email"}, "routine cancel email: Remove a routine file. Type yes"},
		{"tasks", nil, "tasks are those of Google Tasks"},
		{"new routine 0 9 * * mon-fri greet me", command.AddTask{Cron: "0 9 * * mon-fri", Message: "greet me"}, "so it is; at 9:00, Monday to Friday"},
		{
			"new routine every weekday at 9 Water the plants",
			command.AddTask{Cron: "0 9 * * 1-5", Message: "Water the plants"},
			"so it is; at 9:00, Monday to Friday",
		},
		{
			"new routine 0 9 * * * silent, called The Morning: note: greet me",
			command.AddTask{Cron: "0 9 * * *", Description: "The Morning", Message: "note: greet me", Silent: true},
			"so it is; ",
		},
		{
			"new reminder tomorrow 9:00 foreground: put out the bins",
			command.AddTask{At: start.Add(33 * time.Hour), Message: "put out the bins", Foreground: true},
			"so it is",
		},
		{"new Reminder 18:30 remember: call mum", command.AddTask{At: start.Add(18*time.Hour + 30*time.Minute), Message: "remember: call mum"}, "so it is"},
		{"deliver", command.DeliverNow{}, "so it is"},
		{"/model", command.Slash{Line: "/model"}, "model, opus"},
		{"say", nil, "error: say takes WORDS, as in say what is left today?"},
		{"add", nil, "error: add takes routine WHEN MESSAGE, or reminder WHEN MESSAGE"},
		{"new routine 0 9 * *", nil, "error: a cron expression has five fields"},
		{"new routine 0 99 * * * hi", nil, "error: hour 99 does not exist"},
		{"new routine 0 9 * * *", nil, "error: the task has no message"},
		{"add reminder soon tea", nil, "error: add takes routine WHEN MESSAGE, or reminder WHEN MESSAGE"},
		{"capacity many", nil, "error: capacity takes NUMBER, as in capacity +1"},
		{"refill", nil, "error: refill takes MINUTES, as in refill 60"},
		{"deliver all", nil, "error: deliver takes nothing after it"},
		{"prefix", nil, "error: prefix takes on or off, as in prefix off"},
		{"seen", nil, "every failed run has been seen"},
		{"more", nil, "there is no more"},
		{"where are my keys?", command.Say{Text: "where are my keys?"}, "sent"},
		{"exit", nil, "error: you are not in a fork"},
		{"undo", nil, "error: nothing to undo"},
		{"yes", nil, "error: there is no question to answer"},
		{"help dance", nil, "error: unknown command \"dance\""},
		{"schedule", command.Line{Text: "schedule "}, "so, it, is"},
		{"updates today", command.Line{Text: "updates today"}, "so, it, is"},
		{"discard", nil, "no pending updates"},
		{"runs", nil, "no runs yet"},
		{"stop 1", nil, "no runs yet"},
		{"waits", nil, "no tool calls are waiting"},
		{"buttons", nil, "no message has a button"},
	} {
		t.Run(c.line, func(t *testing.T) {
			play(t, Options{}, func(s *stage) {
				s.bot.fixed = start
				s.hears()
				said := s.types(c.line)
				s.one(slices.DeleteFunc(said, func(l string) bool { return l == textToAgent }), c.says)
				var want []command.Value
				if c.want != nil {
					want = []command.Value{c.want}
				}
				if diff := gocmp.Diff(want, s.bot.done()); diff != "" {
					t.Errorf("what it did (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestWhatWaitsIsLetGoAfterItsReason(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.hasLines(s.types("allow email"), "no tool calls are waiting for you", textToAgent)
		s.change(func(n *core.Snapshot) {
			n.Schedule.Tasks[0].Waits = "it may use Bash"
			n.Schedule.Problems = []routines.Problem{{File: "skills/x/SKILL.md", Message: "this skill is not used until you approve it", Waits: true}}
		})
		s.one(s.types("allow email"), `Approve "Email sweep"? It needs your approval: it may use Bash.`)
		s.one(s.types("no"), "nothing changed")
		s.types("allow skills/x/SKILL.md")
		s.one(s.types("yes"), "")
		s.did(command.AllowTask{ID: "skills/x/SKILL.md"})
	})
}

func TestAnEditIsAllowedOrRefusedAfterItsChanges(t *testing.T) {
	edit := routines.Proposal{Version: "v1", Why: "it may use Bash; the agent that wrote it may not", Diff: "@@ -1 +1 @@\n-old\n+new"}
	play(t, Options{}, func(s *stage) {
		s.change(func(n *core.Snapshot) {
			n.Schedule.Tasks[0].Proposed = edit
			n.Schedule.Tasks[1].Waits = "it may use Bash"
			n.Schedule.Problems = []routines.Problem{
				{File: "webhooks/ci.md", Message: "an edit waits", Waits: true, Version: "v1", Proposed: edit},
				{File: "skills/x/SKILL.md", Message: "this skill is not used until you approve it", Waits: true},
			}
		})
		var did []command.Value
		for _, c := range []struct {
			line, question string
			does           command.Value
		}{
			{"refuse email", `Refuse this edit of "Email sweep"?`, command.RefuseEdit{ID: "aaaa1111", Version: "v1"}},
			{"allow email", `Allow this edit of "Email sweep"?`, command.AllowTask{ID: "aaaa1111", Version: "v1"}},
			{"deny webhooks/ci.md", `Refuse this edit of "webhooks/ci.md"?`, command.RefuseEdit{ID: "webhooks/ci.md", Version: "v1"}},
		} {
			said := s.types(c.line)
			all := fmt.Sprint(said)
			for _, want := range []string{"With the agent's edit, it may use Bash", "-old ", "+new", c.question} {
				if !strings.Contains(all, want) {
					t.Errorf("%s: said %s, without %q", c.line, all, want)
				}
			}
			s.one(s.types("no"), "nothing changed")
			s.types(c.line)
			s.one(s.types("yes"), "")
			did = append(did, c.does)
			s.did(did...)
		}
		for _, line := range []string{"deny medication", "deny skills/x/SKILL.md"} { // they are new: there is no edit to refuse
			if said := fmt.Sprint(s.types(line)); strings.Contains(said, "Refuse") {
				t.Errorf("%s: said %s", line, said)
			}
		}
	})
}

func TestAChangeCanBeTakenBack(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.types("capacity 6")
		s.one(s.types("undo"), "undone: capacity 5 to 6")
		if did := s.bot.done(); len(did) != 2 || did[1] != (command.RestoreBudget{Capacity: 5}) {
			t.Errorf("did %+v", did)
		}
		s.one(s.types("undo"), "nothing to undo")
	})
}

func TestAnUndoThatFailedCanBeTriedAgain(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.types("capacity 6")
		s.bot.refuse(errors.New("the disk is full; free some space and try again"))
		s.one(s.types("undo"), "the disk is full")
		s.bot.refuse(nil)
		s.one(s.types("undo"), "undone: capacity 5 to 6")
	})
}

func TestReadOnlyRefusesEveryCommandThatChangesTheBot(t *testing.T) {
	play(t, Options{ReadOnly: true}, func(s *stage) {
		s.change(func(n *core.Snapshot) {
			n.Forks = []fork.View{{ID: "f", Title: "A", State: fork.Running}}
			n.Fork = &chat.Banner{}
		})
		s.one(s.types("stop a"), "stop is refused, this is read-only")
		s.one(s.types("yes"), "there is no question to answer")
		s.one(s.types("/clear"), "error: this is read-only")
		s.one(s.types("capacity +1"), "capacity is refused, this is read-only")
		for _, c := range command.List(command.InPlain) {
			if c.Writes {
				s.one(s.types(cmp.Or(c.Example, c.Name)), "refused, this is read-only")
			}
		}
		s.did()
		s.one(s.types("preview email"), "so  it · is")
	})
}

func TestOnlyYesDoesWhatCannotBeUndone(t *testing.T) {
	for _, c := range []struct {
		answer, says string
		does         bool
	}{
		{"yes", "no run has the id f1", true}, // it has ended meanwhile
		{"no", "nothing changed", false},
		{"deliver", "", false}, // done itself, and question cancelled
		{"stop email", "", false},
	} {
		t.Run(c.answer, func(t *testing.T) {
			play(t, Options{}, func(s *stage) {
				s.change(func(n *core.Snapshot) {
					n.Forks = []fork.View{{ID: "f1", Title: "Email sweep", State: fork.Running, Started: n.At}}
				})
				s.one(s.types("stop email"), `Stop "Email sweep"? `)
				s.did()
				got := s.types(c.answer)
				if !strings.Contains(got[0], c.says) || c.says == "" && !strings.Contains(got[0], "question cancelled") {
					t.Errorf("heard %q", got)
				}
				if slices.Contains(s.bot.done(), command.Value(command.StopFork{Run: "f1"})) != c.does {
					t.Errorf("did %+v", s.bot.done())
				}
			})
		})
	}
}

func TestLeavingAForkWithNothingAsks(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.one(s.change(func(n *core.Snapshot) { n.Fork = &chat.Banner{Topic: "the trip", Resumed: true} }), "you are in a fork now: the trip; exit leaves it")
		s.one(s.types("exit save"), "cannot be saved")
		s.hasLines(s.types("exit quickly"), "exit takes [save or report]", textToAgent)
		s.one(s.types("exit report"), "so it is")
		s.one(s.types("exit"), `Leave the fork "the trip" (`)
		s.one(s.types("yes"), "so it is")
		s.did(command.ExitFork{How: command.ExitReport}, command.ExitFork{How: command.ExitDiscard})
	})
}

func TestQuitAsksWhileRunsGoOn(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.change(func(n *core.Snapshot) { n.Forks = []fork.View{{ID: "f", Title: "A", State: fork.Running}} })
		s.one(s.types("quit"), "1 run in progress or queued")
		s.types("status")
		s.one(s.types("quit"), "Type yes to quit")
		s.one(s.types("quit"), "goodbye") // as before: the word twice
		if err := <-s.ended; err != nil {
			t.Error(err)
		}
		s.ended <- nil
	})
}

func TestEveryCommandIsToldByHelpAndDoesSomething(t *testing.T) {
	all := help("all") + "\n"
	for _, c := range command.List(command.InPlain) {
		if n := strings.Count(all, "\n"+shortText(c)+"\n"); n != 1 {
			t.Errorf("help tells %s %d times", c.Name, n)
		}
		shell := c.In&command.InShell != 0
		if handlers[c.Name] == nil && c.Make == nil && !shell {
			t.Errorf("%s is done in no way", c.Name)
		}
	}
	for _, g := range command.Groups {
		if g.Title() == "" || !strings.Contains(all, groupText(g)) || !strings.Contains(help(""), "\n"+string(g)+": ") {
			t.Errorf("help lacks the group %s", g)
		}
	}
}

func TestHelpHasNothingThatIsReadBadly(t *testing.T) {
	for line := range strings.Lines(help("all")) {
		if strings.ContainsAny(line, "→·×─│•`\t") || strings.Contains(strings.TrimRight(line, "\n"), "  ") || len(line) > 200 {
			t.Errorf("%q", line)
		}
	}
}

func TestACommandAmongWordsIsAnsweredOnce(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.one(s.types("say /model"), "model, opus")
		s.change(func(n *core.Snapshot) {
			n.Chat = append(n.Chat, transcript.Entry{ID: "m", At: n.At, Role: transcript.Bot, Text: "hello"})
		})
		s.one(s.types("reply /model"), "model, opus")
		s.did(command.Slash{Line: "/model"}, command.Slash{Line: "/model"})
		s.bot.change(func(n *core.Snapshot) {
			n.Chat = append(n.Chat, transcript.Entry{ID: "n", At: n.At, Role: transcript.Notice, Text: "**model_main**: opus (default) `opus` `sonnet`"})
		})
		s.one(s.hears(), "notice: model_main: opus (default) (opus, sonnet)")
	})
}

func TestTheDayIsReadWithTheUsersAppointmentsWhenItIsAskedFor(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		now := time.Now().UTC()
		midnight := now.Truncate(24 * time.Hour)
		s.bot.dates = []google.Item{
			{Title: "Fair", Place: "Town hall", Start: midnight, End: midnight.AddDate(0, 0, 1), AllDay: true},
			{Tasks: []google.Task{{Title: "Milk"}, {}}, Start: midnight, End: midnight.AddDate(0, 0, 1), AllDay: true},
			{Title: "Dentist", Place: "High Street", Start: now.Add(90 * time.Minute), End: now.Add(2 * time.Hour)},
			{Title: "Far off", Start: now.Add(25 * time.Hour), End: now.Add(26 * time.Hour)},
		}
		for range 3 {
			time.Sleep(10 * time.Minute)
			s.types("schedule")
		}
		if s.bot.looks != 0 {
			t.Errorf("somebody looked %d times before the day was asked for", s.bot.looks)
		}
		got := s.types("day")
		s.hasLines(got, "nothing fires", "appointments:", "all day Fair, Town hall", "2 tasks due: Milk, (no title)",
			""+now.Add(90*time.Minute).Format("15:04")+" Dentist, until "+now.Add(2*time.Hour).Format("15:04")+", High Street")
		if s.bot.looks != 1 {
			t.Errorf("looked %d times", s.bot.looks)
		}
	})
}

// sentences begin with the name of a command, or with a word near one, and are none.
var sentences = []string{
	"pause for a walk", "stop worrying about that", "list my reminders", "preview of coming attractions", "add milk to the list", "edit my essay",
	"deliver the parcel tomorrow", "read this for me", "help me with my taxes", "settings of the oven", "day trip to Rome", "tasks are piling up",
	"statsu is down", "costs x", "snooze email", "yes that is fine", "/pause for a walk",
}

// From a person, such a line is taken for a command that is not quite right, and one word sends it to the agent.
func TestASentenceThatBeginsLikeACommandIsOfferedToTheAgent(t *testing.T) {
	for _, line := range sentences {
		t.Run(line, func(t *testing.T) {
			play(t, Options{}, func(s *stage) {
				said := s.types(line)
				if last := said[len(said)-1]; last != textToAgent || len(said) < 2 {
					t.Fatalf("heard %q", said)
				}
				s.one(s.types("yes"), "sent")
				if did := s.bot.done(); did[len(did)-1] != (command.Say{Text: strings.TrimPrefix(line, "/")}) {
					t.Errorf("did %+v", did)
				}
				s.types(line)
				s.one(s.types("no"), "nothing changed")
			})
		})
	}
}

// The question is not behind "more".
func TestTheQuestionIsReadBesideManyCandidates(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.change(func(n *core.Snapshot) {
			tasks := slices.Clone(n.Schedule.Tasks)
			for i := range 9 {
				task := tasks[0]
				task.ID, task.Title = fmt.Sprint("cccc000", i), fmt.Sprint("Walk ", i)
				tasks = append(tasks, task)
			}
			n.Schedule.Tasks = tasks
		})
		if said := s.types("pause for a walk"); !slices.Contains(said, textToAgent) || !strings.Contains(said[len(said)-1], "more") {
			t.Errorf("heard %q", said)
		}
	})
}

// From a pipe it goes there at once. The name of a command alone is no sentence, and a number names no words.
func TestASentenceFromAPipeGoesToTheAgent(t *testing.T) {
	through(t, Options{}, func(s *stage) {
		for _, line := range append(sentences, "hello", "statsu") {
			said := s.types(line)
			s.one(said, "sent")
			if did := s.bot.done(); did[len(did)-1] != (command.Say{Text: strings.TrimPrefix(line, "/")}) {
				t.Errorf("%s: did %+v", line, did)
			}
		}
		s.one(s.types("fire"), "error: fire takes TASK, as in fire email")
		if said := s.types("stop 3"); said[0] == "sent" {
			t.Errorf("heard %q", said)
		}
	})
	through(t, Options{ReadOnly: true}, func(s *stage) {
		s.one(s.types("preview of coming attractions"), "error: costs takes a number of days")
		s.did(command.Line{Text: "preview of coming attractions"})
	})
}

// A line of the command line can be undone, and asks before it removes something.
func TestALineOfTheCommandLineIsUndoneAndAsks(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.one(s.types("lift off"), "caps lifted; undo takes it back")
		s.one(s.types("undo"), "undone: caps lifted")
		s.one(s.types("delete medication"), "cancel medication: Remove a routine or reminder; restore brings it back. Type yes to carry it out")
		s.one(s.types("no"), "nothing changed")
		s.types("cancel medication")
		s.one(s.types("yes"), "so, it, is")
		s.did(command.Line{Text: "lift off"}, command.LiftCaps{}, command.Line{Text: "cancel medication"}, command.Line{Text: "cancel medication"},
			command.Line{Text: "cancel medication", Sure: true})
	})
}
