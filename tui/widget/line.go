package widget

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"

	"ollimbot/tui/theme"
)

// Span is a piece of plain text and what it is for.
type Span struct {
	Role theme.Role
	Text string
}

// Brush draws lines of exact width. Back is theme.Select for the selected row,
// else the zero Role.
type Brush struct {
	Theme *theme.Theme
	Back  theme.Role
}

// Line draws the spans in exactly w cells. The span that does not fit is cut
// with an ellipsis and the rest is left out; what is free is filled up.
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
			// The span fills the line to its edge and more would follow: say so.
			text, n = cut(s.Text+" ", free, b.Theme.Glyph(theme.Ellipsis))
		}
		free -= n
		if b.Theme.ASCII() {
			text = standIns.Replace(text)
		}
		role := b.Theme.On(b.Back, s.Role)
		if role == theme.Text || role != theme.Match && role != theme.Caret && strings.TrimLeft(text, " ") == "" {
			out.WriteString(text) // on spaces only a background can be seen
			continue
		}
		out.WriteString(b.Theme.Paint(role, text))
		out.WriteString(open) // of which the role's end has taken something
	}
	out.WriteString(Blank(free))
	out.WriteString(shut)
	return out.String()
}

// rest reports whether spans hold anything to see.
func rest(spans []Span) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return strings.TrimSpace(s.Text) != "" })
}

// Spread draws left from the left edge and right at the right edge, at least
// one cell apart. Left is cut so that right stays whole; where right would
// leave less than half of the line, it is left out.
func (b Brush) Spread(w int, left, right []Span) string {
	n := Width(right)
	if n == 0 || n > w/2 {
		return b.Line(w, left...)
	}
	return b.Line(w-n-1, left...) + b.Line(n+1, append([]Span{{Text: " "}}, right...)...)
}

// Width is the number of cells of the spans.
func Width(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += Cells(s.Text)
	}
	return n
}

// standIns are what terminals without Unicode show for the typographic marks
// that our own words use. All are one cell, as what they stand for.
var standIns = strings.NewReplacer("·", "-", "…", "~", "—", "-", "–", "-", "→", ">", "‹", "<", "›", ">", "“", `"`, "”", `"`, "‘", "'", "’", "'",
	"×", "x", "█", "#", "━", "*", "╍", ".", "←", "<", "↑", "^", "↓", "v", "•", "*", "\u00a0", " ")

// Fill makes lines exactly h by cutting the end or adding lines of w spaces.
func Fill(lines []string, w, h int) []string {
	lines = lines[:min(len(lines), max(h, 0))]
	for len(lines) < h {
		lines = append(lines, Blank(w))
	}
	return lines
}

// Rule draws a horizontal line of exactly w cells with a title near its left
// and a state near its right end, as far as they fit.
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

// Empty draws words for a pane that has nothing to show: the first sentence
// stands out, the others teach.
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

// WrapSpans breaks spans of one line into rows of at most w cells, as Wrap does
// with plain text. It gives at least one row, which may be empty.
func WrapSpans(spans []Span, w int) [][]Span {
	spans, text := tidied(spans)
	var rows [][]Span
	for _, p := range breaks(text, max(1, w)) {
		rows = append(rows, within(spans, p))
	}
	return rows
}

// HardWrap breaks a line into parts of at most w cells wherever they end: in
// code every space counts. It gives at least one part, which may be empty.
func HardWrap(s string, w int) []string {
	return strings.Split(ansi.Hardwrap(Tidy(s), max(1, w), true), "\n")
}

// tidied is the spans in tidy text, and their text in one.
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

// within are the spans of one part of their joined text.
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

// Wrap breaks s into lines of at most w cells: at its own line breaks, between
// words, and inside a word only where the word alone is too wide. It gives at
// least one line, which may be empty.
func Wrap(s string, w int) []string {
	return WrapN(s, w, -1, "")
}

// WrapN is Wrap that stops after n lines (n below zero: never). Where text is
// left, the last line ends in the mark, which is one cell wide.
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

// piece is a part of a text, in bytes.
type piece struct{ from, to int }

// breaks finds where tidy text of one line is broken into lines of w cells. The
// spaces at a break belong to neither line; those at the start of the text are
// kept, as they indent it. A character wider than w stands alone.
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

// lineEnd is where the first line of s ends and where the next one begins.
func lineEnd(s string, w int) (end, next int) {
	used, i := 0, 0
	word := false // a word has been seen, so that a space may end the line
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

// character gives the bytes and cells of the first character of tidy text.
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
