package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"ollimbot/core/clean"
	"ollimbot/tui/theme"
)

// maxField is the most bytes a field holds: a long message, not a book.
const maxField = 16 << 10

// Field is a text that is being written, with a caret. The zero Field is empty
// and holds one line.
type Field struct {
	// Multi lets the text have line breaks.
	Multi         bool
	before, after string // of the caret
}

// Text is what has been written.
func (f *Field) Text() string { return f.before + f.after }

// Set replaces the text and puts the caret at its end.
func (f *Field) Set(s string) {
	f.before, f.after = "", ""
	f.Insert(s)
}

// Insert puts text at the caret, cleaned. A field of one line takes a line
// break as a space. What is too long is cut.
func (f *Field) Insert(s string) {
	s = clean.Text(s)
	if !f.Multi {
		s = strings.ReplaceAll(s, "\n", " ")
	}
	if free := maxField - len(f.before) - len(f.after); len(s) > free {
		s = s[:max(0, free)]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	f.before += s
}

// Take handles a message that writes, deletes or moves the caret, and reports
// whether it was one.
func (f *Field) Take(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		f.Insert(msg.Content)
	case tea.KeyPressMsg:
		if msg.Text != "" && msg.Mod&^tea.ModShift == 0 {
			f.Insert(msg.Text)
			return true
		}
		return f.edit(msg.Keystroke())
	default:
		return false
	}
	return true
}

// edit handles the keys that write nothing.
func (f *Field) edit(key string) bool {
	switch key {
	case "left", "ctrl+b":
		f.move(-len(lastCharacter(f.before)))
	case "right", "ctrl+f":
		f.move(len(firstCharacter(f.after)))
	case "home", "ctrl+a":
		f.move(-len(lastLine(f.before)))
	case "end", "ctrl+e":
		f.move(len(firstLine(f.after)))
	case "alt+left", "alt+b", "ctrl+left":
		f.move(-len(lastWord(f.before)))
	case "alt+right", "alt+f", "ctrl+right":
		f.move(len(firstWord(f.after)))
	case "up":
		f.vertical(-1)
	case "down":
		f.vertical(1)
	case "backspace", "ctrl+h", "shift+backspace":
		f.before = f.before[:len(f.before)-len(lastCharacter(f.before))]
	case "delete", "ctrl+d":
		f.after = f.after[len(firstCharacter(f.after)):]
	case "ctrl+u":
		f.before = f.before[:len(f.before)-len(lastLine(f.before))]
	case "ctrl+k":
		f.after = f.after[len(firstLine(f.after)):]
	case "ctrl+w", "alt+backspace":
		f.before = f.before[:len(f.before)-len(lastWord(f.before))]
	default:
		return false
	}
	return true
}

// move shifts the caret by bytes.
func (f *Field) move(n int) {
	all, at := f.Text(), len(f.before)+n
	f.before, f.after = all[:at], all[at:]
}

// vertical moves the caret to the line above (-1) or below (1), as far into it
// as it was in its own line.
func (f *Field) vertical(by int) {
	column := utf8.RuneCountInString(lastLine(f.before))
	switch {
	case by < 0:
		up := len(f.before) - len(lastLine(f.before)) - 1
		if up < 0 {
			return
		}
		f.move(up - len(f.before))
		f.move(-len(lastLine(f.before)))
	default:
		down := len(firstLine(f.after)) + 1
		if down > len(f.after) {
			return
		}
		f.move(down)
	}
	for ; column > 0 && f.after != "" && f.after[0] != '\n'; column-- {
		_, n := utf8.DecodeRuneInString(f.after)
		f.move(n)
	}
}

// Lines draws the text in at most h lines of exactly w cells, those around the
// caret. It gives at least one line. Without caret, a draft is shown as it is.
func (f *Field) Lines(b Brush, w, h int, caret bool) []string {
	g := grid{w: max(1, w)}
	g.put(f.before, theme.Text)
	row := len(g.rows)
	after := f.after
	if caret {
		under := firstCharacter(after)
		if Tidy(under) == "" { // the end, a line break, or nothing that can be seen
			g.put(" ", theme.Caret)
		} else {
			g.put(under, theme.Caret)
			after = after[len(under):]
		}
		row = len(g.rows)
	}
	g.put(after, theme.Text)
	g.rows = append(g.rows, g.row)
	first := max(0, min(row-h/2, len(g.rows)-h))
	var out []string
	for _, spans := range g.rows[first:min(len(g.rows), first+max(1, h))] {
		out = append(out, b.Line(w, spans...))
	}
	return out
}

// grid lays characters out cell by cell, so that a text does not jump about
// between words while it is being written.
type grid struct {
	w    int
	rows [][]Span
	row  []Span
	used int
}

func (g *grid) put(s string, role theme.Role) {
	for i, part := range strings.Split(s, "\n") {
		if i > 0 {
			g.rows, g.row, g.used = append(g.rows, g.row), nil, 0
		}
		for c := displaywidth.StringGraphemes(Tidy(part)); c.Next(); {
			if g.used+c.Width() > g.w {
				g.rows, g.row, g.used = append(g.rows, g.row), nil, 0
			}
			g.used += c.Width()
			if n := len(g.row); n > 0 && g.row[n-1].Role == role {
				g.row[n-1].Text += c.Value()
				continue
			}
			g.row = append(g.row, Span{role, c.Value()})
		}
	}
}

func firstCharacter(s string) string {
	g := displaywidth.StringGraphemes(s)
	if !g.Next() {
		return ""
	}
	return g.Value()
}

// lastCharacter looks at the end of the last line only: characters do not
// reach over a line break.
func lastCharacter(s string) string {
	line := lastLine(s)
	if line == "" {
		return s[max(0, len(s)-1):]
	}
	last := ""
	for g := displaywidth.StringGraphemes(line); g.Next(); {
		last = g.Value()
	}
	return last
}

func lastLine(s string) string  { return s[strings.LastIndexByte(s, '\n')+1:] }
func firstLine(s string) string { line, _, _ := strings.Cut(s, "\n"); return line }

func lastWord(s string) string {
	end := strings.TrimRightFunc(s, unicode.IsSpace)
	i := strings.LastIndexFunc(end, unicode.IsSpace)
	return s[i+1:]
}

func firstWord(s string) string {
	start := strings.TrimLeftFunc(s, unicode.IsSpace)
	skip := len(s) - len(start)
	i := strings.IndexFunc(start, unicode.IsSpace)
	if i < 0 {
		return s
	}
	return s[:skip+i]
}
