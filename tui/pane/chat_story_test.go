package pane_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/transcript"
)

// calls are one tool call that waits.
func calls(a policy.Approval) change {
	a.ID, a.Until = "b", noon.Add(time.Minute)
	return func(c *core.Snapshot) { c.Approvals = []policy.Approval{a} }
}

// finished is a chat whose last answer has ended.
func finished(c *core.Snapshot) {
	c.Chat = slices.Clone(c.Chat)
	last := &c.Chat[len(c.Chat)-1]
	last.Version, last.Text, last.Streaming = 1, "I move the review to tomorrow.", false
}

func TestToolCallsAreAnsweredAsTheirStoriesSay(t *testing.T) {
	const lines = "git status\n\nif true; then\n\trm -rf build\nfi"
	const label = "Run this command? git status ⏎ ⏎ if true; then ⏎ rm -rf build ⏎ fi"
	tell(t, []story{
		{"in order", "chat", asked, `
			@80x14 => permission 1 of 2 | 0:48 left | The main session asks: Run this command? rm -r ~/notes/drafts | y allow | n deny
			=> a always allow this command
			~1s approval.allow      => does Answer ID=a1 Verdict=allowed
			(the first is answered) => Open https://example.org/? | 0:58 left | !" of 2"
			~1s approval.always     => does Answer ID=a2 Verdict=always allowed
			(all are answered)      => !WebFetch
			approval.deny           => nothing | says`, nil},
		{"they are seen in every size", "chat", asked, `
			@120x20 => rm -r
			@80x12  => rm -r
			@40x8   => rm -r
			@40x5   => rm -r
			@40x2   => rm -r
			@40x1   => rm -r | line: rm -r | line: 0:48 left
			@80x14 chat.write => esc, then y allow`, nil},
		{"a short one is shown as it is", "chat", func(c *core.Snapshot) {
			asked(c)
			c.Approvals[0].Label, c.Approvals[0].Text = "Run this command? ls ⏎ rm -rf ~", "ls\nrm -rf ~"
		}, `@80x14 => The main session asks: Run this command? ls ⏎ rm -rf ~ | !read all`, nil},
		{"one is read with its own lines", "chat", calls(policy.Approval{Tool: "Bash", Label: label, Question: "Run this command?", Text: lines}), `
			@80x14        => !read all
			approval.read => reads asks: Run this command?⏎⏎git status⏎⏎if true; then⏎    rm -rf build⏎fi⏎ | reads y allows it and n denies it
			(it is cut)   => git status … | p read all`, map[string]change{
			"it is cut": calls(policy.Approval{Tool: "Bash", Label: "Run this command? git status …", Question: "Run this command?", Text: lines}),
		}},
		{"a question about money has no tool: it is a sentence of its own", "chat", calls(policy.Approval{
			Session: "conversation", Label: "Keep going past the cap today? $2.00 of $2.00.", Question: "Keep going past the cap today?", Text: "$2.00 of $2.00.",
		}), `
			@80x14          => The conversation asks: Keep going past the cap today? $2.00 of $2.00. | y allow | n deny | !run | !always
			approval.always => nothing | says
			approval.read   => reads Keep going past the cap today?⏎⏎$2.00 of $2.00.⏎`, nil},
	})
	s := open("chat")
	s.next(asked)
	has(t, strings.Join(drawn(s, s.c, 80, 14, false), "\n"), "5, then y allow")
}

func TestAForkIsLedAndLeftAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"it has its exits", "chat", forked, `
			@80x14      => ◐ fork  Plans for the garden · 12 min | S save | R report | X exit | state: fork
			fork.save   => does ExitFork How=save
			fork.report => does ExitFork How=report
			fork.exit   => does
			=> asks Leave the fork "Plans for the garden" (12 min)? Nothing is kept: the main conversation gets no report of it. / leave and keep nothing / stay in the fork / ExitFork
			(the fork ends) => !garden
			fork.save   => nothing | says
			fork.report => nothing | says
			fork.exit   => nothing | says`, nil},
		{"a resumed one is not saved", "chat", resumed, `
			@80x14    => you lead · resumed · just started | R report | X exit | !S save
			fork.exit => asks Leave this fork (just started)?
			fork.save => nothing | says`, nil},
		{"an exit during an answer says that it waits", "chat", forked, `
			(the bot answers) fork.save => says after the current answer`, nil},
		{"a banner says what it can in few cells", "chat", saving, `
			@40x14           => save it? S yes, R report, X exit | 12 min
			(it is resumed)  => you lead · resumed
			(it is another) @28x14 => … · 12 min`, map[string]change{"it is resumed": resumed, "it is another": forked}},
	})
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

