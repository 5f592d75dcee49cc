package plain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

func TestARunIsFollowedToItsEnd(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.change(func(n *core.Snapshot) { n.Forks = []fork.View{{ID: "f1", Title: "Email sweep", State: fork.Running}} })
		s.bot.speaks("f1", tail.Line{At: time.Now(), Kind: tail.Text, Text: "I begin."})
		s.hears()
		s.hasLines(s.types("output email"), "Email sweep, running", "00:00:00 I begin.")
		s.one(s.types("follow email"), "following Email sweep")
		s.bot.speaks("f1", tail.Line{At: time.Now(), Kind: tail.Tool, Text: "Read(mail)"}, tail.Line{At: time.Now(), Kind: tail.Text, Text: "Two letters."})
		s.hasLines(s.hears(), "output: tool: Read(mail)", "output: Two letters.")
		s.bot.change(func(n *core.Snapshot) {
			n.Forks = []fork.View{{ID: "f1", Title: "Email sweep", State: fork.Done, Pings: 1}}
		})
		s.hasLines(s.hears(), "run: Email sweep, 1 ping", "Email sweep has ended, so it is no longer followed")
		s.bot.speaks("f1", tail.Line{At: time.Now(), Kind: tail.Note, Text: "late"})
		if got := s.hears(); got[0] != "" {
			t.Errorf("heard %q of a run that is no longer followed", got)
		}
		s.one(s.types("follow email"), "Email sweep: it has ended; tail shows its last lines")
		s.one(s.types("follow off"), "stopped following")
	})
}

func TestLinesThatComeTooFastAreCounted(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.one(s.types("follow log"), "following the log")
		var many []tail.Line
		for i := range 100 {
			many = append(many, tail.Line{At: time.Now(), Kind: tail.Info, Text: fmt.Sprint("line ", i)})
		}
		s.bot.speaks(core.LogTail, many...)
		got := s.hears()
		if len(got) != maxLines+1 || !strings.Contains(got[0], "85 lines arrived too fast") || !strings.HasSuffix(got[maxLines], "log: line 99") {
			t.Errorf("heard %d lines, from %q to %q", len(got), got[0], got[len(got)-1])
		}
		s.one(s.types("follow off"), "stopped following")
	})
}

func TestTheLogIsReadByLevelAndWords(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.speaks(core.LogTail,
			tail.Line{At: time.Now(), Kind: tail.Info, Text: "task fires"}, tail.Line{At: time.Now(), Kind: tail.Warn, Text: "discord is slow"},
			tail.Line{At: time.Now(), Kind: tail.Error, Text: "discord is away"}, tail.Line{At: time.Now(), Kind: tail.Error, Text: "disk is full"})
		s.hears()
		s.hasLines(s.types("log 1"), "error: disk is full")
		s.hasLines(s.types("log is:error"), "error: discord is away", "error: disk is full")
		s.hasLines(s.types("log 20 is:error discord"), "error: discord is away")
		s.hasLines(s.types("log !is:error"), "task fires", "warn: discord is slow")
		s.hasLines(s.types("log nothing of it"), "no matching lines")
	})
}

func TestAMessageIsAnsweredByItsNumber(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.change(func(n *core.Snapshot) {
			n.Chat = []transcript.Entry{
				{ID: "1", At: time.Now(), Role: transcript.Ping, Source: "Tea", Text: "Kettle on?"},
				{ID: "2", At: time.Now(), Role: transcript.User, Text: "yes"},
				{ID: "3", At: time.Now(), Role: transcript.Bot, Text: "Good."},
				{ID: "4", At: time.Now(), Role: transcript.Notice, Text: "a notice"},
			}
		})
		s.hasLines(s.types("chat"), "4 messages:", "1, 00:00, notice: a notice", "2, 00:00, bot: Good.", "3, 00:00, you: yes", "4, 00:00, ping: Tea: Kettle on?")
		s.one(s.types("reply 4 not yet"), "sent")
		s.one(s.types("reply great"), "sent")
		s.one(s.types("reply 1 hello"), "from the program, which does not reply")
		s.one(s.types("reply"), "reply takes [NUMBER] WORDS")
		s.hasLines(s.types("chat kettle"), "1, 00:00, ping: Tea: Kettle on?")
		s.did(command.Say{Text: "not yet", ReplyTo: "1"}, command.Say{Text: "great", ReplyTo: "3"})
	})
}

