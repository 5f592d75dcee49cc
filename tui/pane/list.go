package pane

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/action"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// List is a pane, or a part of one, that is a table: what moves, sorts and filters its
// rows, and a click that selects one.
type List[T any] struct {
	Still
	table.Table[T]
	// Open is what a click on the row that was selected already stands for.
	Open action.ID
}

// Do carries out what every list knows.
func (l *List[T]) Do(_ Context, id action.ID) Answer {
	l.Table.Do(id.Verb())
	return Answer{}
}

// Press implements Pane.
func (l *List[T]) Press(_ Context, at widget.Place, focused bool) action.ID {
	if l.Table.Press(at) && focused {
		return l.Open
	}
	return ""
}

// Capture implements Pane: the filter takes every key while it is written.
func (l *List[T]) Capture() bool { return l.Query.Typing() }

// Hint is the help line meanwhile.
func (l *List[T]) Hint() []key.Binding { return l.Query.Hint() }

// Type implements Pane.
func (l *List[T]) Type(_ Context, msg tea.Msg) Answer {
	l.Table.Type(msg)
	return Answer{}
}

// End takes the filter away and reports whether there was one.
func (l *List[T]) End(Context) bool { return l.EndQuery() }

// Still is what a page that takes no text, has no line of its own on a tiny terminal,
// no state and keeps nothing of a snapshot need not say itself.
type Still struct{}

// State implements Pane.
func (Still) State(Context) string { return "" }

// Line implements Pane: a page has none.
func (Still) Line(c Context, w int) string { return widget.Brush{Theme: c.Theme}.Line(w) }

// Do implements Pane.
func (Still) Do(Context, action.ID) Answer { return Answer{} }

// Press implements Pane.
func (Still) Press(Context, widget.Place, bool) action.ID { return "" }

// Capture implements Pane.
func (Still) Capture() bool { return false }

// Type implements Pane.
func (Still) Type(Context, tea.Msg) Answer { return Answer{} }

// Sync implements Pane.
func (Still) Sync(Context) {}
