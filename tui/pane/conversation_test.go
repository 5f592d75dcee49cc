package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
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

func TestAToolCallIsAnsweredInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open("chat")
		s.next(asked)
		has(t, s.screen(80, 14), "permission 1 of 2", "0:48 left", "The main session asks: Run this command? rm -r ~/notes/drafts", "y allow", "n deny", "a always allow this command")
		time.Sleep(time.Second)
		if d := cmp.Diff(command.Answer{ID: "a1", Verdict: policy.Allow}, s.do(action.ApprovalAllow).Do); d != "" {
			t.Error(d)
		}
		s.next(func(c *core.Snapshot) { c.Approvals = c.Approvals[1:] })
		screen := s.screen(80, 14)
		has(t, screen, "Open https://example.org/?", "0:58 left")
		lacks(t, "one is left", screen, " of 2")
		time.Sleep(time.Second)
		if d := cmp.Diff(command.Answer{ID: "a2", Verdict: policy.Always}, s.do(action.ApprovalAlways).Do); d != "" {
			t.Error(d)
		}
		s.next(func(c *core.Snapshot) { c.Approvals = nil })
		lacks(t, "the card stays", s.screen(80, 14), "WebFetch")
		if a := s.do(action.ApprovalDeny); a.Do != nil || a.Toast == "" {
			t.Errorf("nothing waits: %#v", a)
		}
	})
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

func TestAToolCallIsSeenInEverySize(t *testing.T) {
	for _, size := range [][2]int{{120, 20}, {80, 12}, {40, 8}, {40, 5}, {40, 2}, {40, 1}} {
		s := open("chat")
		s.next(asked)
		has(t, s.screen(size[0], size[1]), "rm -r")
	}
	s := open("chat")
	s.next(asked)
	has(t, s.Line(s.c, 60), "rm -r", "0:48 left")
	s.do(action.ChatWrite)
	has(t, s.screen(80, 14), "esc, then y allow")
	if screen := strings.Join(drawn(s, s.c, 80, 14, false), "\n"); !strings.Contains(screen, "5, then y allow") {
		t.Errorf("the way to the card is missing:\n%s", screen)
	}
}

func TestAForkHasItsExits(t *testing.T) {
	s := open("chat")
	s.next(forked)
	has(t, s.screen(80, 14), "◐ fork  Plans for the garden · 12 min", "S save", "R report", "X exit")
	if state := s.State(s.c); state != "fork" {
		t.Errorf("state %q", state)
	}
	if a := s.do(action.ForkSave); a.Do != (command.ExitFork{How: command.ExitSave}) {
		t.Errorf("save: %#v", a)
	}
	if a := s.do(action.ForkReport); a.Do != (command.ExitFork{How: command.ExitReport}) {
		t.Errorf("report: %#v", a)
	}
	want := &pane.Question{
		Text: `Leave the fork "Plans for the garden" (12 min)? Nothing is kept: the main conversation gets no report of it.`,
		Yes:  "leave and keep nothing", No: "stay in the fork", Do: command.ExitFork{How: command.ExitDiscard},
	}
	a := s.do(action.ForkExit)
	if d := cmp.Diff(want, a.Ask); d != "" || a.Do != nil {
		t.Errorf("exit (-want +got):\n%s", d)
	}
	s.next(func(c *core.Snapshot) { c.Fork = nil })
	lacks(t, "the banner stays", s.screen(80, 14), "garden")
	for _, id := range []action.ID{action.ForkSave, action.ForkReport, action.ForkExit} {
		if a := s.do(id); a.Do != nil || a.Ask != nil || a.Toast == "" {
			t.Errorf("%s without a fork: %#v", id, a)
		}
	}
}

func TestAResumedForkIsNotSaved(t *testing.T) {
	s := open("chat")
	s.next(resumed)
	has(t, s.do(action.ForkExit).Ask.Text, "Leave this fork (just started)?") // it has no topic
	screen := s.screen(80, 14)
	has(t, screen, "you lead · resumed · just started", "R report", "X exit")
	lacks(t, "save is offered", screen, "S save")
	if a := s.do(action.ForkSave); a.Do != nil || a.Toast == "" {
		t.Errorf("saved: %#v", a)
	}
}

func TestReadOnlyOffersNothing(t *testing.T) {
	s := open("chat")
	s.c.ReadOnly = true
	s.next(func(c *core.Snapshot) { asked(c); forked(c) })
	if screen := s.screen(80, 14); strings.Contains(screen, "y allow") || strings.Contains(screen, "S save") {
		t.Errorf("keys are offered:\n%s", screen)
	}
	if line, _, _ := strings.Cut(s.screen(80, 14), "\n"); strings.TrimSpace(line) != "◐ fork  Plans for the garden · 12 min" {
		t.Errorf("the banner says more than it should: %q", line)
	}
}

func TestTheTitleCountsTheSecondsOfAnAnswer(t *testing.T) {
	for _, c := range []struct {
		change func(*core.Snapshot)
		want   string
	}{
		{func(s *core.Snapshot) {}, ""},
		{func(s *core.Snapshot) { s.Busy, s.BusySince = true, noon.Add(-12*time.Second) }, "answering 0:12 · ctrl+c interrupts"},
		{func(s *core.Snapshot) { s.Busy, s.Engine.State = true, "ready" }, "answering · ctrl+c interrupts"},
		{func(s *core.Snapshot) { s.Busy, s.Engine.State = true, "compacting\n" }, "compacting · ctrl+c interrupts"},
		{func(s *core.Snapshot) { forked(s); asked(s); s.Busy = true }, "2 approvals · fork · answering · ctrl+c interrupts"},
	} {
		s := open("chat")
		s.next(c.change)
		if got := s.State(s.c); got != c.want {
			t.Errorf("state %q, want %q", got, c.want)
		}
	}
}

