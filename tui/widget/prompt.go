package widget

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/theme"
)

// prompt is the line below a list or a text on which a search or a filter is written.
type prompt struct {
	typing bool
	field  Input
}

// take gives it a key or a paste. changed means that the text is different now; verb is
// what else a key does: "esc", "enter", or how it moves the selection.
func (p *prompt) take(msg tea.Msg) (changed bool, verb string) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch s := k.Keystroke(); s {
		case "enter":
			p.typing = false
			return false, s
		case "esc", "up", "down", "pgup":
			return false, s
		case "pgdown":
			return false, "pgdn"
		}
	}
	before := p.field.Text()
	p.field.Take(msg)
	return p.field.Text() != before, ""
}

// line draws it in exactly w cells after its sign, with the number of matches at the right
// edge if that leaves half of the line.
func (p *prompt) line(b Brush, w int, sign string, found ...Span) string {
	if w < 2*Width(found) {
		found = nil
	}
	left := Span{theme.Key, sign}
	if !p.typing {
		return b.Spread(w, []Span{left, {theme.Strong, p.field.Text()}}, found)
	}
	room := w - 2
	if found != nil {
		room -= Width(found) + 1
	}
	if room < 1 {
		return b.Line(w, left)
	}
	return b.Line(2, left) + p.field.Line(b, room, true) + b.Line(w-2-room, append([]Span{{Text: " "}}, found...)...)
}

// bound is a key of the help line.
func bound(k, word string) key.Binding { return key.NewBinding(key.WithKeys(k), key.WithHelp(k, word)) }
