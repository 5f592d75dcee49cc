package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/settings"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// welcome is the first thing that a new user sees, once: what this is, and which
// keys lead on.
type welcome struct{ shown []welcomeLine }

// welcomeLine is a key, if it leads on, and words.
type welcomeLine struct{ key, text string }

// greet opens the welcome for somebody who has never seen it.
func (r *root) greet() {
	if !r.o.Welcome || r.chosen.Welcomed {
		return
	}
	r.open(&welcome{shown: welcomeText})
	r.choose(func(d *settings.Dashboard) { d.Welcomed = true })
}

func (w *welcome) title() string { return textWelcome }

func (w *welcome) draw(l look, width, h int) []string {
	width = min(width, 64)
	lines := []string{widget.Blank(width)}
	for _, t := range w.shown {
		head := []widget.Span{{Text: "  "}}
		room := width - 4
		if t.key != "" {
			head = append(head, widget.Span{Role: theme.Key, Text: widget.Fit(t.key, 7)})
			room -= 7
		}
		for i, text := range widget.WrapN(t.text, max(1, room), 3, l.theme.Glyph(theme.Ellipsis)) {
			if i > 0 {
				head = []widget.Span{{Text: widget.Blank(width - room - 2)}}
			}
			lines = append(lines, l.brush.Line(width, append(head, widget.Span{Text: text})...))
		}
	}
	lines = append(lines, widget.Blank(width))
	return lines[:min(len(lines), h)]
}

func (w *welcome) key(msg tea.KeyPressMsg) verdict {
	switch {
	case key.Matches(msg, welcomeKeys.demo):
		w.shown = demoText
	case key.Matches(msg, welcomeKeys.begin):
		w.shown = initText
	case key.Matches(msg, welcomeKeys.around):
		return verdict{shut: true}
	}
	return verdict{}
}

func (w *welcome) wheel(bool) {}

func (w *welcome) hint() []key.Binding {
	return []key.Binding{welcomeKeys.around, welcomeKeys.demo, welcomeKeys.begin}
}
