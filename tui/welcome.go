package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/action"
	"ollimbot/tui/settings"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// welcome is the first thing that a new user sees, once: what this is, and which
// keys lead on.
type welcome struct {
	shown []welcomeLine
	names action.Names
	keys  []string // of the lines when it was drawn last; empty where none leads on
}

// welcomeLine is a key, if it leads on, and words.
type welcomeLine struct{ key, text string }

// greet opens the welcome for somebody who has never seen it.
func (r *root) greet() {
	if !r.o.Welcome || r.chosen.Welcomed {
		return
	}
	r.open(&welcome{shown: welcomeText(r.names()), names: r.names()})
	r.choose(func(d *settings.Dashboard) { d.Welcomed = true })
}

func (w *welcome) title() string { return textWelcome }

func (w *welcome) draw(l look, width, h int) []string {
	width = min(width, 64)
	column := 0
	for _, t := range w.shown {
		column = max(column, widget.Cells(t.key)+2)
	}
	lines := []string{widget.Blank(width)}
	w.keys = append(w.keys[:0], "")
	for _, t := range w.shown {
		head := []widget.Span{{Text: "  "}}
		room := width - 4
		if t.key != "" {
			head = append(head, widget.Span{Role: theme.Key, Text: widget.Fit(t.key, column)})
			room -= column
		}
		for i, text := range widget.WrapN(t.text, max(1, room), 3, l.theme.Glyph(theme.Ellipsis)) {
			if i > 0 {
				head = []widget.Span{{Text: widget.Blank(width - room - 2)}}
			}
			lines = append(lines, l.brush.Line(width, append(head, widget.Span{Text: text})...))
			w.keys = append(w.keys, t.key)
		}
	}
	lines = append(lines, widget.Blank(width))
	return lines[:min(len(lines), h)]
}

func (w *welcome) key(msg tea.KeyPressMsg) verdict {
	switch {
	case key.Matches(msg, welcomeKeys.demo):
		w.shown = demoText(w.names)
	case key.Matches(msg, welcomeKeys.begin):
		w.shown = initText(w.names)
	case key.Matches(msg, welcomeKeys.around):
		return verdict{shut: true}
	}
	return verdict{}
}

// click is the key of the line under the pointer.
func (w *welcome) click(_, y int) verdict {
	if y < len(w.keys) {
		if msg, ok := keyNamed(w.keys[y]); ok {
			return w.key(msg)
		}
	}
	return verdict{}
}

func (w *welcome) wheel(bool) {}

func (w *welcome) hint() []key.Binding {
	return []key.Binding{welcomeKeys.around, welcomeKeys.demo, welcomeKeys.begin}
}
