package chat

import (
	"charm.land/bubbles/v2/key"

	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

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

// offered is a row of the table as the pane itself shows it, where its word
// would not say enough by itself.
type offered struct {
	id   action.ID
	word string // empty: the table's
}

// offers draws keys with their words, as far as the table lets them be used
// now. Before them stands what has to be pressed first: "esc" out of the line
// that is being written, or the key of the pane.
func (p *Pane) offers(c pane.Context, focused bool, rows ...offered) []widget.Span {
	if c.ReadOnly {
		return []widget.Span{{Role: theme.Dim, Text: " " + textLocked}}
	}
	var out []widget.Span
	names := c.Names(action.Chat)
	for _, o := range rows {
		a, ok := c.Keys.Get(action.Chat, o.id)
		key := names.Badge(o.id)
		if !ok || key == "" || a.Off(*c.Snap) != "" {
			continue
		}
		word := o.word
		if word == "" {
			word = a.Short
		}
		out = append(out, widget.Span{Text: " "}, widget.Span{Role: theme.Key, Text: key},
			widget.Span{Role: theme.Dim, Text: " " + word + " "})
	}
	first := ""
	switch {
	case !focused:
		if first = names.Key(action.GoChat); first == "" {
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
