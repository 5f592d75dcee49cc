package widget

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"

	"ollimbot/tui/theme"
)

// Span is a piece of plain text with its role.
type Span struct {
	Role theme.Role
	Text string
}

// Brush draws lines of an exact width. Back is theme.Select for the selected row,
// otherwise the zero Role.
type Brush struct {
	Theme *theme.Theme
	Back  theme.Role
}

// Line draws the spans in exactly w cells: cut with an ellipsis, or padded with spaces.
func (b Brush) Line(w int, spans ...Span) string {
	var out strings.Builder
	out.Grow(w + 32*len(spans))
	free := w
	open, shut := b.Theme.Ends(b.Back)
	out.WriteString(open)
	for i, s := range spans {
		if free <= 0 {
			break
		}
		text, n := cut(s.Text, free, b.Theme.Glyph(theme.Ellipsis))
		if n == free && rest(spans[i+1:]) {
			// The span fills the line exactly, but more follows: show an ellipsis.
			text, n = cut(s.Text+" ", free, b.Theme.Glyph(theme.Ellipsis))
		}
		free -= n
		if b.Theme.ASCII() {
			text = standIns.Replace(text)
		}
		role := b.Theme.On(b.Back, s.Role)
		if role == theme.Text || role != theme.Match && role != theme.Caret && strings.TrimLeft(text, " ") == "" {
			out.WriteString(text) // on spaces, only a background is visible
			continue
		}
		out.WriteString(b.Theme.Paint(role, text))
		out.WriteString(open) // the end of the role has reset parts of it
	}
	out.WriteString(Blank(free))
	out.WriteString(shut)
	return out.String()
}

// rest reports whether spans contain anything visible.
func rest(spans []Span) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return strings.TrimSpace(s.Text) != "" })
}

// Spread draws left at the left edge and right at the right edge, at least one cell
// apart. It cuts left to make room for right, and omits a right that is wider than half
// of the line.
func (b Brush) Spread(w int, left, right []Span) string {
	n := Width(right)
	if n == 0 || n > w/2 {
		return b.Line(w, left...)
	}
	return b.Line(w-n-1, left...) + b.Line(n+1, append([]Span{{Text: " "}}, right...)...)
}

// Width is the width of the spans in cells.
func Width(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += Cells(s.Text)
	}
	return n
}

// Flow divides entries into lines of at most w cells, with a separator between those of one
// line. A longer entry has a line to itself.
func Flow(entries [][]Span, between Span, w int) (lines [][]Span) {
	for _, e := range entries {
		last := len(lines) - 1
		if last < 0 || Width(lines[last])+Cells(between.Text)+Width(e) > w {
			lines = append(lines, e)
			continue
		}
		lines[last] = slices.Concat(lines[last], []Span{between}, e)
	}
	return lines
}

// standIns are the replacements for the typographic marks of our own texts, for terminals
// without Unicode. Each is one cell, like the mark.
var standIns = strings.NewReplacer("·", "-", "…", "~", "—", "-", "–", "-", "→", ">", "‹", "<", "›", ">", "“", `"`, "”", `"`, "‘", "'", "’", "'",
	"×", "x", "█", "#", "▆", "#", "━", "*", "←", "<", "↑", "^", "↓", "v", "•", "*", "\u00a0", " ")

// Fill returns exactly h lines: it cuts the end or appends lines of w spaces.
func Fill(lines []string, w, h int) []string {
	lines = lines[:min(len(lines), max(h, 0))]
	for len(lines) < h {
		lines = append(lines, Blank(w))
	}
	return lines
}

// Rule draws a horizontal line of exactly w cells, with a title near its left end and a
// state near its right end if they fit.
func (b Brush) Rule(w int, title, state []Span) string {
	box := b.Theme.Box()
	dash := func(n int) Span { return Span{theme.Border, strings.Repeat(box.Top, max(0, n))} }
	t, s := Width(title), Width(state)
	switch {
	case t > 0 && s > 0 && w >= t+s+10:
		line := append([]Span{dash(1), {Text: " "}}, title...)
		line = append(line, Span{Text: " "}, dash(w-t-s-6), Span{Text: " "})
		line = append(line, state...)
		return b.Line(w, append(line, Span{Text: " "}, dash(1))...)
	case t > 0 && w >= 6:
		line := append([]Span{dash(1), {Text: " "}}, title...)
		return b.Line(w, append(line, Span{Text: " "}, dash(w-t-3))...)
	}
	return b.Line(w, dash(w))
}

