package tui

import (
	"context"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/tail"
	"ollimbot/tui/action"
	"ollimbot/tui/theme"
)

// FrameOptions say how one frame is drawn.
type FrameOptions struct {
	Width, Height int // in cells, at least 1
	// Theme paints the frame; nil draws plain text without any styling.
	Theme *theme.Theme
	// Focus is the focused pane; empty means the forks.
	Focus action.Pane
	// Zoom gives the focused pane the whole screen.
	Zoom     bool
	ReadOnly bool
	// Layout is one of layout.Presets; empty means the first.
	Layout string
	// Tail reads lines, as Core.Tail does; nil shows none.
	Tail func(id string, from tail.Cursor) tail.Page
}

// Frame draws the dashboard as it looks when it opens on a snapshot: Height
// lines of exactly Width cells.
func Frame(s core.Snapshot, o FrameOptions) []string {
	r := &root{
		ctx: context.Background(), core: still{s, o.Tail}, o: Options{ReadOnly: o.ReadOnly},
		panes: newPanes(), focus: action.Forks, lower: action.Chat, zoom: o.Zoom,
		theme: o.Theme, w: max(1, o.Width), h: max(1, o.Height),
	}
	if r.theme == nil {
		r.theme = theme.New(theme.Options{Plain: true})
	}
	r.chosen.Layout = o.Layout
	r.setFocus(o.Focus)
	r.refresh()
	// What was said before the dashboard opened is no toast of this frame.
	r.speech = speech{}
	return r.frame()
}

// still is a core that does not live: one snapshot.
type still struct {
	snap core.Snapshot
	read func(id string, from tail.Cursor) tail.Page
}

func (s still) Snapshot() core.Snapshot  { return s.snap }
func (s still) Changed() <-chan struct{} { return nil }

func (s still) Tail(id string, from tail.Cursor) tail.Page {
	if s.read == nil {
		return tail.Page{Next: from}
	}
	return s.read(id, from)
}

func (s still) Do(context.Context, command.Value) (command.Outcome, error) {
	return command.Outcome{}, errStill
}
