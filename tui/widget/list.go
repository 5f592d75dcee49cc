package widget

import "ollimbot/tui/theme"

// List is the selection in a list and the first visible row.
type List struct {
	At  int // the index of the selected item
	top int
}

// Move moves the selection among n items by a verb, such as "down", and reports whether
// it knows the verb. page is the number of visible rows.
func (l *List) Move(verb string, n, page int) bool {
	switch verb {
	case "up":
		l.At--
	case "down":
		l.At++
	case "pgup":
		l.At -= max(1, page-1)
	case "pgdn":
		l.At += max(1, page-1)
	case "top", "home":
		l.At = 0
	case "bottom", "end", "follow":
		l.At = n - 1
	default:
		return false
	}
	l.Clamp(n)
	return true
}

// Clamp limits the selection to n items.
func (l *List) Clamp(n int) { l.At = max(0, min(l.At, n-1)) }

// Window is the first of n rows to show in h lines so that the rows from through to are
// visible. It scrolls as little as possible.
func (l *List) Window(from, to, n, h int) int {
	if to >= l.top+h {
		l.top = to - h + 1
	}
	if from < l.top {
		l.top = from
	}
	l.top = max(0, min(l.top, n-h))
	return l.top
}

// Begin makes a row the first visible one, as far as Window allows.
func (l *List) Begin(top int) { l.top = max(0, top) }

// Row is a drawn line with its places, so that clicks and borders do not depend on the
// text.
type Row struct {
	Text  string
	Place Place
	// Spots are parts of the line with a different place; the rest has Place.
	Spots []Spot
}

// Spot is a part of a line: the cells From up to, not including, To, counted from 0.
type Spot struct {
	From, To int
	Place    Place
}

// At is the place of cell x of the row.
func (r Row) At(x int) Place {
	for _, s := range r.Spots {
		if x >= s.From && x < s.To {
			return s.Place
		}
	}
	return r.Place
}

// Place is an item of a list, counted from 0, or one of the places below.
type Place int

// The places that are not items.
const (
	Nowhere Place = -1 - iota // a heading or a blank line: a click does nothing
	Ruled                     // a line from edge to edge, which joins the border
	Inner                     // a tail or an input line below a list or a text
)

// Rows returns lines as rows that all have one place.
func Rows(at Place, lines ...string) []Row {
	out := make([]Row, len(lines))
	for i, l := range lines {
		out[i] = Row{Text: l, Place: at}
	}
	return out
}

// FillRows is Fill for rows.
func FillRows(rows []Row, w, h int) []Row {
	rows = rows[:min(len(rows), max(h, 0))]
	for len(rows) < h {
		rows = append(rows, Row{Text: Blank(w), Place: Nowhere})
	}
	return rows
}

// Wide is from how many cells on a page shows a list and its detail beside each other.
const Wide = 140

// Beside joins the rows of a list, of left cells, and those of its detail by a line between
// them.
func Beside(b Brush, list, detail []Row, left int) []Row {
	edge := b.Line(1, Span{theme.Border, b.Theme.Box().Left})
	for i, r := range detail {
		l := &list[i]
		if l.Text += edge + r.Text; l.Place == Ruled {
			l.Place = Nowhere
		}
		for _, s := range r.Spots {
			l.Spots = append(l.Spots, Spot{s.From + left + 1, s.To + left + 1, s.Place})
		}
		if r.Place != Ruled {
			l.Spots = append(l.Spots, Spot{left + 1, left + 1 + Cells(r.Text), r.Place})
		}
	}
	return list
}
