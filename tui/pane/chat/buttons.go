package chat

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/post"
	"ollimbot/core/transcript"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// choice is a card whose buttons are being chosen among.
type choice struct {
	on   bool
	card post.MessageID
	at   int
}

var buttonKeys = []key.Binding{
	key.NewBinding(key.WithHelp("←/→", "choose")),
	key.NewBinding(key.WithHelp("enter", "press")),
	key.NewBinding(key.WithHelp("esc", "leave")),
}

// entry is a message of the conversation by its id, or nil.
func entry(chat []transcript.Entry, id post.MessageID) *transcript.Entry {
	for i := range chat {
		if chat[i].ID == id && id != "" {
			return &chat[i]
		}
	}
	return nil
}

// forkAction begins the actions that end an interactive fork.
const forkAction = "fork_"

// exitCard is the card whose buttons end the fork that the chat stands in; empty
// where it stands in none. A fork that has ended has left its own card behind.
func exitCard(s *core.Snapshot) post.MessageID {
	if s.Fork == nil {
		return ""
	}
	for i := len(s.Chat) - 1; i >= 0; i-- {
		if e := s.Chat[i].Embed; e != nil && slices.ContainsFunc(e.Buttons, exits) {
			return s.Chat[i].ID
		}
	}
	return ""
}

// exits reports whether a button ends a fork. What was sent has the id of its
// button as its action.
func exits(b post.Button) bool {
	name, _, sent := post.ParseCustomID(b.Action)
	if !sent {
		name = b.Action
	}
	return strings.HasPrefix(name, forkAction)
}

// pressable are the buttons of a message that do something now.
func pressable(e *transcript.Entry, exit post.MessageID) []post.Button {
	if e == nil || e.Embed == nil {
		return nil
	}
	if e.ID == exit || !slices.ContainsFunc(e.Embed.Buttons, exits) {
		return e.Embed.Buttons
	}
	return slices.DeleteFunc(slices.Clone(e.Embed.Buttons), exits)
}

// buttons are those that can be pressed of the message with an id.
func buttons(s *core.Snapshot, id post.MessageID) []post.Button {
	return pressable(entry(s.Chat, id), exitCard(s))
}

// Off says why an action cannot be used now; empty means that it can.
func (p *Pane) Off(c pane.Context, id action.ID) string {
	if id == action.ChatButtons && !anyButton(c.Snap) {
		return textNoButtons
	}
	return ""
}

// anyButton reports whether a card has a button that does something now.
func anyButton(s *core.Snapshot) bool {
	exit := exitCard(s)
	return slices.ContainsFunc(s.Chat, func(e transcript.Entry) bool { return len(pressable(&e, exit)) > 0 })
}

// choose begins to choose among the buttons of the marked card, else of the
// newest one.
func (p *Pane) choose(c pane.Context) pane.Answer {
	if c.ReadOnly {
		return pane.Answer{Toast: textReadOnlyPress}
	}
	var card *transcript.Entry
	exit := exitCard(c.Snap)
	for i := range c.Snap.Chat {
		if e := &c.Snap.Chat[i]; len(pressable(e, exit)) > 0 {
			card = e
		}
	}
	if e := p.marked(c); e != nil && len(pressable(e, exit)) > 0 {
		card = e
	}
	if card == nil {
		return pane.Answer{Toast: textNoButtons}
	}
	p.pick = choice{on: true, card: card.ID}
	return pane.Answer{Focus: action.Chat}
}

// marked is the message that the reader stands at; nil while the pane follows.
func (p *Pane) marked(c pane.Context) *transcript.Entry {
	if i := p.view.Mark(); !p.view.Following() && i < uint64(len(c.Snap.Chat)) {
		return &c.Snap.Chat[i]
	}
	return nil
}

// typeChoice takes the keys while a button is being chosen.
func (p *Pane) typeChoice(c pane.Context, msg tea.Msg) pane.Answer {
	press, ok := msg.(tea.KeyPressMsg)
	list := buttons(c.Snap, p.pick.card)
	n := len(list)
	if !ok || n == 0 {
		return pane.Answer{}
	}
	k := press.Keystroke()
	switch k {
	case "esc":
		p.pick = choice{}
	case "left", "shift+tab", "up":
		p.pick.at = (p.pick.at + n - 1) % n
	case "right", "tab", "down":
		p.pick.at = (p.pick.at + 1) % n
	case "enter":
		click := command.Click{Message: p.pick.card, ID: list[min(p.pick.at, n-1)].Action}
		p.pick = choice{}
		return pane.Answer{Do: click}
	default:
		if len(k) == 1 && k[0] >= '1' && int(k[0]-'1') < n {
			p.pick.at = int(k[0] - '1')
		}
	}
	return pane.Answer{}
}

// choosing draws the card's title and its buttons, the chosen one in reverse and
// behind a pointer. Where not all fit, the chosen one is shown and counted.
func (p *Pane) choosing(c pane.Context, w, h int) []widget.Row {
	e, list := entry(c.Snap.Chat, p.pick.card), buttons(c.Snap, p.pick.card)
	if len(list) == 0 || h < 1 {
		return nil
	}
	b := widget.Brush{Theme: c.Theme}
	p.pick.at = min(p.pick.at, len(list)-1)
	var row []widget.Span
	for i := range list {
		row = append(row, p.button(c, list, i)...)
	}
	if widget.Width(row) > w {
		row = append(p.button(c, list, p.pick.at), widget.Span{Role: theme.Dim, Text: turn(p.pick.at+1, len(list))})
	}
	out := widget.Rows(widget.Inner, b.Line(w, row...))
	if h < 4 {
		return out
	}
	title := []widget.Span{{Role: theme.Accent, Text: textPress}, {Text: widget.Cut(e.Embed.Title, max(8, w-len(textPress)-4))}}
	return append([]widget.Row{{Text: b.Rule(w, title, nil), Place: widget.Ruled}}, out...)
}

func (p *Pane) button(c pane.Context, list []post.Button, i int) []widget.Span {
	pointer, role := " ", theme.Key
	if i == p.pick.at {
		pointer, role = c.Theme.Glyph(theme.Pointer), theme.Caret
	}
	return []widget.Span{{Role: theme.Accent, Text: pointer}, {Role: role, Text: "[" + list[i].Label + "]"}, {Text: " "}}
}
