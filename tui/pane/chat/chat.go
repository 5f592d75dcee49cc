// Package chat is the dashboard's pane of the conversation: the messages of the user and the bot, and the input line.
// Without Discord, this is where the bot's messages arrive. It must not send anything directly: it returns a message
// as a command.
package chat

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Pane is the chat pane. Use New.
type Pane struct {
	view    *talk
	field   widget.Area
	writing bool
	past    history
	folds   folds
	reply   post.MessageID  // the message being answered, or empty
	clicks  []command.Click // the buttons of the last drawing, by their places
	clicked *command.Click  // the button pressed with the mouse
	// commands are the slash commands, in the order of suggestions; tab is the choice among them.
	commands []command.Command
	tab      completion
	asked    seen
	reading  string // the unanswered tool call that was read in full
}

// New returns the pane. commands are the slash commands.
func New(commands []command.Command) *Pane {
	t := &talk{snap: &core.Snapshot{}, kept: map[post.MessageID]*kept{}, theme: theme.New(theme.Options{})}
	t.Source, t.Wrap = t, true
	return &Pane{view: t, commands: commands}
}

// State implements pane.Pane.
func (p *Pane) State(c pane.Context) string {
	var parts []string
	if n := len(c.Snap.Approvals); n > 0 {
		parts = append(parts, words.Grouped(uint64(n), "approval"))
	}
	if c.Snap.Fork != nil {
		parts = append(parts, textFork)
	}
	switch {
	case c.Snap.Busy:
		parts = append(parts, working(c.Snap))
		if !c.ReadOnly {
			parts = append(parts, "ctrl+c interrupts")
		}
	case !p.view.Following():
		parts = append(parts, p.view.State())
	}
	return strings.Join(parts, " · ")
}

// maxState is the maximum width of the engine's state in the border.
const maxState = 32

// working returns the engine's state during an answer, and its duration.
func working(s *core.Snapshot) string {
	word := widget.Cut(strings.Join(strings.Fields(widget.Tidy(s.Engine.State)), " "), maxState)
	if word == "" || word == "ready" {
		word = "answering"
	}
	if s.BusySince.IsZero() {
		return word
	}
	return word + " " + words.Elapsed(s.At.Sub(s.BusySince))
}

// Line implements pane.Pane: the pending tool call, else the last message.
func (p *Pane) Line(c pane.Context, w int) string {
	out := []widget.Span{{Role: theme.Strong, Text: textName}}
	if len(c.Snap.Approvals) > 0 {
		return widget.Brush{Theme: c.Theme}.Line(min(w, len(textName)), out...) + p.askLine(c, w-len(textName))
	}
	if n := len(c.Snap.Chat); n > 0 {
		e := c.Snap.Chat[n-1]
		out = append(out, speaker(c.Theme, e)...)
		out = append(out, widget.Span{Text: " " + strings.Join(strings.Fields(MessageText(e)), " ")})
	} else {
		out = append(out, widget.Span{Role: theme.Dim, Text: textSilence})
	}
	return widget.Brush{Theme: c.Theme}.Line(w, out...)
}

// Do implements pane.Pane.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	switch id {
	case action.ApprovalAllow, action.ApprovalDeny, action.ApprovalAlways:
		return p.answer(c, verdicts[id])
	case action.ApprovalRead:
		return p.readCall(c)
	case action.ForkSave, action.ForkReport, action.ForkExit:
		return p.exit(c, id)
	case action.ChatWrite, action.ChatSend:
		p.writing = true
		return pane.Answer{Focus: action.Chat}
	case action.ChatReply:
		return p.replyTo(c)
	case action.ChatButtons:
		return p.choose(c)
	case action.Back:
		p.view.EndFind()
		return pane.Answer{}
	case action.TailCopyLine:
		return p.view.copyOne()
	case action.TailCopyAll:
		return p.view.copyAll()
	}
	p.view.Names = c.Names(action.Chat)
	reply, _ := p.view.Do(id.Verb())
	return pane.Answer{Toast: reply.Toast}
}

