// Package pane says what the dashboard's frame asks of a pane. A pane owns its
// cursor, scroll and filters; everything else it shows comes with the Context,
// so any state of the screen is a test fixture. A pane never blocks and never
// talks to the core: it answers with what should be done.
package pane

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/settings"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// Context is what a pane may look at while it renders or answers.
type Context struct {
	Theme *theme.Theme
	Snap  *core.Snapshot
	// Tail reads a run's tail, or the log with core.LogTail as its id. It does not block.
	Tail func(id string, from tail.Cursor) tail.Page
	// Keys are the keys that the user has chosen: what a pane says about a key
	// names these.
	Keys action.Keys
	// Chosen is how the user wants the dashboard to look.
	Chosen settings.Dashboard
	// Zoomed says that the focused pane has the whole body: it shows more then.
	Zoomed bool
	// ReadOnly switches off everything that changes something.
	ReadOnly bool
	// Remote says that the bot goes on when this dashboard is left.
	Remote bool
}

// Names names the keys of a pane in its sentences.
func (c Context) Names(p action.Pane) action.Names {
	return action.Names{Keys: c.Keys, Pane: p, ASCII: c.Theme.ASCII()}
}

// Pane is one box of the dashboard. The frame draws border and title; a pane
// renders what is inside.
type Pane interface {
	// State stands at the right end of the pane's border: uncoloured words, the most
	// telling first, such as "next 3h".
	State(c Context) string
	// Draw renders exactly h rows of exactly w cells, of which there is one at least.
	Draw(c Context, w, h int, focused bool) []widget.Row
	// Line is the pane in one line of exactly w cells, for tiny terminals.
	Line(c Context, w int) string
	// Do carries out an action of this pane which neither the table of actions nor the
	// pane's own Off, nor a dashboard that is read-only, switches off.
	Do(c Context, id action.ID) Answer
	// Press answers a click on a drawn row: an item is selected. It gives the action
	// that the click stands for, if any, such as what enter does on the item that was
	// selected already. focused says that the pane had the focus before.
	Press(c Context, at widget.Place, focused bool) action.ID
	// Capture reports whether the pane takes every key as text now (a search,
	// an exact entry, the chat's input line).
	Capture() bool
	// Type gives a captured key or a paste to the pane.
	Type(c Context, msg tea.Msg) Answer
	// Sync tells the pane that a new snapshot has come, before it renders.
	Sync(c Context)
}

// Reader is a pane that shows more than a snapshot holds.
type Reader interface {
	// Wants is what the pane would like to have read, or noted without a word; nil for
	// nothing. It is asked after each key and each snapshot, but not again before what
	// it wanted has been done.
	Wants(c Context) command.Value
	// Read takes what has come of it.
	Read(c Context, o command.Outcome, err error) Answer
}

// Dialog is what lies over the panes and takes all keys: a question, a form, a
// page to read. The frame keeps a stack of them and knows no more than this.
// tui/dialog makes them; a pane opens one with Answer.Open.
type Dialog interface {
	// Title is the heading of its box.
	Title() string
	// Draw gives the inside: at least one line, all of equal width, at most w by h
	// cells. One that wants air around it takes less.
	Draw(c Context, w, h int) []string
	// Take answers what the user does: a tea.KeyPressMsg, a tea.PasteMsg, a Click or
	// a Wheel; and a Done once what it has asked for is carried out.
	Take(c Context, msg tea.Msg) Answer
	// Hint is the help line meanwhile.
	Hint() []key.Binding
}

// Click is a click on cell X of line Y of what a dialog has drawn last; Beside
// says that it was beside the box.
type Click struct {
	X, Y   int
	Beside bool
}

// Wheel is a notch of the wheel over a dialog.
type Wheel struct{ Up bool }

// Done is what has become of a command of Answer.Send.
type Done struct {
	Outcome command.Outcome
	Err     error
}

// Leave is where an answer leads out of the dashboard.
type Leave uint8

// The ways out.
const (
	Stay Leave = iota
	Quit
	SetUp // to the questions of the set-up
	Demo  // to the demo, in the place of this dashboard
)

// Answer is what a pane or a dialog wants to happen. The zero Answer redraws and
// no more.
type Answer struct {
	Do    command.Value // run this, toast its outcome
	Open  Dialog        // put this over the panes
	Send  command.Value // run this for the dialog that opens, else for the one that answers: it is told what came of it
	Ask   *Question     // ask first
	Toast string        // say something at once
	Copy  string        // put this on the clipboard (OSC 52)
	Zoom  bool          // give the pane the whole screen
	Focus action.Pane   // move the focus
	Item  string        // and show there what has this id: a run, a task, a setting
	Edit  *Edit         // open a file in the user's editor

	// What only dialogs want.

	Close bool           // the dialog goes
	Run   *action.Action // do as if its key were pressed
	Leave Leave
	Seen  bool // the welcome was dismissed: it opens no more by itself
}

// Edit is a file of the data directory, and where in it: line and column from
// 1, or 0.
type Edit struct {
	File         string
	Line, Column int
}

// Question is asked before something that cannot be undone. The safe answer
// is the default.
type Question struct {
	Text string // "Stop \"Email sweep\"? It has run 0:12 and spent $0.01."
	Yes  string // "stop it"
	No   string // "leave it running"
	Do   command.Value
}

// Look is the sign of a run's state and its colour; a word goes with them.
func Look(s fork.State) (theme.Glyph, theme.Role) {
	switch {
	case s == fork.Waiting:
		return theme.HalfDot, theme.Warn
	case s == fork.Running:
		return theme.Running, theme.Good
	case s == fork.Done:
		return theme.Check, theme.Good
	case s.Failed():
		return theme.Cross, theme.Bad
	case s == fork.Interrupted:
		return theme.Stopped, theme.Warn
	}
	return theme.Stopped, theme.Dim
}

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