// A card that comes while somebody types must not take the number of another.
func TestTheNumberOfAButtonIsGivenOnce(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		card := func(id, title string, labels ...string) transcript.Entry {
			e := transcript.Entry{ID: post.MessageID(id), Role: transcript.Bot, Embed: &post.Embed{Title: title}}
			for _, l := range labels {
				e.Embed.Buttons = append(e.Embed.Buttons, post.Button{Label: l, Action: "act:" + l})
			}
			return e
		}
		s.hears()
		s.hasLines(s.change(func(n *core.Snapshot) { n.Chat = []transcript.Entry{card("1", "Bins", "Done", "Later")} }), "bot: Bins", "buttons: press 1 for Done, press 2 for Later")
		s.hasLines(s.change(func(n *core.Snapshot) { n.Chat = append(n.Chat, card("2", "Tea", "Done", "Not today")) }), "bot: Tea", "press 3 for Done, press 4 for Not today")
		s.one(s.types("press 1"), "so it is")
		s.one(s.types("press not"), "so it is")
		s.hasLines(s.types("press 9"), "there is no number 9 in the last list")
		s.hasLines(s.types("buttons"), "4 buttons:", "3, Done, Tea", "4, Not today, Tea", "1, Done, Bins", "2, Later, Bins")
		s.did(command.Click{Message: "1", ID: "act:Done"}, command.Click{Message: "2", ID: "act:Not today"})
	})
}

func TestATaskThatFiresOftenHasOneLineOfTheDay(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.change(func(n *core.Snapshot) {
			for h := range 12 {
				n.Schedule.Day = append(n.Schedule.Day, schedule.Entry{ID: "aaaa1111", Description: "Email sweep", FireTime: time.Now().Add(time.Duration(2*h+1) * time.Hour)})
				if h == 1 {
					n.Schedule.Day = append(n.Schedule.Day, schedule.Entry{ID: "bbbb2222", Description: "Medication", FireTime: time.Now().Add(4 * time.Hour)})
				}
			}
		})
		s.hasLines(s.types("day"), "2 tasks:", "1, 01:00 Email sweep, and 11 more times", "2, 04:00 Medication")
		s.one(s.types("fire 1"), "so it is")
	})
}

func TestATaskIsToldInSentences(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.change(func(n *core.Snapshot) { n.Root = "/data" })
		s.hasLines(s.types("details medication"), "Email sweep", "routine, aaaa1111, routines/email.md", "runs, in the background",
			"may use, Read, Glob", "when, every hour (0 * * * *)", "it never fires again", "no finished runs yet")
		s.hasLines(s.types("file medication"), "the file is /data/routines/m.md and contains:", "---", "id: aaaa1111", "---", "Look.")
	})
}

func TestWhatIsSaidInTwoWaysAtOnceIsHeardOnce(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.change(func(n *core.Snapshot) {
			n.Chat = []transcript.Entry{{ID: "1", Role: transcript.Notice, Text: "The file\na.md is wrong."}}
			n.Notices = []notice.Notice{{Seq: 1, Level: notice.Warn, Text: "The file a.md is wrong."}, {Seq: 2, Level: notice.Info, Text: "another"}}
		})
		s.hasLines(s.hears(), "warning: The file a.md is wrong.", "info: another")
		s.bot.change(func(n *core.Snapshot) { // the same trouble, told a moment later in the other way
			n.Notices = append(n.Notices, notice.Notice{Seq: 3, Level: notice.Alert, Text: "The file a.md is wrong."})
		})
		if got := s.hears(); got[0] != "" {
			t.Errorf("said again: %q", got)
		}
		s.bot.change(func(n *core.Snapshot) {
			n.Notices = append(n.Notices, notice.Notice{Seq: 4, At: n.At.Add(time.Minute), Level: notice.Alert, Text: "The file a.md is wrong."})
		})
		s.hasLines(s.hears(), "error: The file a.md is wrong.")
	})
}

