package pane

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/updates"
	"ollimbot/tui/action"
	"ollimbot/tui/widget"
)

// Filtered is a pane with a list whose rows can be left out by words: it sees a
// snapshot without them. Use Filter.
type Filtered struct {
	Pane
	query widget.Query
	find  action.ID
	sift  Sift
	// last is what was sifted last, for which text.
	last struct {
		from, to *core.Snapshot
		text     string
	}
}

// Sift gives a snapshot without the rows that keeps does not keep, and how many of how
// many are left.
type Sift func(s *core.Snapshot, keeps func(string) bool) (left core.Snapshot, shown, of int)

// Filter gives a pane a filter, which an action opens.
func Filter(p Pane, find action.ID, sift Sift) *Filtered {
	return &Filtered{Pane: p, find: find, sift: sift}
}

// sifted is the context that the pane sees.
func (f *Filtered) sifted(c Context) Context {
	if !f.query.On() {
		return c
	}
	if f.last.from != c.Snap || f.last.text != f.query.Text() {
		left, _, _ := f.sift(c.Snap, f.query.Keeps)
		f.last.from, f.last.to, f.last.text = c.Snap, &left, f.query.Text()
	}
	c.Snap = f.last.to
	return c
}

// Draw implements Pane: the filter has the last row.
func (f *Filtered) Draw(c Context, w, h int, focused bool) []widget.Row {
	if !f.query.Shown() || h < 3 {
		return f.Pane.Draw(f.sifted(c), w, h, focused)
	}
	_, shown, of := f.sift(c.Snap, f.query.Keeps)
	rows := slices.Clip(f.Pane.Draw(f.sifted(c), w, h-1, focused))
	line := f.query.Line(widget.Brush{Theme: c.Theme}, max(0, w), textFound(shown, of))
	return append(rows, widget.Row{Text: line, Place: widget.Nowhere})
}

// Title implements Pane.
func (f *Filtered) Title(c Context) (name, state string) { return f.Pane.Title(f.sifted(c)) }

// Do implements Pane.
func (f *Filtered) Do(c Context, id action.ID) Answer {
	if id == f.find {
		f.query.Open()
		return Answer{}
	}
	return f.Pane.Do(f.sifted(c), id)
}

// Off says why an action cannot be used, as the pane itself does.
func (f *Filtered) Off(c Context, id action.ID) string {
	if p, ok := f.Pane.(interface {
		Off(c Context, id action.ID) string
	}); ok && id != f.find {
		return p.Off(f.sifted(c), id)
	}
	return ""
}

// Press implements Pane.
func (f *Filtered) Press(c Context, at widget.Place, focused bool) action.ID {
	return f.Pane.Press(f.sifted(c), at, focused)
}

// Sync implements Pane.
func (f *Filtered) Sync(c Context) { f.Pane.Sync(f.sifted(c)) }

// Capture implements Pane.
func (f *Filtered) Capture() bool { return f.query.Typing() }

// Hint is the help line while the filter takes every key.
func (f *Filtered) Hint() []key.Binding { return f.query.Hint() }

// Type implements Pane.
func (f *Filtered) Type(c Context, msg tea.Msg) Answer {
	changed, verb := f.query.Type(msg)
	if verb != "" {
		return f.Pane.Do(f.sifted(c), action.ID(f.find.Scope()+"."+verb))
	}
	if changed {
		f.Sync(c)
	}
	return Answer{}
}

// End takes the filter away and reports whether there was one.
func (f *Filtered) End(c Context) bool {
	if !f.query.End() {
		return false
	}
	f.Sync(c)
	return true
}

// SiftUpdates leaves updates out.
func SiftUpdates(s *core.Snapshot, keeps func(string) bool) (left core.Snapshot, shown, of int) {
	left = *s
	left.Updates = kept(s.Updates, func(u updates.Update) bool { return keeps(s.Sourced(u)) })
	return left, len(left.Updates), len(s.Updates)
}

// kept are the items of a list that are kept; the list itself stays as it is.
func kept[T any](list []T, keep func(T) bool) []T {
	var out []T
	for _, v := range list {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}
