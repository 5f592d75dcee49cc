package updates

import (
	"strings"

	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// draw renders the pane: every update in as many lines as there are, fairly
// shared, and the selected one as whole as it fits. Only what is in view is
// wrapped: there may be thousands.
func (p *Pane) draw(c pane.Context, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	n := len(c.Snap.Updates)
	if n == 0 {
		return widget.Rows(widget.Nowhere, b.Empty(w, h, textEmpty, textTeach)...)
	}
	on := sheet{Context: c, w: w, marked: -1}
	if focused {
		on.marked = p.list.At
	}
	whole := max(1, h-min(n-1, 2)) // two others stay in sight
	if n <= h {
		if items := on.share(n, p.list.At, whole, h); items != nil {
			return widget.FillRows(on.all(items, h), w, h)
		}
	}
	// A line for each but for the selected one, so that their places are known.
	at := p.list.At
	body := on.wrapped(at, whole)
	top := p.list.Window(at, min(at+len(body)-1, at+h-1), n+len(body)-1, h)
	var lines []widget.Row
	for i, y := first(top, at, len(body)); i < n && len(lines) < h+y; i++ {
		text := body
		if i != at {
			text = on.wrapped(i, 1)
		}
		lines = append(lines, on.item(i, text)...)
		if y > 0 {
			lines, y = lines[y:], 0
		}
	}
	return widget.FillRows(lines, w, h)
}

// first is the update that line top belongs to, and which of its lines that is,
// where only the update at has more than one.
func first(top, at, lines int) (i, y int) {
	switch {
	case top <= at:
		return top, 0
	case top < at+lines:
		return at, top - at
	}
	return top - lines + 1, 0
}

// share wraps n updates so that they fit into h lines: all of them are cut at the
// same number of lines, and what is free then goes to the newest. It is nil where
// the selected one leaves too little room for the others.
func (on sheet) share(n, selected, whole, h int) [][]string {
	items := make([][]string, n)
	for i := range items {
		items[i] = on.wrapped(i, h)
	}
	most := make([]int, n)
	height := func(each int) int {
		sum := 0
		for i, l := range items {
			if most[i] = each; i == selected {
				most[i] = max(each, whole)
			}
			sum += min(len(l), most[i])
		}
		return sum
	}
	each := h
	for each > 1 && height(each) > h {
		each--
	}
	free := h - height(each)
	if free < 0 {
		return nil
	}
	for i, l := range items {
		if len(l) > most[i] && free > 0 {
			most[i]++
			free--
		}
		if len(l) > most[i] {
			items[i] = on.wrapped(i, most[i])
		}
	}
	return items
}

// all draws updates that fit into h lines, with air between them where there is
// room for that.
func (on sheet) all(items [][]string, h int) []widget.Row {
	n := len(items) - 1
	for _, l := range items {
		n += len(l)
	}
	var lines []widget.Row
	for i, text := range items {
		if i > 0 && n <= h {
			lines = append(lines, widget.Row{Text: widget.Blank(on.w), Place: widget.Nowhere})
		}
		lines = append(lines, on.item(i, text)...)
	}
	return lines
}

// sheet is what the lines of one drawing have in common.
type sheet struct {
	pane.Context
	w      int
	marked int // the update with the pointer; -1 without focus
}

// ageWidth is the column of the age: "15 min" and two cells of air.
const ageWidth = 8

func ageColumn(w int) int {
	if w < 24 {
		return 0
	}
	return ageWidth
}

// wrapped is the text of the ith update in at most so many lines.
func (on sheet) wrapped(i, most int) []string {
	text := strings.TrimRight(on.Snap.Sourced(at(on.Snap, i)), "\n ")
	if most == 1 {
		text = flat(text)
	}
	return widget.WrapN(text, max(1, on.w-2-ageColumn(on.w)), most, on.Theme.Glyph(theme.Ellipsis))
}

// item draws the ith update with its text.
func (on sheet) item(i int, text []string) []widget.Row {
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
	out := make([]widget.Row, 0, len(text))
	for y, l := range text {
		head := []widget.Span{{Role: theme.Accent, Text: gutter}}
		if age > 0 {
			text := widget.Blank(age)
			if y == 0 {
				text = widget.Fit(ageOf(on.Snap, u), age)
			}
			head = append(head, widget.Span{Role: theme.Report, Text: text})
		}
		out = append(out, widget.Row{Text: b.Line(on.w, append(head, widget.Span{Role: role, Text: l})...), Place: widget.Place(i)})
		gutter = " "
	}
	return out
}
