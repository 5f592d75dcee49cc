package chat

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
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

// buttons are those of a message.
func buttons(e *transcript.Entry) []post.Button {
	if e == nil || e.Embed == nil {
		return nil
	}
	return e.Embed.Buttons
}

// choose begins to choose among the buttons of the marked card, else of the
// newest one.
func (p *Pane) choose(c pane.Context) pane.Answer {
	if c.ReadOnly {
		return pane.Answer{Toast: textReadOnlyPress}
	}
	var card *transcript.Entry
	for i := range c.Snap.Chat {
		if e := &c.Snap.Chat[i]; len(buttons(e)) > 0 {
			card = e
		}
	}
	if e := p.marked(c); e != nil && len(buttons(e)) > 0 {
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
	list := buttons(entry(c.Snap.Chat, p.pick.card))
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
		click := core.Click{Message: p.pick.card, ID: list[min(p.pick.at, n-1)].Action}
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
func (p *Pane) choosing(c pane.Context, w, h int) []string {
	e := entry(c.Snap.Chat, p.pick.card)
	list := buttons(e)
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
	out := []string{b.Line(w, row...)}
	if h < 4 {
		return out
	}
	title := []widget.Span{{Role: theme.Accent, Text: textPress}, {Text: widget.Cut(e.Embed.Title, max(8, w-len(textPress)-4))}}
	return append([]string{b.Rule(w, title, nil)}, out...)
}

func (p *Pane) button(c pane.Context, list []post.Button, i int) []widget.Span {
	pointer, role := " ", theme.Key
	if i == p.pick.at {
		pointer, role = c.Theme.Glyph(theme.Pointer), theme.Caret
	}
	return []widget.Span{{Role: theme.Accent, Text: pointer}, {Role: role, Text: "[" + list[i].Label + "]"}, {Text: " "}}
}
