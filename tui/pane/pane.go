// Package pane defines the interface between the dashboard's frame and its panes. A pane owns its cursor, scroll
// position and filters; all other data is in the Context, so that a test can set up any screen. It must not block or
// call the core: it returns commands and reads for the frame to execute.
package pane

import (
	"context"
	"iter"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/core/talk/absence"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/week"
	"ollimbot/tui/action"
	"ollimbot/tui/settings"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// Context is the data that a pane may read while it draws or answers.
type Context struct {
	Theme *theme.Theme
	Snap  *core.Snapshot
	// Tail reads a run's tail, or the log if the ID is core.LogTail. It does not block.
	Tail func(id string, from tail.Cursor) tail.Page
	// Keys are the user's keys, which a pane names in its texts.
	Keys action.Keys
	// Chosen are the user's settings for the look of the dashboard.
	Chosen settings.Dashboard
	// Zoomed means that the focused pane has the whole screen and can show more.
	Zoomed bool
	// ReadOnly disables everything that changes something.
	ReadOnly bool
	// Remote means that the bot keeps running when this dashboard closes.
	Remote bool
	// Still means that nothing draws attention to what has just happened.
	Still bool
}

// freshFor is how long what has just happened stands out.
const freshFor = 3 * time.Second

// Fresh reports whether something has happened just now, so that it is seen to arrive: it is inverse for a moment.
func (c Context) Fresh(at time.Time) bool { return !c.Still && Fresh(c.Snap, at) }

// Fresh reports whether something has happened within a snapshot's last seconds.
func Fresh(s *core.Snapshot, at time.Time) bool {
	age := s.At.Sub(at)
	return age >= 0 && age < freshFor
}

// Names returns the names of a pane's keys for sentences.
func (c Context) Names(p action.Pane) action.Names {
	return action.Names{Keys: c.Keys, Pane: p, ASCII: c.Theme.ASCII()}
}

// Pane is one box of the dashboard. The frame draws border and title; the pane renders the content.
type Pane interface {
	// State returns the text at the right end of the pane's border: uncoloured, the most important words first, such as
	// "next 3h".
	State(c Context) string
	// Draw renders exactly h rows of exactly w cells, at least one of each.
	Draw(c Context, w, h int, focused bool) []widget.Row
	// Line returns the pane as one line of exactly w cells, for tiny terminals.
	Line(c Context, w int) string
	// Do executes an action of this pane. The frame calls it only for actions that are not disabled by the action table,
	// by the pane's own Off, or because the dashboard is read-only.
	Do(c Context, id action.ID) Answer
	// Press selects the item of a row that was clicked. It returns the action of the
	// click, if any, such as that of enter on an item that was already selected. focused
	// means that the pane had the focus before.
	Press(c Context, at widget.Place, focused bool) action.ID
	// Capture reports whether the pane currently takes every key as text (a search, a form, the chat's input line).
	Capture() bool
	// Type passes a captured key or a paste to the pane.
	Type(c Context, msg tea.Msg) Answer
	// Sync passes a new snapshot to the pane before it draws.
	Sync(c Context)
}

// Reader reads data that a snapshot does not contain, like core.Reader. Its methods change nothing, may block and
// respect ctx.
type Reader interface {
	Preview(ctx context.Context, id string) (string, error)
	Describe(ctx context.Context, id string) (string, error)
	Costs(ctx context.Context, days int) (command.CostReport, error)
	Runs(ctx context.Context, from command.Mark, most int) (fork.Page, error)
	Past(ctx context.Context, id string) (command.TaskPast, error)
	Away(ctx context.Context) (absence.Report, error)
	Week(ctx context.Context, ago int) (week.Report, error)
	DueTimes(ctx context.Context, since time.Time) (command.DueTimes, error)
	Models(ctx context.Context) ([]command.ModelChoice, error)
}

// Load reads data concurrently with the program, and must not access the state that the program draws.
type Load func(context.Context, Reader) Loaded

// Loaded applies the result of a Load. The program calls it, unless the dialog that requested it was closed.
type Loaded func(Context) Answer

// Loader is a pane that shows more than a snapshot contains.
type Loader interface {
	// Wants returns a Load that the pane needs, or a command in Do. It is called after each key and each snapshot,
	// except while a Load of the pane is running.
	Wants(c Context) Answer
}

// Dialog is drawn over the panes and takes all keys: a question, a form, a page to read. The frame only keeps a stack
// of them. tui/dialog creates them; a pane opens one with Answer.Open.
type Dialog interface {
	// Title returns the heading of its box.
	Title() string
	// Draw returns the content: at least one line, all of equal width, at most w by h cells.
	Draw(c Context, w, h int) []string
	// Update handles input: a tea.KeyPressMsg, a tea.PasteMsg, a Click or a Wheel; and a Done once its command was
	// executed.
	Update(c Context, msg tea.Msg) Answer
	// Hint returns the help line while it is open.
	Hint() []key.Binding
}

// Click is a click on cell X of line Y of a dialog's last drawing; Beside means that
// it was outside the box.
type Click struct {
	X, Y   int
	Beside bool
}

// Wheel is a notch of the wheel over a dialog.
type Wheel struct{ Up bool }

// Done is the outcome of a command of Answer.Send.
type Done struct{ Err error }

// Leave is how the user leaves the dashboard.
type Leave uint8

// The ways out.
const (
	Stay Leave = iota
	Quit
	SetUp // to the questions of the setup
	Demo  // to the demo, instead of this dashboard
)

// Answer is the request of a pane or a dialog to the frame. The zero Answer only redraws.
type Answer struct {
	Do    command.Value // run this, toast its outcome
	Open  Dialog        // put this over the panes
	Send  command.Value // run this and send a Done to the dialog that answers
	Load  Load          // read this for the opened dialog, else for the answering one, or the Loader
	Ask   *Question     // ask first
	Toast string        // show this message
	Copy  string        // put this on the clipboard (OSC 52)
	Zoom  bool          // give the pane the whole screen
	Focus action.Pane   // move the focus
	Item  string        // and show the item with this ID there: a run, a task, a setting
	Query string        // and filter its rows
	Edit  *Edit         // open a file in the user's editor

	// For dialogs only.

	Close bool           // close the dialog
	Run   *action.Action // act as if its key were pressed
	Sure  bool           // the user has confirmed: Do and Run do not ask again
	Leave Leave
	Look  map[string]string // change these appearance settings: "theme"
	Seen  bool              // the welcome was dismissed: it no longer opens by itself
}

// Edit is a file of the data directory and a place in it: line and column from 1, or 0.
type Edit struct {
	File         string
	Line, Column int
}

// Question is asked before a change that cannot be undone. The safe answer is the
// default.
type Question struct {
	Text string // "Stop \"Email sweep\"? It has run 0:12 and spent $0.01."
	Yes  string // "stop it"
	No   string // "leave it running"
	Do   command.Value
}

// Look returns the sign and the colour of a run's state; a word always accompanies them.
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

// Hours returns every each-th clock hour around a snapshot's time, with its label. Midnight is labelled with its day.
func Hours(s *core.Snapshot, reach time.Duration, each int) iter.Seq2[time.Time, string] {
	return func(yield func(at time.Time, label string) bool) {
		from := s.Local(s.At).Add(-reach)
		for i := range 2*int(reach.Hours()) + 2 {
			at := time.Date(from.Year(), from.Month(), from.Day(), from.Hour()+i, 0, 0, 0, from.Location())
			label := s.Clock(at, "15")
			if at.Hour() == 0 {
				label = at.Format("Mon")
			}
			if at.Hour()%each == 0 && !yield(at, label) {
				return
			}
		}
	}
}

// List is a pane, or a part of one, that is a table: it sorts, filters and selects rows.
type List[T any] struct {
	Still
	table.Table[T]
	// Open is the action of a click on the row that was already selected.
	Open action.ID
}

// Do executes the actions common to all lists.
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

// Capture implements Pane: the filter takes every key while it is being typed.
func (l *List[T]) Capture() bool { return l.Query.Typing() }

// Hint returns the help line while the filter is being typed.
func (l *List[T]) Hint() []key.Binding { return l.Query.Hint() }

// Type implements Pane.
func (l *List[T]) Type(_ Context, msg tea.Msg) Answer {
	l.Table.Type(msg)
	return Answer{}
}

// End removes the filter and reports whether there was one.
func (l *List[T]) End(Context) bool { return l.EndQuery() }

// Still implements the methods of a page without text input, state, selection or a line for tiny terminals.
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
