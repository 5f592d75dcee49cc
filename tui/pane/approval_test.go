package pane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

// passwd is a tool call of which the content matters as much as the file.
func passwd(s *core.Snapshot) {
	lines := make([]string, 40)
	for i := range lines {
		lines[i] = fmt.Sprintf("user%d:x:%d:%d::/home/user%d:/bin/sh", i, i, i, i)
	}
	s.Approvals = []policy.Approval{{
		ID: "w1", Tool: "Write", Session: "main session", Question: "Write the file /etc/passwd?", Text: strings.Join(lines, "\n"),
		Label: "Write the file /etc/passwd? " + strings.Join(lines, " ⏎ "), Asked: noon.Add(-12 * time.Second), Until: noon.Add(48 * time.Second),
	}}
}

func TestWhatWouldBeWrittenStandsBehindItsFileAndIsReadInFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open("chat")
		s.next(passwd)
		for _, size := range [][2]int{{28, 6}, {44, 12}, {80, 12}, {120, 20}} {
			compare(t, fmt.Sprintf("chat-writing-%dx%d", size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
		}
		has(t, s.screen(80, 14), "The main session asks: Write the file /etc/passwd?", "user0:x:0:0::/home/user0:/bin/sh ⏎", "p read all", "y allow")
		a := s.do(action.ApprovalRead)
		if a.Open == nil || a.Do != nil {
			t.Fatalf("reading answers %#v", a)
		}
		has(t, read(a), "\nuser0:x:0:0::/home/user0:/bin/sh\nuser1:", "\nuser39:x:39:39::/home/user39:/bin/sh\n", "y allows it and n denies it")
		time.Sleep(time.Second)
		if a := s.do(action.ApprovalAllow); a.Do != (command.Answer{ID: "w1", Verdict: policy.Allow}) {
			t.Errorf("once it was read: %#v", a)
		}
	})
}

func TestACallThatCameWhileAnotherWasReadIsNotAllowedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open("chat")
		s.next(passwd)
		s.screen(80, 14)
		time.Sleep(time.Second)
		s.do(action.ApprovalRead)
		s.next(asked) // the page lies above it
		s.screen(80, 14)
		time.Sleep(time.Minute)
		if a := s.do(action.ApprovalAllow); a.Do != nil || a.Toast == "" {
			t.Errorf("allowed unread: %#v", a)
		}
		time.Sleep(time.Second)
		if a := s.do(action.ApprovalAllow); a.Do == nil {
			t.Errorf("and never again: %#v", a)
		}
	})
}

// cards are the cards of two forks, the first of which has ended.
func cards(s *core.Snapshot) {
	card := func(id post.MessageID) transcript.Entry {
		return transcript.Entry{ID: id, At: noon, Role: transcript.Bot, Embed: &post.Embed{Title: "Forked Session", Buttons: []post.Button{
			{Label: "Report", Action: "act:fork_report:_"}, {Label: "Exit Fork", Action: "act:fork_exit:_"},
		}}}
	}
	s.Chat = []transcript.Entry{card("old"), {ID: "x", At: noon, Role: transcript.User, Text: "and again"}, card("new")}
}

func TestOnlyTheForkOfNowHasButtons(t *testing.T) {
	s := open("chat")
	off := func() string {
		return s.Pane.(interface {
			Off(c pane.Context, id action.ID) string
		}).Off(s.c, action.ChatButtons)
	}
	s.next(func(c *core.Snapshot) { cards(c); forked(c) })
	if screen := s.screen(80, 20); strings.Count(screen, "[Report] [Exit Fork] ended") != 1 || strings.Count(screen, "[Exit Fork]") != 2 || off() != "" {
		t.Errorf("off %q\n%s", off(), screen)
	}
	for _, ids := range [][]action.ID{{action.ChatButtons}, {action.TailHome, action.ChatButtons}} { // the old card is marked
		enter := tea.KeyPressMsg{Code: tea.KeyEnter}
		if a := s.do(ids...).Open.Update(s.c, enter); a.Send != (command.Click{Message: "new", ID: "act:fork_report:_"}) {
			t.Errorf("pressed %#v", a.Send)
		}
	}
	s.next(func(c *core.Snapshot) { c.Fork = nil })
	if screen := s.screen(80, 20); s.Capture() || strings.Count(screen, "[Report] [Exit Fork] ended") != 2 || off() == "" {
		t.Errorf("the fork has ended, off %q:\n%s", off(), screen)
	}
	if a := s.do(action.ChatButtons); a.Toast == "" || s.Capture() {
		t.Errorf("buttons of a fork that has ended are offered: %#v", a)
	}
}

func TestAFailedAnswerSaysSoInTheConversation(t *testing.T) {
	s := open("chat")
	s.next(func(c *core.Snapshot) {
		c.Chat = []transcript.Entry{
			{ID: "1", At: noon, Role: transcript.User, Text: "what's left today?"},
			{ID: "2", At: noon, Role: transcript.Notice, Text: "the bot could not answer; send your message again to retry: the model is overloaded"},
		}
	})
	for _, w := range []int{44, 80} {
		compare(t, fmt.Sprintf("chat-failed-%dx10", w), drawn(s, s.c, w, 10, true))
	}
}