// M6: of two refused turns within ten seconds the second printed nothing, and a script waited.
func TestTheSameNoticeOfTwoTurnsIsHeardTwice(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		refused := transcript.Entry{ID: "1", Role: transcript.Notice, Text: "the model refused"}
		s.bot.change(func(n *core.Snapshot) { n.Chat = []transcript.Entry{refused} })
		s.hasLines(s.hears(), "notice: the model refused")
		s.bot.change(func(n *core.Snapshot) {
			refused.ID = "2"
			n.Chat = append(n.Chat, refused)
		})
		s.hasLines(s.hears(), "notice: the model refused")
	})
}

func TestAToolThatWasDeniedIsTold(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.change(func(n *core.Snapshot) {
			n.Chat = []transcript.Entry{{ID: "1", Role: transcript.Bot, Text: "I could not.", Tools: []string{"Read(a.md)", "Bash(rm x)" + transcript.DeniedMark}}}
		})
		s.hasLines(s.hears(), "denied: Bash(rm x)", "bot: I could not.")
	})
}

func TestTimesAreToldByTheClockThatWasChosen(t *testing.T) {
	dir := t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "dashboard.yaml"), []byte("clock: 12\n"), 0o600))
	play(t, Options{Config: dir}, func(s *stage) {
		s.change(func(n *core.Snapshot) {
			n.Notices = []notice.Notice{{Seq: 1, At: time.Now(), Level: notice.Info, Text: "one"}}
		})
		s.hasLines(s.types("notices"), "12:00am, info, one")
	})
}

func TestFactsAreSentencesAndLeaveOutWhatIsNone(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		before := s.bot.Snapshot()
		for _, line := range before.Status() {
			if strings.Contains(line, " 0 ") {
				t.Errorf("status says %q", line)
			}
		}
		s.one(s.types("notices"), "no notices yet")
		s.one(s.types("problems"), "no file has a problem")
		s.change(func(n *core.Snapshot) {
			n.Engine.Version, n.Engine.Today = "2.1.197", agent.Usage{InputTokens: 1200, CostUSD: 0.5}
			n.Engine.Processes = []agent.Process{{PID: 42, Memory: 300 << 20, Started: time.Now().Add(-time.Hour)}}
			n.Notices = []notice.Notice{{Seq: 1, At: time.Now(), Level: notice.Info, Text: "one"}, {Seq: 2, At: time.Now(), Level: notice.Warn, Text: "two"}}
			n.Schedule.Problems = []routines.Problem{{File: "a.md", Line: 3, Severity: routines.Error, Message: "bad minute"}}
			n.Reminders, n.Budget.Muted = 1, time.Now().Add(30*time.Hour)
		})
		s.hasLines(s.types("engine"), "engine: script 2.1.197", "model: sonnet", "state: ready", "surface:", "today: $0.50, 1k tokens of prompts, 0 of answers", "processes: id", "42: session, 300 MB, 1 h")
		s.hasLines(s.types("notices"), "00:00, warning, two", "00:00, info, one")
		s.hasLines(s.types("notices 1"), "00:00, warning, two")
		s.hasLines(s.types("problems"), "problems: a.md:3: bad minute")
		after := s.bot.Snapshot()
		s.hasLines(after.Status(), "a.md has an error: bad minute. Nothing is due within a day; muted until Sun 06:00.", "schedule: 1 reminder", "problems: 1 error in files",
			"budget: 3 of 5 pings left, one comes back every 90 min; muted until Sun 06:00: only critical pings get through", "today: $0.00")
	})
}

func TestHelpTellsAGroupOrACommand(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.hasLines(s.types("help UPDATES"), "Updates:", "updates [FILTER]: List pending updates for the main session; for example updates today", "discard UPDATE: ", "questions [FILTER]: ", "answer [QUESTION] ANSWER: ", "deliver: ")
		s.hasLines(s.types("help forks"), "runs [FILTER]: List background runs", "FILTER is words", "forks means the same")
		if got := s.types("help"); len(got) != len(command.Groups)+2 {
			t.Errorf("help has %d lines", len(got))
		}
	})
}

func TestWhatHasNoStateIsUpAndNothingElse(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.change(func(n *core.Snapshot) { n.Surface = core.SurfaceStatus{Name: "chat here", OK: true} })
		if got := s.hears(); !strings.HasSuffix(got[len(got)-1], "surface: chat here up") {
			t.Errorf("heard %q", got)
		}
		s.bot.change(func(n *core.Snapshot) { n.Started, n.Surface.State = time.Now(), "(Discord: ollim-bot init)" })
		snap := s.bot.Snapshot()
		s.hasLines(snap.Status(), "All quiet.", "engine: script sonnet, ready", "messages: to chat here, Discord: ollim-bot init", "budget: ", "today: ")
	})
}

