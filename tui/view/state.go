// Package view draws the dashboard, as a pure function of the snapshot, the focus, the
// theme and the size: Frame gives its lines, At what is under a cell. It changes nothing,
// and must not know the program that runs it.
package view

import (
	"ollimbot/core"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/chat"
	"ollimbot/tui/toast"
	"ollimbot/tui/widget"
)

// State is everything that decides what is on the screen. The context is that of the
// focused pane.
type State struct {
	pane.Context
	W, H  int // in cells
	Panes map[action.Pane]pane.Pane
	Focus action.Pane
	// Lower is Chat or Logs: what the box shows that they share.
	Lower action.Pane
	// Dialogs are open, the topmost last.
	Dialogs []pane.Dialog
	// Toasts are showing, the newest last.
	Toasts []toast.Toast
	// ScheduleWidth is ScheduleWidth of the snapshot.
	ScheduleWidth int
	// Hidden is the id of a tool call whose card the user has hidden on a small screen.
	Hidden string
	// Host is where the bot runs; empty on this machine.
	Host string
	// Demo says that this is the demo.
	Demo bool
	// CanUndo says that there is something to undo, Offers what else can be started here.
	CanUndo bool
	Offers  dialog.Offers
}

// Top is the dialog that has the keys, or nil.
func (s *State) Top() pane.Dialog {
	if n := len(s.Dialogs); n > 0 {
		return s.Dialogs[n-1]
	}
	return nil
}

// names are the keys as dialogs and toasts name them: those of the chat, and those
// that work everywhere.
func (s *State) names() action.Names { return s.Names(action.Chat) }

// Tiny reports whether the screen is too small for anything but a page that says so.
func (s *State) Tiny() bool { return s.Plan().Mode == layout.TooSmall }

// Plan divides the screen.
func (s *State) Plan() layout.Plan { return layout.Divide(s.division()) }

func (s *State) division() layout.Input {
	preset := s.Chosen.Get("layout")
	return layout.Input{
		W: s.W, H: s.H, Zoom: s.Zoomed, Focus: s.Focus, Lower: s.Lower, Writing: s.NeedsRoom(),
		Preset: preset, Size: s.Chosen.Size(preset), Content: s.ScheduleWidth,
	}
}

// scheduleColumns are the columns of a row of the schedule around its title: time,
// distance, sign, and what is at its right end.
const scheduleColumns = 28

// ScheduleWidth is how wide the left column must be for no title of the schedule to be
// cut. It is rounded up, so that a change of one letter moves nothing.
func ScheduleWidth(s *core.Snapshot) int {
	n := 0
	for i := range s.Schedule.Tasks {
		n = max(n, widget.Cells(s.Schedule.Tasks[i].Title))
	}
	if n == 0 {
		return 0
	}
	return (n + scheduleColumns + columnStep - 1) / columnStep * columnStep
}

// NeedsRoom reports whether the focused pane must be visible: it takes text, or a tool
// call waits in it that the user has not hidden.
func (s *State) NeedsRoom() bool {
	if s.Panes[s.Focus].Capture() {
		return true
	}
	calls := s.Snap.Approvals
	return s.Focus == action.Chat && len(calls) > 0 && calls[0].ID != s.Hidden
}

// Hideable is the id of the tool call whose card has taken the screen from the strip;
// empty if none has.
func (s *State) Hideable() string {
	if len(s.Snap.Approvals) == 0 || !s.NeedsRoom() || s.Plan().Mode != layout.Strip {
		return ""
	}
	return s.Snap.Approvals[0].ID
}

// The steps of a pane's size.
const (
	columnStep = 4
	rowStep    = 2
)

// steps are the actions that move borders: by columns and rows.
var steps = map[action.ID]struct{ columns, rows int }{
	action.Wider: {columns: columnStep}, action.Narrower: {columns: -columnStep},
	action.Taller: {rows: rowStep}, action.Shorter: {rows: -rowStep},
}

// Resized is the division of the screen after an action that moves a border of the
// focused pane, or why the border cannot move.
func (s *State) Resized(id action.ID) (in layout.Input, why string) {
	if s.Zoomed || s.Plan().Mode != layout.Full {
		return in, textNoSizes
	}
	in, ok := s.division().Step(s.Focus, steps[id].columns, steps[id].rows)
	if !ok {
		return in, textNoRoom
	}
	return in, ""
}

// hasDay reports whether the day would be on the screen if it had the focus.
func (s *State) hasDay() bool {
	in := s.division()
	in.Focus, in.Zoom = action.Day, false
	return layout.Divide(in).Day > 0
}

// chooser is a pane whose actions depend on its selection. Off says why one is off;
// empty means that it can be used.
type chooser interface {
	Off(c pane.Context, id action.ID) string
}

// Off says why an action cannot be used now; empty means that it can.
func (s *State) Off(a action.Action) string {
	switch {
	case a.Writes && s.ReadOnly:
		return TextReadOnly
	case a.ID == action.Undo && !s.CanUndo:
		return textNoUndo
	case a.ID == action.Demo && s.Demo:
		return textInDemo
	case a.ID == action.Demo && !s.Offers.Demo:
		return textDemoShell
	case a.ID == action.SetUp && !s.Offers.SetUp:
		return textSetUpShell
	case a.Off != nil:
		if why := a.Off(*s.Snap); why != "" {
			return why
		}
	}
	_, moves := steps[a.ID]
	switch p, chooses := s.Panes[a.Pane].(chooser); {
	case moves:
		_, why := s.Resized(a.ID)
		return why
	case a.ID == action.Day.Go() && !s.hasDay():
		return textNoDay
	case a.ID == action.ChatSend && s.Panes[action.Chat].(*chat.Pane).Draft() == "":
		return textEmptyMessage
	case chooses:
		return p.Off(s.Context, a.ID)
	}
	return ""
}