// with are the table's keys but for some rows.
func with(t *testing.T, changes ...action.Change) action.Keys {
	t.Helper()
	keys, refused := action.Keys{}.Change(changes)
	if len(refused) > 0 {
		t.Fatalf("refused %+v", refused)
	}
	return keys
}

// find ends a search that has found something.
func find(t *testing.T, s *stage) {
	t.Helper()
	s.do(action.TailFind)
	s.keys(t, "e", "enter")
}

// Each pane says something about a key in a state of its own.
func TestASavedFileOfKeysIsSeenWithoutANewSnapshot(t *testing.T) {
	for _, c := range []struct {
		name  string
		begin func(t *testing.T, s *stage)
		id    action.ID
		pane  action.Pane
		was   string
		want  string
		none  string
	}{
		{
			"budget", func(_ *testing.T, s *stage) {
				s.next(func(c *core.Snapshot) { c.Budget.State = budget.State{RefillRateMinutes: 90} })
			},
			action.CapacityUp, action.Budget, "+ raises the capacity", "f9 raises the capacity", "The palette (:) raises the capacity",
		},
		{
			"schedule", func(_ *testing.T, s *stage) {
				s.next(func(c *core.Snapshot) { c.Schedule, c.Forks = schedule.View{}, nil })
			},
			action.ScheduleNew, action.Schedule, " n: write your first routine", " f9: write your", " the palette (:): write your",
		},
		{"chat", func(*testing.T, *stage) {}, action.ChatWrite, action.Chat, " i writes a message", " f9 writes a message", " the palette (:) writes a message"},
		{
			"forks", func(t *testing.T, s *stage) {
				s.do(action.ForksTail)
				find(t, s)
			},
			action.TailNext, action.Forks, "n next · N previous · esc ends", "f9 next · N previous", "  N previous · esc ends",
		},
		{
			"logs", find,
			action.TailPrevious, action.Logs, "n next · N previous · esc ends", "n next · f9 previous", "n next · esc ends",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(c.name)
			c.begin(t, s)
			has(t, s.screen(120, 20), c.was)
			s.c.Keys = with(t, action.Change{Pane: c.pane, ID: c.id, Keys: []string{"f9"}})
			has(t, s.screen(120, 20), c.want)
			s.c.Keys = with(t, action.Change{Pane: c.pane, ID: c.id})
			has(t, s.screen(120, 20), c.none)
			s.c.Keys = action.Keys{}
			has(t, s.screen(120, 20), c.was)
		})
	}
}

func TestAForkAsksWithTheKeysThatThereAre(t *testing.T) {
	s := open("chat")
	s.next(func(c *core.Snapshot) { c.Fork = &chat.Banner{Asks: true, Since: noon} })
	s.c.Keys = with(t, action.Change{ID: action.ForkSave, Keys: []string{"f2"}}, action.Change{ID: action.ForkExit})
	has(t, s.screen(120, 14), "The agent asks: save it? f2 yes, R report", "f2 save", "R report", ": exit")
	has(t, s.screen(60, 5), "save it? f2 yes, R report")
	s.c.Keys = with(t, action.Change{ID: action.ForkSave}, action.Change{ID: action.ForkReport}, action.Change{ID: action.ForkExit}, action.Change{ID: action.Palette})
	has(t, s.screen(120, 14), "save it? a key in keys.yaml")
	has(t, s.screen(60, 5), "save it? a key in keys.yaml")
	lacks(t, "a badge without a key stands there", s.screen(120, 14), "  save ")
}

func TestAToolCallIsAnsweredWithTheKeysThatThereAre(t *testing.T) {
	s := open("chat")
	s.next(asked)
	s.c.Keys = with(t, action.Change{ID: action.ApprovalAllow, Keys: []string{"f2"}}, action.Change{ID: action.ApprovalDeny}, action.Change{ID: action.Chat.Go(), Keys: []string{"f5"}})
	has(t, s.Line(s.c, 80), " f2 : a ")
	has(t, strings.Join(drawn(s, s.c, 80, 12, false), "\n"), " f5, then f2 allow  : deny")
	s.c.Keys = with(t, action.Change{ID: action.Chat.Go()})
	has(t, strings.Join(drawn(s, s.c, 80, 12, false), "\n"), " chat, then y allow")
}

// A button of a card is pressed with the mouse, whether the pane has the focus or not.
func TestAButtonOfACardIsPressedWhereItStands(t *testing.T) {
	for _, focused := range []bool{false, true} {
		s := open("chat")
		s.next(func(c *core.Snapshot) {
			card := *c.Chat[3].Embed
			card.Buttons = []post.Button{{Label: "Done", Action: "done"}, {Label: "Remind me", Action: "later"}}
			c.Chat = slices.Clone(c.Chat)
			c.Chat[3].Embed = &card
		})
		pressed := false
		for _, row := range s.Draw(s.c, 80, 14, focused) {
			at := strings.Index(row.Text, "Remind")
			if at < 0 {
				continue
			}
			id := s.Press(s.c, row.At(len([]rune(row.Text[:at]))), focused)
			if a := s.do(id); a.Do != (command.Click{Message: "4", ID: "later"}) {
				t.Errorf("focused %t: %s answers %#v", focused, id, a)
			}
			pressed = true
			if s.Press(s.c, row.At(0), false) != "" {
				t.Error("beside it nothing is pressed")
			}
		}
		if !pressed {
			t.Error("no such button:\n" + s.screen(80, 14))
		}
	}
}
