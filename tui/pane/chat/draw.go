package chat

import (
	"strings"

	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// airy is from how many lines on an empty line stands between messages.
const airy = 10

// draw renders the fork's banner, the conversation, the tool call that waits,
// and the line to write on. Where there is little room, what waits for an answer
// comes first, and what is being written.
func (p *Pane) draw(c pane.Context, w, h int, focused bool) []widget.Row {
	card := p.card(c, w, h, focused)
	input := p.input(c, w, h-len(card), focused)
	foot := append(card, input...)
	lines := p.banner(c, w, h-len(foot), focused)
	b := widget.Brush{Theme: c.Theme}
	room := h - len(foot) - len(lines)
	if len(c.Snap.Chat) == 0 {
		lines = append(lines, widget.Rows(widget.Nowhere, b.Empty(w, room, textEmpty, textTeach(c.Names(action.Chat)))...)...)
	} else {
		p.view.spaced = h >= airy
		p.view.Names = c.Names(action.Chat)
		lines = append(lines, widget.Rows(widget.Nowhere, p.view.Lines(c.Theme, w, room, focused && !p.writing)...)...)
	}
	return append(lines, foot...)
}

// input is the part below the conversation: what is being written, a draft, or
// how to begin. A pane of a few lines has it only while there are words.
func (p *Pane) input(c pane.Context, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	draft, files := p.field.Text() != "", len(c.Snap.Attached) > 0
	switch {
	case p.pick.on:
		return p.choosing(c, w, h)
	case h < 1, h < 2 && !p.writing:
		return nil
	case !p.writing && !draft && (h < 5 || !focused && !files || p.view.Finding()):
		return nil
	}
	if !p.writing && !draft {
		hint := []widget.Span{{Role: theme.Key, Text: " " + c.Names(action.Chat).Name(action.ChatWrite) + " "}, {Role: theme.Dim, Text: textPrompt}}
		if more := (widget.Span{Role: theme.Dim, Text: textCommand}); widget.Width(hint)+widget.Cells(more.Text) < w {
			hint = append(hint, more)
		}
		if c.ReadOnly {
			hint = []widget.Span{{Role: theme.Dim, Text: " " + c.Theme.Glyph(theme.Lock) + " " + textLocked}}
		}
		if !focused {
			return []widget.Row{rule(c, w)}
		}
		return []widget.Row{rule(c, w), {Text: b.Line(w, hint...), Place: widget.Inner}}
	}
	var out []widget.Row
	if h >= 5 {
		out = append(out, rule(c, w))
		out = append(out, widget.Rows(widget.Inner, p.suggestions(b, w, min(6, h/2-len(out)-1))...)...)
	}
	if h >= 3 {
		out = append(out, widget.Rows(widget.Inner, p.quote(c, w)...)...)
	}
	out = append(out, widget.Rows(widget.Inner, p.written(c, w, max(1, min(6, h/2-len(out))))...)...)
	return out[:min(len(out), h)]
}

// written is what is being written, behind the prompt.
func (p *Pane) written(c pane.Context, w, most int) []string {
	b := widget.Brush{Theme: c.Theme}
	prompt, room := b.Line(min(w, 3), widget.Span{Role: theme.You, Text: " " + c.Theme.Glyph(theme.Pointer) + " "}), w-min(w, 3)
	if w <= 6 {
		prompt, room = "", w
	}
	var out []string
	for i, line := range p.field.Lines(b, room, most, p.writing) {
		if i > 0 && prompt != "" {
			prompt = widget.Blank(3)
		}
		out = append(out, prompt+line)
	}
	return out
}

// rule separates what was said from what is being written. The files that go
// with the next message stand in it.
func rule(c pane.Context, w int) widget.Row {
	var title []widget.Span
	if n := len(c.Snap.Attached); n > 0 {
		title = []widget.Span{
			{Role: theme.Accent, Text: textAttached}, {Text: widget.Cut(strings.Join(c.Snap.Attached, ", "), max(8, w-len(textAttached)-4))},
		}
	}
	return widget.Row{Text: widget.Brush{Theme: c.Theme}.Rule(w, title, nil), Place: widget.Ruled}
}
