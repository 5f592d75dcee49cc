package pane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
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

// cards are the cards of two forks, the first of which has ended.
func cards(s *core.Snapshot) {
	card := func(id post.MessageID) transcript.Entry {
		return transcript.Entry{ID: id, At: noon, Role: transcript.Bot, Embed: &post.Embed{Title: "Forked Session", Buttons: []post.Button{
			{Label: "Report", Action: "act:fork_report:_"}, {Label: "Exit Fork", Action: "act:fork_exit:_"},
		}}}
	}
	s.Chat = []transcript.Entry{card("old"), {ID: "x", At: noon, Role: transcript.User, Text: "and again"}, card("new")}
}

const answer = `## What is left

Two **important** things, *really*, of ` + "`tasks list`" + `:
1. Answer the [landlord](https://example.org/t/42)
   - [x] Thursday, 日本語 👨‍👩‍👧
2. The weekly review
> He comes at **15:00**.
` + "```sh\ngo test ./... && echo \"a long line of code that no pane of a small terminal can show in one row\"\n```" + `
| Task | Cost |
|---|---|
| Sweep | $0.12 |`

func marked(s *core.Snapshot) {
	s.Chat = []transcript.Entry{
		{ID: "1", At: noon, Role: transcript.User, Text: "what's **left**?", Where: "Discord"},
		{ID: "2", At: noon, Role: transcript.Bot, Text: answer, Where: "Discord"},
		{ID: "3", At: noon, Role: transcript.Bot, Text: "All of it.", Where: "Discord"},
		{ID: "4", At: noon, Role: transcript.Bot, Text: "One is **urg", Streaming: true},
	}
}

// carded gives the card's buttons what the core gives them.
func carded(s *core.Snapshot) {
	s.Chat = append([]transcript.Entry{}, s.Chat...)
	e := *s.Chat[3].Embed
	e.Buttons = []post.Button{{Label: "Done", Action: "act:task_done:7"}, {Label: "Remind me", Action: "act:agent:1a2b3c4d"}}
	s.Chat[3].Embed = &e
}

// buttons are those of the card.
func buttons(ids ...string) change {
	return func(c *core.Snapshot) {
		card := *c.Chat[3].Embed
		card.Buttons = nil
		for i, id := range ids {
			card.Buttons = append(card.Buttons, post.Button{Label: []string{"Remind me", "Other time…", "Later"}[i], Action: id})
		}
		c.Chat = slices.Clone(c.Chat)
		c.Chat[3].Embed = &card
	}
}

// calls are one tool call that waits.
func calls(a policy.Approval) change {
	a.ID, a.Until = "b", noon.Add(time.Minute)
	return func(c *core.Snapshot) { c.Approvals = []policy.Approval{a} }
}

func message(i int) transcript.Entry {
	return transcript.Entry{ID: post.MessageID(fmt.Sprint("n", i)), At: noon, Role: transcript.Bot, Text: fmt.Sprintf("message %d", i)}
}