func TestMessagesAreWrittenAsTheirStoriesSay(t *testing.T) {
	tell(t, []story{
		{"in several lines", "chat", nil, `
			chat.write => leads to chat
			"hello" alt+enter "you" ctrl+j "x" backspace => ▸ hello | "   you"
			enter      => does Say Text=hello\nyou
			enter      => nothing`, nil},
		{"a draft is kept", "chat", nil, `
			chat.write "half a thought" escape => half a thought
			chat.write "!" enter => does Say Text=half a thought!`, nil},
		{"what was sent can be called back", "chat", nil, `
			@80x14 chat.write "first" enter "second" alt+enter "line" enter "a draft" up => ▸ second | "   line"
			up      => ▸ second
			up      => ▸ first
			up up   => ▸ done! what's left today?
			down down down
			down down      => ▸ a draft
			up up up enter => does Say Text=first`, nil},
		{"a reply names its message", "chat", nil, `
			@80x14 tail.home chat.reply "taken" => reply to ping · Medication: Time for the 2 pm pill.
			enter        => does Say Text=taken ReplyTo=1
			"more" enter => does Say Text=more`, nil},
		{"and is dropped by backspace, and with its message", "chat", nil, `
			@80x14 chat.reply  => reply to bot: I move the review to
			backspace          => !reply to
			escape chat.reply (the message goes) => !reply to`, map[string]change{"the message goes": func(c *core.Snapshot) { c.Chat = c.Chat[:2] }}},
		{"a long paste stands as one word", "chat", nil, `
			@80x14 chat.write "look: " {` + strings.Repeat(`a line of a log\n`, 1204) + `} " please" => ▸ look: [pasted 1,204 lines] please
			enter => does Say Text=look: ` + strings.Repeat(`a line of a log\n`, 1203) + `a line of a log please | !pasted`, nil},
		{"pastes of one size are told apart and deleted as a whole", "chat", nil, `
			@80x14 chat.write {` + strings.Repeat(`a\n`, 20) + `} {` + strings.Repeat(`b\n`, 20) + `} => [pasted 20 lines][pasted 20 lines, 2]
			backspace => [pasted 20 lines] | !, 2
			enter     => does Say Text=` + strings.Repeat(`a\n`, 19) + `a`, nil},
		{"a short one is written", "chat", nil, `chat.write {two\r\nlines\x1b[31m} enter => does Say Text=two\nlines`, nil},
		{"typing ends the choice of tab", "chat", nil, `
			chat.write "/c" tab "x" => there is no command /clearx
			backspace               => !/compact`, nil},
		{"the only command is written with room for what it takes", "chat", nil, `
			chat.write "/per" tab "default" enter => does Say Text=/permissions default`, nil},
		{"the button of a card is pressed by key", "chat", carded, `
			chat.buttons => opens The plumber comes at 15:00 | form: ▸ Done | form: Remind me
			>enter       => sends Click Message=4 ID=act:task_done:7
			chat.buttons >down >enter => sends Click Message=4 ID=act:agent:1a2b3c4d`, nil},
	})
	for _, c := range []struct{ typed, tabs, want string }{
		{"/pe", "tab", "/permissions"}, {"/PE", "tab", "/permissions"}, {"/c", "tab", "/clear"}, {"/c", "tab\n tab", "/compact"}, {"/c", "tab\n tab\n tab\n tab\n tab", "/clear"}, // round
		{"/x", "tab", "/x"}, {"/model op", "tab", "/model op"}, {"words", "tab", "words"},
	} {
		tell(t, []story{{"tab completes " + c.typed + " to " + c.want, "chat", nil, `
			chat.write "` + c.typed + `"
			` + c.tabs + `
			enter => does Say Text=` + c.want, nil}})
		s := writing()
		s.keys(t, c.typed)
		if strings.Contains(s.hints(), "tab complete") != (c.typed[0] == '/') {
			t.Errorf("%q: the help line has %q", c.typed, s.hints())
		}
	}
}

func TestTheConversationIsShownAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"words are found and copied", "chat", nil, `
			@60x12 tail.find "landlord" enter => 2 of 2
			tail.prev      => 1 of 2 | answer the landlord about Thursday
			tail.copy-line => copies Two things are left:
			tail.copy-all  => copies 14:01 ping (Landlord): The plumber comes at 15:00`, nil},
		{"as they are drawn", "chat", marked, `@60x30 tail.find "important things" => 1 of 1`, nil},
		{"what the user wrote stays as it was written", "chat", marked, `
			@60x40 => what's **left**? · from Discord | All of it. · also in Discord | One is **urg**▌`, nil},
		{"an answer grows in place", "chat", nil, `
			@60x12       => I move the review to▌
			(it is done) => I move the review to tomorrow. | !tomorrow.▌`, map[string]change{"it is done": finished}},
		{"its beginning says that more was said", "chat", nil, `
			@160x8 tail.home        => !ollim-bot history
			(there is more) tail.home => Earlier messages: ollim-bot history finds them.`, map[string]change{"there is more": func(c *core.Snapshot) { c.ChatMore = true }}},
		{"replies keep their columns", "chat", replied, `
			@80x20  => Permission mode       dontAsk (default) · takes dontAsk, | Max background forks  4 (default)
			=> /ping-budget [capacity] [refill_rate] | !**
			@120x20 => /clear                                 forget
			@36x20  => Permission mode`, nil},
		{"S5: what was denied or interrupted is not said to have been used", "chat", func(c *core.Snapshot) {
			c.Chat = []transcript.Entry{{ID: "1", Role: transcript.Bot, Text: "Well.", Tools: []string{
				"Read(a.md)", "Bash(rm x)" + transcript.DeniedMark, "Write(b.md)" + transcript.InterruptedMark,
			}}}
		}, `@100x20 => used Read(a.md) · denied: Bash(rm x) · interrupted: Write(b.md)`, nil},
	})
	for want, change := range map[string]change{
		"":                                   func(*core.Snapshot) {},
		"answering 0:12 · ctrl+c interrupts": func(s *core.Snapshot) { s.Busy, s.BusySince = true, noon.Add(-12*time.Second) },
		"answering · ctrl+c interrupts":      func(s *core.Snapshot) { s.Busy, s.Engine.State = true, "ready" },
		"compacting · ctrl+c interrupts":     func(s *core.Snapshot) { s.Busy, s.Engine.State = true, "compacting\n" },
		"2 approvals · fork · answering · ctrl+c interrupts": func(s *core.Snapshot) { forked(s); asked(s); s.Busy = true },
	} {
		s := open("chat")
		s.next(change)
		if got := s.State(s.c); got != want {
			t.Errorf("the title says %q, want %q", got, want)
		}
	}
}
