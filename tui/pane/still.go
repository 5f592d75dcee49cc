package pane

import (
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/action"
	"ollimbot/tui/widget"
)

// Still is what a page that takes no text, has no line of its own on a tiny terminal
// and keeps nothing of a snapshot need not say itself.
type Still struct{}

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