// spoken is a chat of n messages.
func spoken(n int) change {
	return func(c *core.Snapshot) {
		c.Chat = nil
		for i := range n {
			c.Chat = append(c.Chat, message(i))
		}
	}
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
		{"what would be written is behind its file and is read in full", "chat", passwd, `
			@80x14 => The main session asks: Write the file /etc/passwd? | user0:x:0:0::/home/user0:/bin/sh ⏎ | p read all | y allow
			approval.read      => does | reads ⏎user0:x:0:0::/home/user0:/bin/sh⏎user1: | reads ⏎user39:x:39:39::/home/user39:/bin/sh⏎ | reads y allows it and n denies it
			~1s approval.allow => does Answer ID=w1 Verdict=allowed`, nil},
		{"a call that came while another was read is not allowed at once", "chat", passwd, `
			@80x14
			~1s approval.read (two others wait)
			~1m approval.allow => nothing | says
			~1s approval.allow => does Answer ID=a1 Verdict=allowed`, map[string]change{"two others wait": asked}},
		{"a key that was on its way when it came decides nothing", "chat", nil, `
			(two others wait) approval.allow => nothing | says
			~100ms approval.allow => nothing
			~1s approval.allow    => does Answer ID=a1 Verdict=allowed
			(the first is answered)
			approval.allow        => nothing`, map[string]change{"two others wait": asked}},
		{"it is answered with the keys that there are", "chat", asked, `
			@80x12 #approval.allow=f2 #approval.deny= #go.chat=f5 => line: f2 : a 
			blur                                                  => " f5, then f2 allow  : deny"
			# #go.chat=                                           => " chat, then y allow"
			#                                                     => 5, then y allow`, nil},
	})
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
		{"it asks with the keys that there are", "chat", saving, `
			@120x14 #fork.save=f2 #fork.exit= => The agent asks: save it? f2 yes, R report | f2 save | R report | : exit
			@60x5                              => save it? f2 yes, R report
			# #fork.save= #fork.report= #fork.exit= #view.palette= => save it? a key in keys.yaml
			@120x14                            => save it? a key in keys.yaml | !"  save "`, nil},
		{"only the fork of now has buttons", "chat", func(c *core.Snapshot) { cards(c); forked(c) }, `
			@80x20                          => once: [Report] [Exit Fork] ended | twice: [Exit Fork]
			chat.buttons >enter             => sends Click Message=new ID=act:fork_report:_
			tail.home chat.buttons >enter   => sends Click Message=new ID=act:fork_report:_
			(the fork ends)                 => twice: [Report] [Exit Fork] ended
			chat.buttons                    => nothing | says`, nil},
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
		{"a long paste is one word", "chat", nil, `
			@80x14 chat.write "look: " {` + strings.Repeat(`a line of a log\n`, 1204) + `} " please" => ▸ look: [pasted 1,204 lines] please
			enter => does Say Text=look: ` + strings.Repeat(`a line of a log\n`, 1203) + `a line of a log please | !pasted`, nil},
		{"pastes of one size are distinguished and deleted as a whole", "chat", nil, `
			@80x14 chat.write {` + strings.Repeat(`a\n`, 20) + `} {` + strings.Repeat(`b\n`, 20) + `} => [pasted 20 lines][pasted 20 lines, 2]
			backspace => [pasted 20 lines] | !, 2
			enter     => does Say Text=` + strings.Repeat(`a\n`, 19) + `a`, nil},
		{"a short one is written", "chat", nil, `chat.write {two\r\nlines\x1b[31m} enter => does Say Text=two\nlines`, nil},
		{"typing ends the choice of tab", "chat", nil, `
			chat.write "/c" tab "x" => there is no command /clearx
			backspace               => !/compact`, nil},
		{"the only command is written with room for what it takes", "chat", nil, `
			chat.write "/per" tab "default" enter => does Say Text=/permissions default`, nil},
		{"a paste unfolds in its place, with the caret behind it", "chat", nil, `
			@80x40 chat.write "see " {` + strings.Repeat(`a line\n`, 11) + `the last} => see [pasted 12 lines] | hints: ctrl+o show the paste
			ctrl+o   => nothing | a line | the last | !pasted | !hints: ctrl+o
			" words" enter => does Say Text=see ` + strings.Repeat(`a line\n`, 11) + `the last words`, nil},
		{"one that the line does not bear is read on a page", "chat", nil, `
			chat.write {` + strings.Repeat(`x\n`, 400) + `x} note
			ctrl+o => opens pasted | page: ` + strings.Repeat("x⏎", 400) + `x | as noted
			enter  => does Say Text=` + strings.Repeat(`x\n`, 400) + `x`, nil},
		{"one of many letters, too", "chat", nil, `
			chat.write {` + strings.Repeat("long words ", 2000) + `end} note
			ctrl+o => opens pasted | page: ` + strings.Repeat("long words ", 2000) + `end | as noted
			enter  => does Say Text=` + strings.Repeat("long words ", 2000) + `end`, nil},
		{"and one that has a name of pastes in it", "chat", nil, `
			chat.write {` + strings.Repeat(`x\n`, 20) + `[pasted 21 lines]} note
			ctrl+o => opens pasted | page: ` + strings.Repeat("x⏎", 20) + `[pasted 21 lines] | as noted
			enter  => does Say Text=` + strings.Repeat(`x\n`, 20) + `[pasted 21 lines]`, nil},
		{"where nothing was pasted the key does nothing", "chat", nil, `
			chat.write "words" ctrl+o => nothing | ▸ words | !hints: ctrl+o`, nil},
		{"a button is pressed in its place", "chat", buttons("act:agent:1", "act:agent:2"), `
			@80x14 <Other>  => does Click Message=4 ID=act:agent:2
			<<Other>        => nothing
			blur <Other>    => does Click Message=4 ID=act:agent:2
			<<Other>        => nothing`, nil},
		{"one that needs a time asks for it, by key and by mouse", "chat", buttons("act:propose:1a2b3c4d.yes", "act:propose_when:1a2b3c4d.when", "act:ping_later:p1"), `
			@80x30 chat.buttons >down >enter => does | sends | opens | closes
			>"tomorrow 9:00" >enter  => sends Click Message=4 ID=act:propose_when:1a2b3c4d.when Value=2026-11-24 09:00
			chat.buttons >down >down >enter  => does | sends | opens | closes
			>"tomorrow 9:00" >enter  => sends Click Message=4 ID=act:ping_later:p1 Value=2026-11-24 09:00
			<Remind> => does Click Message=4 ID=act:propose:1a2b3c4d.yes
			<Other>  => does | opens
			<Later>  => does | opens`, nil},
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
			chat.write "` + c.typed + `" => ` + map[bool]string{true: "hints:", false: "!hints:"}[c.typed[0] == '/'] + ` tab complete
			` + c.tabs + `
			enter => does Say Text=` + c.want, nil}})
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
		// The line above the oldest message, which says that more was said, is none.
		{"the marked message is answered, also where more was said before", "chat", spoken(30), `
			@80x14 tail.up (there is more) tail.up => ▸bot    message 27
			chat.reply => reply to bot: message 27`, map[string]change{"there is more": func(c *core.Snapshot) { c.ChatMore = true }}},
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

func (s *stage) paste(text string) pane.Answer { return s.Type(s.c, tea.PasteMsg{Content: text}) }

// unfold shows what was pasted.
func (s *stage) unfold() pane.Answer {
	return s.Type(s.c, tea.KeyPressMsg{Code: 'o', Mod: tea.ModCtrl})
}

// writing is a chat in which something is being written.
func writing() *stage {
	s := open("chat")
	s.do(action.ChatWrite)
	return s
}

// hints are the keys of the help line.
func (s *stage) hints() string {
	var out []string
	for _, b := range s.Pane.(interface{ Hint() []key.Binding }).Hint() {
		out = append(out, b.Help().Key+" "+b.Help().Desc)
	}
	return strings.Join(out, ", ")
}

func TestAHugePasteIsCutAndSaysSo(t *testing.T) {
	s := writing()
	toast := s.paste(strings.Repeat("é", 200<<10)).Toast
	if say, ok := s.keys(t, "enter").Do.(command.Say); !ok || len(say.Text) > 256<<10 || toast == "" {
		t.Errorf("%d bytes are sent, and it says %q", len(say.Text), toast)
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

func TestWhatIsSentIsTheSameFoldedOrNot(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		piece := rapid.SampledFrom([]string{"a", "\n", "\n\n", "\t", " ", "\r\n", "世界", "é", "👨‍👩‍👧", "\x1b[31m", "\ufffd", "\xff", "[pasted 9 lines]", "[pasted 10 lines]", "long words "})
		return strings.Join(rapid.SliceOfN(piece, 1, 60).Draw(t, "pieces"), "") + strings.Repeat("\nx", rapid.IntRange(0, 12).Draw(t, "lines"))
	})
	testkit.Check(t, func(t *rapid.T) {
		folded, unfolded := writing(), writing()
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "typed") {
				word := rapid.SampledFrom([]string{"w", "世界", " "}).Draw(t, "word")
				for _, s := range []*stage{folded, unfolded} {
					s.Type(s.c, tea.KeyPressMsg{Code: 'w', Text: word})
				}
				continue
			}
			paste := text.Draw(t, "paste")
			folded.paste(paste)
			unfolded.paste(paste)
			if rapid.Bool().Draw(t, "unfolded") {
				unfolded.unfold()
			}
		}
		enter := tea.KeyPressMsg{Code: tea.KeyEnter}
		want, _ := folded.Type(folded.c, enter).Do.(command.Say)
		got, _ := unfolded.Type(unfolded.c, enter).Do.(command.Say)
		if got.Text != want.Text {
			t.Fatalf("sent %q, folded %q", got.Text, want.Text)
		}
	})
}

func TestChatStaysWhereItsReaderIs(t *testing.T) {
	s := open("chat")
	s.next(spoken(30))
	has(t, s.screen(60, 8), "message 29")
	s.do(action.TailPageUp)
	before := strings.Split(s.screen(60, 8), "\n")[:4]
	for i := 30; i < 57; i++ { // each new message pushes an old one out
		s.next(func(c *core.Snapshot) {
			c.Chat = append(c.Chat[:len(c.Chat):len(c.Chat)], message(i))
			if i >= 40 {
				c.Chat = c.Chat[1:]
			}
		})
		if d := cmp.Diff(before, strings.Split(s.screen(60, 8), "\n")[:4]); d != "" {
			t.Fatalf("message %d moved the reader:\n%s", i, d)
		}
	}
	has(t, s.screen(60, 8), "new")
	s.do(action.TailFollow)
	has(t, s.screen(60, 8), "message 56")
}
