package chat

import (
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// airy is from how many lines on an empty line stands between messages.
const airy = 10

// draw renders the conversation and, below it, the line to write on.
func (p *Pane) draw(c pane.Context, w, h int, focused bool) []string {
	input := p.input(c, w, h, focused)
	b := widget.Brush{Theme: c.Theme}
	if len(c.Snap.Chat) == 0 {
		return append(b.Empty(w, h-len(input), textEmpty, textTeach), input...)
	}
	p.view.spaced = h >= airy
	return append(p.view.Lines(c.Theme, w, h-len(input), focused && !p.writing), input...)
}

// input is the part below the conversation: what is being written, a draft, or
// how to begin. A pane of a few lines has it only while there are words.
func (p *Pane) input(c pane.Context, w, h int, focused bool) []string {
	b := widget.Brush{Theme: c.Theme}
	draft := p.field.Text() != ""
	switch {
	case h < 2 && !p.writing:
		return nil
	case !p.writing && !draft && (h < 5 || !focused || p.view.Finding()):
		return nil
	}
	prompt := b.Line(min(w, 3), widget.Span{Role: theme.You, Text: " " + c.Theme.Glyph(theme.Pointer) + " "})
	if w <= 6 {
		prompt = ""
	}
	room := w - min(w, 3)
	if prompt == "" {
		room = w
	}
	if !p.writing && !draft {
		hint := []widget.Span{{Role: theme.Key, Text: " i "}, {Role: theme.Dim, Text: textPrompt}}
		if c.ReadOnly {
			hint = []widget.Span{{Role: theme.Dim, Text: " " + c.Theme.Glyph(theme.Lock) + " " + textLocked}}
		}
		return []string{rule(c, w), b.Line(w, hint...)}
	}
	var out []string
	if h >= 5 {
		out = append(out, rule(c, w))
	}
	most := max(1, min(6, h/2)-len(out))
	for i, line := range p.field.Lines(b, room, most, p.writing) {
		if i > 0 && prompt != "" {
			prompt = widget.Blank(3)
		}
		out = append(out, prompt+line)
	}
	return out[:min(len(out), h)]
}

// rule separates what was said from what is being written.
func rule(c pane.Context, w int) string {
	return widget.Brush{Theme: c.Theme}.Rule(w, nil, nil)
}
