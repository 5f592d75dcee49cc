// Package view draws the dashboard as a pure function of its State: the snapshot, the
// focus, the theme, the size. Frame returns the lines, At the target under a cell. It
// changes nothing and must not know the program that runs it.
package view

import (
	"cmp"
	"time"

	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/chat"
	"ollimbot/tui/toast"
	"ollimbot/tui/undo"
)

// State is everything that determines the screen. Context is that of the focused pane.
type State struct {
	pane.Context
	W, H  int // in cells
	Panes map[action.Pane]pane.Pane
	Focus action.Pane
	// Lower is the pane in the box that Chat and Logs share.
	Lower action.Pane
	// Dialogs are the open dialogs, the topmost last.
	Dialogs []pane.Dialog
	// Toasts are the visible toasts, the newest last.
	Toasts []toast.Toast
	// Beneath is the pane that had the focus before the day; empty without one.
	Beneath action.Pane
	// Since is when what stops the bot (see Stopped) was seen first; zero if nothing does.
	Since time.Time
	// Hidden is the ID of a tool call whose card the user has hidden on a small screen.
	Hidden string
	// Host is the bot's host; empty if it is this machine.
	Host string
	// Demo means that this is the demo.
	Demo bool
	// Changes are what can be undone and redone.
	Changes *undo.History
	// Offers are the programs that can be started from here.
	Offers dialog.Offers
}

// Top is the dialog that has the keys, or nil.
func (s *State) Top() pane.Dialog {
	if n := len(s.Dialogs); n > 0 {
		return s.Dialogs[n-1]
	}
	return nil
}

// names are the key names for dialogs and toasts: the chat's, and those that work
// everywhere.
func (s *State) names() action.Names { return s.Names(action.Chat) }

// Tiny reports whether the screen is too small for the dashboard.
func (s *State) Tiny() bool { return s.W < layout.StripWidth || s.H < layout.StripHeight }

// Plan divides the screen.
func (s *State) Plan() layout.Plan { return layout.Divide(s.division()) }

func (s *State) division() layout.Input {
	preset := s.Chosen.Get("layout")
	return layout.Input{
		W: s.W, H: s.H, Zoom: s.Zoomed, Focus: cmp.Or(s.Beneath, s.Focus), Lower: s.Lower, Writing: s.NeedsRoom(),
		Preset: preset, Size: s.Chosen.Size(preset), Needs: s.needs, Bare: s.Panes[s.listed()].(detailer).Len() == 0,
	}
}

// needs returns how many rows of so many cells a pane can fill; 0 means any number. What is selected gets a third of the screen at most.
func (s *State) needs(p action.Pane, cells int) int {
	if p == action.Detail {
		return len(s.Panes[s.listed()].(detailer).Detail(s.Context, cells, s.H/3).Rows)
	}
	if sized, ok := s.Panes[p].(interface {
		Needs(c pane.Context, cells int) int
	}); ok {
		return sized.Needs(s.Context, cells)
	}
	return 0
}

// NeedsRoom reports whether the focused pane must be visible: it takes text input, or it
// has a tool call to approve that the user has not hidden.
func (s *State) NeedsRoom() bool {
	if s.Panes[s.Focus].Capture() {
		return true
	}
	calls := s.Snap.Approvals
	return s.Focus == action.Chat && len(calls) > 0 && calls[0].ID != s.Hidden
}

// Hideable is the ID of the tool call whose card has replaced the strip of a small screen;
// empty if none has.
func (s *State) Hideable() string {
	if len(s.Snap.Approvals) == 0 || !s.NeedsRoom() || s.Plan().Mode != layout.Strip {
		return ""
	}
	return s.Snap.Approvals[0].ID
}

// The steps by which a pane is resized, in cells.
const (
	columnStep = 4
	rowStep    = 2
)

// steps are the actions that move borders, with the distance.
var steps = map[action.ID]struct{ columns, rows int }{
	action.Wider: {columns: columnStep}, action.Narrower: {columns: -columnStep},
	action.Taller: {rows: rowStep}, action.Shorter: {rows: -rowStep},
}

// Resized is the layout after an action that moves a border of the focused pane, or why
// the border cannot move.
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

// hasDay reports whether the day would be visible if it had the focus.
func (s *State) hasDay() bool {
	in := s.division()
	in.Focus, in.Zoom = action.Day, false
	return layout.Divide(in).Day > 0
}

// chooser is a pane whose actions depend on its selection. Off is the reason why an action
// is disabled; empty if it is not.
type chooser interface {
	Off(c pane.Context, id action.ID) string
}

// next is what an undo or a redo would be about; empty for nothing.
func (s *State) next(way undo.Way) string {
	if s.Changes == nil {
		return ""
	}
	if c, ok := s.Changes.Next(way); ok {
		return c.Short()
	}
	return ""
}

// Off is the reason why an action is disabled now; empty if it is not.
func (s *State) Off(a action.Action) string {
	switch {
	case a.Writes && s.ReadOnly:
		return TextReadOnly
	case a.ID == action.Undo && s.next(undo.Back) == "":
		return textNoUndo
	case a.ID == action.Redo && s.next(undo.Forward) == "":
		return textNoRedo
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
