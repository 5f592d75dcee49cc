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
