package pane

import (
	"strings"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Detail is the selected row of a list in full.
type Detail struct {
	Title, State []widget.Span // at the left and the right end of the rule or border above it; State may be empty
	Rows         []widget.Row
}

// Duo is a list and the detail of its selected row in one box.
type Duo struct {
	List   func(w, h int) []widget.Row
	Detail func(w, h int) Detail
	Lines  int // that the list can fill, at least 1
	Most   int // that the detail needs below the list
}

// leastRuled is the height from which a rule names the detail.
const leastRuled = 3

// Draw draws the detail beside the list on a wide page, else below it. The list gets at least half of the height, as
// far as it needs that.
func (d Duo) Draw(c Context, w, h int) []widget.Row {
	if c.Zoomed && w >= widget.Wide {
		left := w * 3 / 5
		return widget.Beside(widget.Brush{Theme: c.Theme}, d.List(left, h), d.detail(c, w-left-1, h), left)
	}
	list := min(d.Lines, max(h/2, h-1-d.Most))
	return append(d.List(w, list), d.detail(c, w, h-list)...)
}

func (d Duo) detail(c Context, w, h int) []widget.Row {
	if h < leastRuled {
		return widget.FillRows(d.Detail(w, h).Rows, w, h)
	}
	said := d.Detail(w, h-1)
	head := widget.Row{Text: widget.Brush{Theme: c.Theme}.Rule(w, said.Title, said.State), Place: widget.Ruled}
	return append([]widget.Row{head}, widget.FillRows(said.Rows, w, h-1)...)
}

// Named is the title of a detail.
func Named(title string, w int) []widget.Span {
	return []widget.Span{{Role: theme.Strong, Text: widget.Cut(title, max(8, w-8))}}
}

// Text draws a text in at most h rows of w cells.
func Text(c Context, w, h int, text string) []widget.Row {
	s := Sheet{Context: c, W: w}
	s.Say(widget.Nowhere, theme.Text, strings.TrimSpace(text), h)
	return s.Rows
}

// Sheet is rows of W cells about one thing, some of them with a name in their first column.
type Sheet struct {
	Context
	W    int
	Rows []widget.Row
}

// Line adds a row.
func (s *Sheet) Line(at widget.Place, spans ...widget.Span) {
	b := widget.Brush{Theme: s.Theme}
	s.Rows = append(s.Rows, widget.Row{Text: b.Line(s.W, append([]widget.Span{{Text: " "}}, spans...)...), Place: at})
}

// NameCells is the width of the column of names.
const NameCells = 10

// Named adds a row with a name, which may be empty.
func (s *Sheet) Named(at widget.Place, name string, spans ...widget.Span) {
	s.Line(at, append([]widget.Span{{Role: theme.Dim, Text: widget.Fit(name, NameCells)}}, spans...)...)
}

// Say adds a text in at most so many rows.
func (s *Sheet) Say(at widget.Place, role theme.Role, text string, most int) {
	for _, l := range widget.WrapN(text, max(1, s.W-2), most, s.Theme.Glyph(theme.Ellipsis)) {
		s.Line(at, widget.Span{Role: role, Text: l})
	}
}