func TestTabCompletesCommands(t *testing.T) {
	tab := tea.KeyPressMsg{Code: tea.KeyTab}
	for _, c := range []struct {
		typed string
		tabs  int
		want  string // what would be sent
	}{
		{"/pe", 1, "/permissions"},
		{"/PE", 1, "/permissions"},
		{"/c", 1, "/clear"},
		{"/c", 2, "/compact"},
		{"/c", 5, "/clear"}, // round
		{"/x", 1, "/x"},
		{"/model op", 1, "/model op"},
		{"words", 1, "words"},
	} {
		s := open("chat")
		s.do(action.ChatWrite)
		s.keys(t, c.typed)
		for range c.tabs {
			s.screen(80, 12)
			s.Type(s.c, tab)
		}
		if strings.HasPrefix(c.typed, "/") != strings.Contains(s.hints(), "tab complete") {
			t.Errorf("%q: the help line has %q", c.typed, s.hints())
		}
		if a := s.keys(t, "enter"); a.Do != (command.Say{Text: c.want}) {
			t.Errorf("%q and %d tabs: sent %#v", c.typed, c.tabs, a.Do)
		}
	}
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

func TestTypingEndsTheChoiceOfTab(t *testing.T) {
	s := open("chat")
	s.do(action.ChatWrite)
	s.keys(t, "/c")
	s.Type(s.c, tea.KeyPressMsg{Code: tea.KeyTab})
	s.keys(t, "x")
	has(t, s.screen(80, 12), "there is no command /clearx")
	s.keys(t, "backspace")
	lacks(t, "what no longer matches is offered", s.screen(80, 12), "/compact")
}

func TestAnExitDuringAnAnswerSaysThatItWaits(t *testing.T) {
	s := open("chat")
	s.next(forked)
	if a := s.do(action.ForkSave); strings.Contains(a.Toast, "after") {
		t.Errorf("nothing runs: %q", a.Toast)
	}
	s.next(func(c *core.Snapshot) { c.Busy = true })
	has(t, s.do(action.ForkSave).Toast, "after the current answer")
}

func TestTheOnlyCommandIsWrittenWithRoomForWhatItTakes(t *testing.T) {
	s := open("chat")
	s.do(action.ChatWrite)
	s.keys(t, "/per")
	s.Type(s.c, tea.KeyPressMsg{Code: tea.KeyTab})
	if a := s.keys(t, "default", "enter"); a.Do != (command.Say{Text: "/permissions default"}) {
		t.Errorf("sent %#v", a.Do)
	}
}

func TestRepliesKeepTheirColumns(t *testing.T) {
	s := open("chat")
	s.next(replied)
	has(t, s.screen(80, 20), "Permission mode       dontAsk (default) · takes dontAsk,", "Max background forks  4 (default)",
		"/ping-budget [capacity] [refill_rate]")
	has(t, s.screen(120, 20), "/clear                                 forget")
	has(t, s.screen(36, 20), "Permission mode")
	lacks(t, "markdown is shown as it is written", s.screen(80, 20), "**")
}

func TestAFinishedRunIsResumedInTheChat(t *testing.T) {
	s := open("forks")
	chooser := s.Pane.(interface {
		Off(c pane.Context, id action.ID) string
	})
	at := func(run int) {
		s.do(action.ForksUp, action.ForksUp, action.ForksUp, action.ForksUp, action.ForksUp)
		for range run {
			s.do(action.ForksDown)
		}
	}
	s.next(func(c *core.Snapshot) {
		c.Forks = append([]fork.View{}, c.Forks...)
		c.Forks[3].Session = "s-1"
	})
	s.screen(80, 12)
	for run, can := range []bool{false, false, false, true, false} { // the failed one has no session
		at(run)
		a := s.do(action.ForksResume)
		if off := chooser.Off(s.c, action.ForksResume); (off == "") != can || (a.Do != nil) != can {
			t.Errorf("run %d: off %q, answer %#v", run, off, a)
		}
	}
	at(3)
	if a := s.do(action.ForksResume); a.Do != (command.ResumeFork{Run: "44444444"}) || a.Focus != action.Chat {
		t.Errorf("resumed: %#v", a)
	}
	if chooser.Off(s.c, action.ForksStop) == "" {
		t.Error("a finished run can be stopped")
	}
	s.next(func(c *core.Snapshot) { c.Forks = nil })
	if chooser.Off(s.c, action.ForksResume) == "" {
		t.Error("nothing is selected")
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

func TestTheBeginningOfTheChatSaysThatMoreWasSaid(t *testing.T) {
	s := open("chat")
	s.do(action.TailHome)
	lacks(t, "there is no more", s.screen(80, 8), "ollim-bot history")
	s.next(func(c *core.Snapshot) { c.ChatMore = true })
	s.do(action.TailHome)
	has(t, strings.Join(strings.Fields(s.screen(80, 8)), " "), "Earlier messages: ollim-bot history finds them.")
}

// S5: what was denied or interrupted is not said to have been used.
func TestToolsAreNamedByWhatBecameOfThem(t *testing.T) {
	s := open("chat")
	s.next(func(c *core.Snapshot) {
		c.Chat = []transcript.Entry{{ID: "1", Role: transcript.Bot, Text: "Well.", Tools: []string{
			"Read(a.md)", "Bash(rm x)" + transcript.DeniedMark, "Write(b.md)" + transcript.InterruptedMark,
		}}}
	})
	has(t, s.screen(100, 20), "used Read(a.md) · denied: Bash(rm x) · interrupted: Write(b.md)")
}
