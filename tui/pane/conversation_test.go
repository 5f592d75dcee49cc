package pane_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/transcript"
	"ollimbot/tui/action"
	chatpane "ollimbot/tui/pane/chat"
	"ollimbot/tui/theme"
)

// The states of the conversation, each as a change of the everyday snapshot.

func asked(s *core.Snapshot) {
	s.Approvals = []policy.Approval{
		{ID: "a1", Label: "Run this command? rm -r ~/notes/drafts", Question: "Run this command?", Text: "rm -r ~/notes/drafts", Tool: "Bash", Command: "rule", Call: "Bash(rm -r ~/notes/drafts)", Session: "main session", Asked: noon.Add(-12 * time.Second), Until: noon.Add(48 * time.Second)},
		{ID: "a2", Label: "Open https://example.org/?", Question: "Open https://example.org/?", Tool: "WebFetch", Session: "fork", Asked: noon.Add(-2 * time.Second), Until: noon.Add(58 * time.Second)},
	}
}

func forked(s *core.Snapshot) {
	s.Fork = &chat.Banner{Topic: "Plans for the garden", Since: noon.Add(-12 * time.Minute)}
}

func resumed(s *core.Snapshot) {
	s.Fork = &chat.Banner{Resumed: true, Since: noon.Add(-12 * time.Second)}
}

func saving(s *core.Snapshot) {
	forked(s)
	s.Fork.Asks = true
}

func attached(s *core.Snapshot) { s.Attached = []string{"cat.png", "lease 2026.pdf"} }

func replied(s *core.Snapshot) {
	notice := func(id, text string) transcript.Entry {
		return transcript.Entry{ID: "n" + "1", At: noon, Role: transcript.Notice, Text: text, Version: len(id)}
	}
	help := notice("help", fmt.Sprintf("%-42s %s\n%-42s %s\n%-42s %s", "/clear", "forget the conversation and start afresh; updates stay",
		"/model [opus|sonnet|haiku]", "show or switch the model", "/ping-budget [capacity] [refill_rate]", "show or set the ping budget"))
	config := notice("config", "**Main model**: opus `opus` `sonnet` `haiku`\n**Permission mode**: dontAsk (default) `dontAsk` `default` `acceptEdits` `bypassPermissions`\n**Max background forks**: 4 (default)")
	config.ID = "n2"
	s.Chat = []transcript.Entry{help, config}
}

func quieted(s *core.Snapshot) {
	s.Chat = []transcript.Entry{
		{ID: "q1", At: noon.Add(-time.Hour), Role: transcript.Ping, Source: "Parcels", Text: "The parcel has **arrived**.", Quiet: true},
		{ID: "q2", At: noon.Add(-time.Minute), Role: transcript.Ping, Source: "Trains", Text: "Leave **now**."},
	}
}

func TestTheConversationLooksAsItDid(t *testing.T) {
	for name, change := range map[string]func(*core.Snapshot){
		"asked": asked, "forked": forked, "resumed": resumed, "saving": saving, "attached": attached, "replied": replied, "quiet": quieted,
		"all": func(s *core.Snapshot) { asked(s); saving(s); attached(s) },
	} {
		s := open("chat")
		s.next(change)
		for _, size := range sizes {
			compare(t, fmt.Sprintf("chat-%s-%dx%d", name, size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
		}
	}
}

func TestCommandsLookAsTheyDid(t *testing.T) {
	for name, typed := range map[string]string{"all": "/", "some": "/c", "one": "/model op", "none": "/colour"} {
		s := open("chat")
		s.do(action.ChatWrite)
		s.keys(t, typed)
		for _, size := range sizes {
			compare(t, fmt.Sprintf("chat-typed-%s-%dx%d", name, size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
		}
	}
}

// A key that was on its way when the card came decides nothing, nor does one
// for a card that was never on the screen.
func TestAToolCallIsAnsweredOnlyOnceItCouldBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open("chat")
		s.next(asked)
		if a := s.do(action.ApprovalAllow); a.Do != nil || a.Toast == "" {
			t.Errorf("unseen: %#v", a)
		}
		s.screen(80, 14)
		time.Sleep(100 * time.Millisecond)
		if a := s.do(action.ApprovalAllow); a.Do != nil {
			t.Errorf("just come: %#v", a)
		}
		time.Sleep(time.Second)
		if a := s.do(action.ApprovalAllow); a.Do == nil {
			t.Errorf("read: %#v", a)
		}
		s.next(func(c *core.Snapshot) { c.Approvals = c.Approvals[1:] })
		s.screen(80, 14)
		if a := s.do(action.ApprovalAllow); a.Do != nil {
			t.Errorf("a second press answers the next one: %#v", a)
		}
	})
}

func TestTheCommandThatTabChoseIsInSight(t *testing.T) {
	s := open("chat")
	s.do(action.ChatWrite)
	s.keys(t, "/")
	for i := range 2 * len(commands) {
		s.Type(s.c, tea.KeyPressMsg{Code: tea.KeyTab})
		has(t, s.screen(80, 12), "\n▸/"+commands[i%len(commands)].Name+" ")
	}
}

// Whatever is typed, the commands that are shown are those that it may become.
func TestTheChatWithoutCommandsTakesWordsOnly(t *testing.T) {
	p := chatpane.New(nil)
	c := everydayContext(theme.New(theme.Options{Plain: true}))
	p.Sync(c)
	p.Do(c, action.ChatWrite)
	p.Type(c, tea.KeyPressMsg{Code: '/', Text: "/"})
	p.Type(c, tea.KeyPressMsg{Code: tea.KeyTab})
	if a := p.Type(c, tea.KeyPressMsg{Code: tea.KeyEnter}); a.Do != (command.Say{Text: "/"}) {
		t.Errorf("sent %#v", a.Do)
	}
}
