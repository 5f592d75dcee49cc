package widget

import (
	"strings"

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
	whole, back := b.whole(spans), b.Back
	if whole {
		b.Back = theme.Text
	}
	for i, s := range spans {
		if free <= 0 {
			break
		}
		text, n := cut(s.Text, free, b.Theme.Glyph(theme.Ellipsis))
		if n == free && i < len(spans)-1 && full(s.Text, text) && rest(spans[i+1:]) {
			// The span fills the line to its edge and more would follow: say so.
			text, n = cut(s.Text+" ", free, b.Theme.Glyph(theme.Ellipsis))
		}
		b.paint(&out, b.Theme.On(back, s.Role), text)
		free -= n
	}
	b.paint(&out, theme.Text, Blank(free))
	if whole {
		return b.Theme.Paint(back, out.String())
	}
	return out.String()
}

// whole reports that the row's background can be laid under all spans at once:
// none of them has a background of its own, which would end the row's.
func (b Brush) whole(spans []Span) bool {
	for _, s := range spans {
		if s.Role == theme.Match || s.Role == theme.Caret {
			return false
		}
	}
	return b.Back != theme.Text
}

// full reports that nothing of s was cut.
func full(s, drawn string) bool { return len(Tidy(s)) == len(drawn) }

// rest reports whether spans hold anything to see.
func rest(spans []Span) bool {
	for _, s := range spans {
		if strings.TrimSpace(s.Text) != "" {
			return true
		}
	}
	return false
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

func (b Brush) paint(out *strings.Builder, r theme.Role, s string) {
	if s == "" {
		return
	}
	if b.Theme.ASCII() && !plain(s) {
		s = standIns.Replace(s)
	}
	if r == theme.Match || r == theme.Caret || strings.TrimLeft(s, " ") != "" {
		s = b.Theme.Paint(r, s) // on spaces only a background can be seen
	}
	if b.Back != theme.Text {
		// Each span by itself, so that a role that ends its own background does
		// not end the row's.
		s = b.Theme.Paint(b.Back, s)
	}
	out.WriteString(s)
}

// standIns are what terminals without Unicode show for the typographic marks
// that our own words use. All are one cell, as what they stand for.
var standIns = strings.NewReplacer("·", "-", "…", "~", "—", "-", "–", "-", "→", ">", "‹", "<", "›", ">", "“", `"`, "”", `"`, "‘", "'", "’", "'")

// Fill makes lines exactly h by cutting the end or adding lines of w spaces.
func Fill(lines []string, w, h int) []string {
	if h < 0 {
		h = 0
	}
	if len(lines) > h {
		return lines[:h]
	}
	for len(lines) < h {
		lines = append(lines, Blank(w))
	}
	return lines
}

// Rule draws a horizontal line of exactly w cells with a title near its left
// and a state near its right end, as far as they fit.
func (b Brush) Rule(w int, title, state []Span) string {
	box := b.Theme.Box()
	dash := func(n int) Span { return Span{theme.Border, strings.Repeat(box.Horizontal, max(0, n))} }
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
	indent := 0
	if w >= 12 {
		indent = 1
	}
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