// Empty draws a message for a pane that has nothing to show, in h lines of w cells: the
// first sentence stands out, the others are hints.
func (b Brush) Empty(w, h int, sentences ...string) []string {
	lines := make([]string, 0, h)
	indent := min(1, w/12)
	for i, s := range sentences {
		role := theme.Dim
		if i == 0 {
			role = theme.Text
		}
		for _, l := range Wrap(s, w-2*indent) {
			lines = append(lines, b.Line(w, Span{Text: Blank(indent)}, Span{role, l}))
		}
	}
	return Fill(lines, w, h)
}

// WrapSpans breaks the spans of one line into rows of at most w cells, like Wrap for
// plain text. It returns at least one row, which may be empty.
func WrapSpans(spans []Span, w int) [][]Span {
	spans, text := tidied(spans)
	var rows [][]Span
	for _, p := range breaks(text, max(1, w)) {
		rows = append(rows, within(spans, p))
	}
	return rows
}

// HardWrap breaks a line into parts of at most w cells, also inside words, and keeps all
// spaces: it is for code. It returns at least one part, which may be empty.
func HardWrap(s string, w int) []string {
	return strings.Split(ansi.Hardwrap(Tidy(s), max(1, w), true), "\n")
}

// tidied returns the spans as tidy text, and their joined text.
func tidied(spans []Span) ([]Span, string) {
	var b strings.Builder
	out := make([]Span, 0, len(spans))
	for _, s := range spans {
		if s.Text = Tidy(s.Text); s.Text != "" {
			out = append(out, s)
			b.WriteString(s.Text)
		}
	}
	return out, b.String()
}

// within returns the spans of one piece of their joined text.
func within(spans []Span, p piece) []Span {
	var row []Span
	at := 0
	for _, s := range spans {
		from, to := max(p.from-at, 0), min(p.to-at, len(s.Text))
		if from < to {
			row = append(row, Span{s.Role, s.Text[from:to]})
		}
		at += len(s.Text)
	}
	return row
}

// Wrap breaks s into lines of at most w cells: at its own line breaks, between words, and
// inside a word only if the word alone is too wide. It returns at least one line, which
// may be empty.
func Wrap(s string, w int) []string {
	return WrapN(s, w, -1, "")
}

// WrapN is Wrap limited to n lines; a negative n means no limit. If text is left, the
// last line ends in the mark, which must be one cell wide.
func WrapN(s string, w, n int, mark string) []string {
	w = max(1, w)
	var out []string
	for part := range strings.SplitSeq(s, "\n") {
		part = Tidy(part)
		for _, c := range breaks(part, w) {
			if n >= 0 && len(out) == n {
				if n > 0 {
					out[n-1] = elide(out[n-1], w, mark)
				}
				return out
			}
			out = append(out, part[c.from:c.to])
		}
	}
	return out
}

// elide ends a line with the mark, within w cells.
func elide(s string, w int, mark string) string {
	if Cells(s) < w {
		return s + mark
	}
	short, _ := cut(s+" ", w, mark)
	return short
}

// piece is a part of a text, in byte offsets.
type piece struct{ from, to int }

// breaks wraps one line of tidy text to w cells. The spaces at a break belong to neither
// line; leading spaces are kept as indentation. A character wider than w gets its own
// line.
func breaks(s string, w int) []piece {
	if len(s) <= w { // cells are never more than bytes
		return []piece{{0, len(s)}}
	}
	var out []piece
	for at := 0; at < len(s) || at == 0; {
		end, next := lineEnd(s[at:], w)
		out = append(out, piece{at, at + end})
		at += next
	}
	return out
}

// lineEnd is the byte offset at which the first line of s ends, and at which the next one
// starts.
func lineEnd(s string, w int) (end, next int) {
	used, i := 0, 0
	word := false // after the first word, a space may end the line
	for i < len(s) {
		if s[i] == ' ' && word {
			after := i + 1
			for after < len(s) && s[after] == ' ' {
				after++
			}
			if after == len(s) || used+after-i >= w {
				return i, after
			}
			end, next = i, after
			used, i = used+after-i, after
			continue
		}
		n, cells := character(s[i:])
		if used+cells > w && i > 0 {
			if next > 0 {
				return end, next
			}
			return i, i
		}
		word = word || s[i] != ' '
		used += cells
		i += n
	}
	return len(s), len(s)
}

// character returns the bytes and cells of the first character of tidy text.
func character(s string) (n, cells int) {
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80) {
		return 1, 1
	}
	g := displaywidth.StringGraphemes(s)
	if !g.Next() {
		return len(s), 0
	}
	return len(g.Value()), g.Width()
}