// Press implements pane.Pane: it presses a button, focused or not; a click on the input line starts a message.
func (p *Pane) Press(_ pane.Context, at widget.Place, focused bool) action.ID {
	if i := int(at); i >= 0 && i < len(p.clicks) {
		click := p.clicks[i]
		p.clicked = &click
		return action.ChatButtons
	}
	if at == widget.Inner && focused {
		return action.ChatWrite
	}
	return ""
}

// Capture implements pane.Pane.
func (p *Pane) Capture() bool { return p.writing || p.view.Finding() }

// Hint is the help line while the pane takes every key.
func (p *Pane) Hint() []key.Binding {
	if !p.writing {
		return p.view.Hint()
	}
	keys := writingKeys
	if _, _, ok := p.command(); ok {
		keys = commandKeys
	}
	if p.folded() { // before the keys that a narrow line leaves out
		keys = slices.Insert(slices.Clone(keys), 1, key.NewBinding(key.WithKeys(unfoldKey), key.WithHelp(unfoldKey, "show the paste")))
	}
	return keys
}

// Type implements pane.Pane.
func (p *Pane) Type(_ pane.Context, msg tea.Msg) pane.Answer {
	if !p.writing {
		p.view.Type(msg)
		return pane.Answer{}
	}
	return p.compose(msg)
}

// send returns the written message. The input line stays open.
func (p *Pane) send() pane.Answer {
	text := strings.TrimSpace(p.folds.unfold(p.field.Text()))
	if text == "" {
		p.writing = false
		return pane.Answer{}
	}
	say := command.Say{Text: text, ReplyTo: p.reply}
	p.past.add(text)
	p.field.Clear()
	p.folds, p.reply = folds{}, ""
	p.view.Follow()
	return pane.Answer{Do: say}
}

// Return restores a text that could not be sent, unless the user has written another one.
func (p *Pane) Return(text string) {
	if p.field.Text() == "" {
		p.recall(text)
	}
}

// Sync implements pane.Pane.
func (p *Pane) Sync(c pane.Context) {
	p.view.sync(c.Snap)
	if calls := c.Snap.Approvals; len(calls) > 0 { // the top line shows it
		p.asked.show(calls[0].ID)
	}
	p.past.seed(c.Snap.Chat)
	if entry(c.Snap.Chat, p.reply) == nil {
		p.reply = ""
	}
}

var writingKeys = []key.Binding{
	key.NewBinding(key.WithHelp("enter", "send")),
	key.NewBinding(key.WithHelp("alt+enter", "new line")),
	key.NewBinding(key.WithHelp("↑", "sent before")),
	key.NewBinding(key.WithHelp("esc", "keep for later")),
}

var commandKeys = []key.Binding{
	key.NewBinding(key.WithHelp("tab", "complete")),
	key.NewBinding(key.WithHelp("enter", "run")),
	key.NewBinding(key.WithHelp("esc", "keep for later")),
}

// offers draws the enabled keys with their words from the table; more replaces the last word. Before them is the key
// that must be pressed first: "esc" to leave the input line, or the key of the pane.
func (p *Pane) offers(c pane.Context, focused bool, more string, ids ...action.ID) []widget.Span {
	if c.ReadOnly {
		return []widget.Span{{Role: theme.Dim, Text: " " + textLocked}}
	}
	var out []widget.Span
	names := c.Names(action.Chat)
	for i, id := range ids {
		a, ok := c.Keys.Get(action.Chat, id)
		key, word := names.Badge(id), a.Short
		if !ok || key == "" || a.Off(*c.Snap) != "" {
			continue
		}
		if i == len(ids)-1 {
			word = cmp.Or(more, word)
		}
		out = append(out, widget.Span{Text: " "}, widget.Span{Role: theme.Key, Text: key},
			widget.Span{Role: theme.Dim, Text: " " + word + " "})
	}
	first := ""
	switch {
	case !focused:
		if first = names.Key(action.Chat.Go()); first == "" {
			first = textOpen
		}
	case p.Capture():
		first = "esc"
	}
	if first == "" || len(out) == 0 {
		return out
	}
	return append([]widget.Span{{Text: " "}, {Role: theme.Key, Text: first}, {Role: theme.Dim, Text: textThen}}, out...)
}
