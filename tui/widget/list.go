package widget

// List is a selection among n rows or items and the part of them on the screen.
type List struct {
	At  int // the selected one
	top int
}

// Move carries out a verb of moving and reports whether it knows it.
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

// Clamp keeps the selection among n items.
func (l *List) Clamp(n int) { l.At = max(0, min(l.At, n-1)) }

// Window is the first of n rows to show in h lines, so that the rows from
// through to are among them and the view moves no further than it must.
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

// Row is a drawn line and what is on it, so that clicks and borders need not look at
// the text.
type Row struct {
	Text  string
	Place Place
	// Spots are parts of the line with a place of their own; the rest has Place.
	Spots []Spot
}

// Spot is the part of a line from a cell up to another one, counted from 0.
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

// The places that are no items.
const (
	Nowhere Place = -1 - iota // a heading, a blank line: a click means nothing
	Ruled                     // a line from edge to edge, which joins the border
	Inner                     // what is below a list or a text: a tail, the input line
)

// Rows are lines of one place.
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
