package updates

import (
	"strings"

	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// draw renders the pane: every update in as many lines as there are, fairly
// shared, and the selected one as whole as it fits.
func (p *Pane) draw(c pane.Context, w, h int, focused bool) []string {
	b := widget.Brush{Theme: c.Theme}
	n := len(c.Snap.Updates)
	if n == 0 {
		return b.Empty(w, h, textEmpty, textTeach)
	}
	on := sheet{Context: c, w: w, marked: -1, selected: p.list.At}
	if focused {
		on.marked = p.list.At
	}
	on.whole = max(1, h-min(n-1, 2)) // two others stay in sight
	on.each = 3
	for on.each > 1 && on.height() > h {
		on.each--
	}
	air := on.height()+n-1 <= h
	var lines []string
	from, to := 0, 0
	for i := range n {
		if i > 0 && air {
			lines = append(lines, widget.Blank(w))
		}
		if i == p.list.At {
			from = len(lines)
		}
		lines = append(lines, on.item(i)...)
		if i == p.list.At {
			to = len(lines) - 1
		}
	}
	top := p.list.Window(from, min(to, from+h-1), len(lines), h)
	return widget.Fill(lines[top:min(len(lines), top+h)], w, h)
}

// sheet is what the lines of one drawing have in common.
type sheet struct {
	pane.Context
	w        int
	marked   int // the update with the pointer; -1 without focus
	selected int
	each     int // the most lines that an update takes,
	whole    int // and that the selected one takes
}

// height is how many lines all updates take.
func (on sheet) height() int {
	n := 0
	for i := range on.Snap.Updates {
		n += len(on.wrapped(i))
	}
	return n
}

// ageWidth is the column of the age: "15 min" and two cells of air.
const ageWidth = 8

func ageColumn(w int) int {
	if w < 24 {
		return 0
	}
	return ageWidth
}

// wrapped is the text of the ith update in the lines that it may take.
func (on sheet) wrapped(i int) []string {
	most := on.each
	if i == on.selected {
		most = max(on.each, on.whole)
	}
	text := strings.TrimRight(sourced(on.Snap, at(on.Snap, i)), "\n ")
	if most == 1 {
		text = flat(text)
	}
	return widget.WrapN(text, max(1, on.w-2-ageColumn(on.w)), most, on.Theme.Glyph(theme.Ellipsis))
}

// item draws the ith update.
func (on sheet) item(i int) []string {
	u := at(on.Snap, i)
	b := widget.Brush{Theme: on.Theme}
	gutter := " "
	if i == on.marked {
		gutter, b.Back = on.Theme.Glyph(theme.Pointer), theme.Select
	}
	role := theme.Text
	if u.Dropped > 0 {
		role = theme.Warn
	}
	age := ageColumn(on.w)
	var out []string
	for y, l := range on.wrapped(i) {
		head := []widget.Span{{Role: theme.Accent, Text: gutter}}
		if age > 0 {
			text := widget.Blank(age)
			if y == 0 {
				text = widget.Fit(widget.Age(on.Snap.At.Sub(u.At)), age)
			}
			head = append(head, widget.Span{Role: theme.Report, Text: text})
		}
		out = append(out, b.Line(on.w, append(head, widget.Span{Role: role, Text: l})...))
		gutter = " "
	}
	return out
}
