package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/policy"
	"ollimbot/core/post"
	"ollimbot/core/transcript"
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
		ID: "w1", Tool: "Write", Session: "main session", Label: "Write(/etc/passwd ⏎ " + strings.Join(lines, " ⏎ ") + ")",
		Asked: noon.Add(-12 * time.Second), Until: noon.Add(48 * time.Second),
	}}
}

func TestWhatWouldBeWrittenStandsBelowItsFileAndIsReadInFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open("chat")
		s.next(passwd)
		for _, size := range [][2]int{{28, 6}, {44, 12}, {80, 12}, {120, 20}} {
			compare(t, fmt.Sprintf("chat-writing-%dx%d", size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
		}
		has(t, s.screen(80, 14), "The main session asks to run Write(/etc/passwd)", "v read all", "y allow")
		a := s.do(action.ApprovalRead)
		if a.Show == nil || a.Do != nil {
			t.Fatalf("reading answers %#v", a)
		}
		has(t, a.Show.Body, "\nuser0:x:0:0::/home/user0:/bin/sh\nuser1:", "\nuser39:x:39:39::/home/user39:/bin/sh\n", "y allows it and n denies it")
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

// What a command does is all that it says: nothing of it is set back as content.
func TestOnlyWhatIsWrittenIsContent(t *testing.T) {
	s := open("chat")
	s.next(func(c *core.Snapshot) {
		asked(c)
		c.Approvals[0].Label = "Bash(ls ⏎ rm -rf ~)"
	})
	has(t, s.screen(80, 14), "The main session asks to run Bash(ls ⏎ rm -rf ~)")
	s.next(func(c *core.Snapshot) {
		c.Approvals = []policy.Approval{{ID: "e", Tool: "Edit", Label: "Edit(/a/b.md ⏎ from one ⏎ to two)", Until: noon.Add(time.Minute)}}
	})
	has(t, s.screen(80, 14), "asks to run Edit(/a/b.md) ", "\n   from one ", "\n   to two ")
	if screen := s.screen(80, 14); strings.Contains(screen, "read all") {
		t.Errorf("nothing more is to be read:\n%s", screen)
	}
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
	s.do(action.ChatButtons)
	if a := s.keys(t, "enter"); a.Do != (command.Click{Message: "new", ID: "act:fork_report:_"}) {
		t.Errorf("pressed %#v", a.Do)
	}
	s.do(action.TailHome, action.ChatButtons) // the old card is marked
	if a := s.keys(t, "enter"); a.Do != (command.Click{Message: "new", ID: "act:fork_report:_"}) {
		t.Errorf("pressed %#v", a.Do)
	}
	s.do(action.ChatButtons)
	s.next(func(c *core.Snapshot) { c.Fork = nil })
	if screen := s.screen(80, 20); s.Capture() || strings.Count(screen, "[Report] [Exit Fork] ended") != 2 || off() == "" {
		t.Errorf("the fork has ended, off %q:\n%s", off(), screen)
	}
	if a := s.do(action.ChatButtons); a.Toast == "" || s.Capture() {
		t.Errorf("buttons of a fork that has ended are offered: %#v", a)
	}
}

func TestABannerSaysWhatItCanInFewCells(t *testing.T) {
	s := open("chat")
	s.next(saving)
	has(t, s.screen(40, 14), "save it? S yes, R report, X exit", "12 min")
	s.next(resumed)
	has(t, s.screen(40, 14), "you lead · resumed")
	s.next(forked)
	has(t, s.screen(28, 14), "… · 12 min")
}

func TestAFailedAnswerSaysSoInTheConversation(t *testing.T) {
	s := open("chat")
	s.next(func(c *core.Snapshot) {
		c.Chat = []transcript.Entry{
			{ID: "1", At: noon, Role: transcript.User, Text: "what's left today?"},
			{ID: "2", At: noon, Role: transcript.Notice, Text: "the answer did not come; your message is above, send it again when you like: the model is overloaded"},
		}
	})
	for _, w := range []int{44, 80} {
		compare(t, fmt.Sprintf("chat-failed-%dx10", w), drawn(s, s.c, w, 10, true))
	}
}