func TestEveryNoticeThatWasHeardIsReadAgain(t *testing.T) {
	play(t, Options{Notice: "the offline engine answers"}, func(s *stage) {
		s.one(s.types("notices"), "00:00, notice, the offline engine answers")
		time.Sleep(time.Minute)
		s.change(func(n *core.Snapshot) {
			n.Chat = []transcript.Entry{{ID: "1", At: time.Now(), Role: transcript.Notice, Text: "The conversation\nbegins anew."}}
		})
		time.Sleep(time.Minute)
		s.change(func(n *core.Snapshot) {
			n.Notices = []notice.Notice{{Seq: 1, At: time.Now(), Level: notice.Warn, Text: "late"}, {Seq: 2, At: time.Now(), Level: notice.Info, Text: "later"}}
			n.Chat = append(n.Chat, transcript.Entry{ID: "2", At: time.Now(), Role: transcript.Notice, Text: "later"})
		})
		s.hasLines(s.types("notices"), "info, later", "warning, late", "00:01, notice, The conversation begins anew.", "the offline engine answers")
		s.hasLines(s.types("notices 2"), "info, later", "warning, late")
	})
}

func TestAnUpdateSaysWhereItComesFrom(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.change(func(n *core.Snapshot) {
			now := time.Now()
			n.Forks = []fork.View{{ID: "f1", Title: "H0 red", State: fork.Running, Started: now.Add(-time.Second), Reports: 1}}
			n.Updates = []updates.Update{{Key: "u", At: now, Message: "rep red", Source: updates.Source{Run: "f1", From: "H0 red"}}}
		})
		if got := s.hears(); !strings.HasSuffix(got[len(got)-1], "update: H0 red: rep red") {
			t.Errorf("heard %q", got)
		}
	})
}

func TestALineThatEndsInABackslashGoesOn(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.change(func(n *core.Snapshot) {
			n.Chat = []transcript.Entry{{ID: "1", At: time.Now(), Role: transcript.Bot, Text: "And?"}}
		})
		s.one(s.types(`say Dear Sam, \`), "")
		s.one(s.types(`\`), "continues")
		s.one(s.types(`  two spaces \ `), "continues")
		s.one(s.types("yes"), "sent")
		s.types(`say\`)
		s.one(s.types("on its own line"), "sent")
		s.types("chat")
		s.types(`reply 1\`)
		s.one(s.types("a\\\\"), "sent")
		s.types(`say over \`)
		s.one(s.types(""), "sent") // nothing ends it too
		s.types(`new reminder 2h called Tea:\`)
		s.types(`put the kettle on\`)
		s.types("  - and wait")
		s.types(`new routine 0 9 * * * first\`)
		s.types("second")
		s.types(`say C:\\`)
		start := s.bot.done()[4].(command.AddTask).At // what a moment means is another test's
		want := []command.Value{
			command.Say{Text: "Dear Sam,\n\n  two spaces\nyes"},
			command.Say{Text: "on its own line"},
			command.Say{Text: `a\`, ReplyTo: "1"},
			command.Say{Text: "over"},
			command.AddTask{At: start, Description: "Tea", Message: "put the kettle on\n  - and wait"},
			command.AddTask{Cron: "0 9 * * *", Message: "first\nsecond"},
			command.Say{Text: `C:\`},
		}
		if diff := cmp.Diff(want, s.bot.done()); diff != "" {
			t.Errorf("what it did (-want +got):\n%s", diff)
		}
	})
}

func TestTheEndOfTheInputEndsWhatGoesOn(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.types(`say one\`)
		s.types(`two\`)
		_ = s.in.Close()
		s.hears()
		s.did(command.Say{Text: "one\ntwo"})
	})
}

func TestACommandThatIsTooLongDoesNothing(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		for range 3 {
			s.types("say " + strings.Repeat("x", maxLine/2) + `\`)
		}
		s.one(s.types("end"), "error: this is too long")
		s.one(s.types("say again"), "sent")
		if did := s.bot.done(); len(did) != 1 {
			t.Errorf("did %d commands", len(did))
		}
	})
}
