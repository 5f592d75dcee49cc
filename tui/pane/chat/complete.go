package chat

import (
	"strings"

	"ollimbot/core/command"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// completion is the choice among commands while "tab" goes through them.
type completion struct {
	stem string // what was typed before the first tab
	on   bool
	at   int
}

// command splits what is being written into the name of a command and whether
// something follows it; ok is false for words that are no command.
func (p *Pane) command() (name string, whole, ok bool) {
	line, ok := strings.CutPrefix(strings.TrimLeft(p.field.Text(), " \n"), "/")
	if !ok {
		return "", false, false
	}
	if i := strings.IndexAny(line, " \n"); i >= 0 {
		return strings.ToLower(line[:i]), true, true
	}
	return strings.ToLower(line), false, true
}

// matching are the commands that the line may become, or is.
func (p *Pane) matching() []command.Command {
	name, whole, ok := p.command()
	if !ok {
		return nil
	}
	if p.tab.on {
		name = p.tab.stem
	}
	var out []command.Command
	for _, c := range p.commands {
		if c.Name == name && whole || !whole && strings.HasPrefix(c.Name, name) {
			out = append(out, c)
		}
	}
	return out
}

// complete writes the next command that begins as the line does. The only one
// is written with the space behind which its arguments begin.
func (p *Pane) complete() {
	name, whole, ok := p.command()
	found := p.matching()
	if !ok || whole || len(found) == 0 {
		return
	}
	if len(found) == 1 {
		p.write(found[0], found[0].Usage != "")
		p.tab = completion{}
		return
	}
	if p.tab.on {
		p.tab.at = (p.tab.at + 1) % len(found)
	} else {
		p.tab = completion{stem: name, on: true}
	}
	p.write(found[p.tab.at], false)
}

func (p *Pane) write(c command.Command, more bool) {
	text := "/" + c.Name
	if more {
		text += " "
	}
	p.field.Clear()
	p.field.Insert(text)
}

// suggestions draws the commands that match, each with what it takes and does,
// in at most most lines.
func (p *Pane) suggestions(b widget.Brush, w, most int) []string {
	name, _, ok := p.command()
	if !ok || !p.writing || most < 1 {
		return nil
	}
	found := p.matching()
	if len(found) == 0 {
		return []string{b.Line(w, widget.Span{Role: theme.Warn, Text: " " + unknown(widget.Cut(name, 20))})}
	}
	top, shown := 0, min(len(found), most)
	if shown < len(found) && shown > 1 {
		shown-- // the last line tells how many more there are
	}
	if p.tab.on && p.tab.at >= shown {
		top = min(p.tab.at-shown+1, len(found)-shown)
	}
	wide := 0
	for _, c := range found {
		wide = max(wide, widget.Cells(usage(c)))
	}
	var out []string
	for i := top; i < top+shown; i++ {
		out = append(out, p.suggestion(b, w, found[i], wide, p.tab.on && i == p.tab.at))
	}
	if rest := len(found) - shown; rest > 0 && most > 1 {
		out = append(out, b.Line(w, widget.Span{Role: theme.Dim, Text: " " + others(rest)}))
	}
	return out
}

// suggestion is one command in one line; wide is the column of what is typed.
func (p *Pane) suggestion(b widget.Brush, w int, c command.Command, wide int, chosen bool) string {
	gutter := " "
	if chosen {
		gutter = b.Theme.Glyph(theme.Pointer)
	}
	spans := []widget.Span{
		{Role: theme.Accent, Text: gutter},
		{Role: theme.Key, Text: "/" + c.Name},
		{Role: theme.Text, Text: usage(c)[1+len(c.Name):]},
	}
	if gap := wide + 2 - widget.Cells(usage(c)); w >= wide+20 {
		spans = append(spans, widget.Span{Text: widget.Blank(gap)}, widget.Span{Role: theme.Dim, Text: c.About})
	}
	return b.Line(w, spans...)
}

// usage is a command with what it takes.
func usage(c command.Command) string { return strings.TrimSpace("/" + c.Name + " " + c.Usage) }
