package view

import (
	"fmt"
	"time"

	"ollimbot/core"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/day"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// toastMarks are the marks of toasts, by level.
var toastMarks = map[notice.Level]struct {
	role  theme.Role
	glyph theme.Glyph
}{
	notice.Info:  {theme.Accent, theme.Arrow},
	notice.Warn:  {theme.Warn, theme.Bang},
	notice.Alert: {theme.Bad, theme.Cross},
}

// leastToast is the minimum width for a toast's text, in cells. The key that shows the rest
// is omitted if it would leave less.
const leastToast = 40

// toastLine is the newest toast, cut to one line, with the key that shows the rest. It is
// empty if there is no toast.
func (f frame) toastLine() string {
	if len(f.Toasts) == 0 {
		return ""
	}
	newest := f.Toasts[len(f.Toasts)-1]
	look := toastMarks[newest.Level]
	mark := widget.Span{Role: look.role, Text: " " + f.Theme.Glyph(look.glyph) + " "}
	room := f.W - widget.Cells(mark.Text) - 1
	end := ""
	if n := len(f.Toasts) - 1; n > 0 {
		end = fmt.Sprintf(textMore, n, f.names().Name(action.Notices))
	} else if widget.Cells(newest.Text) > room {
		end = fmt.Sprintf(textShowsAll, f.names().Name(action.Notices))
	}
	if len(f.Dialogs) > 0 || f.Panes[f.Focus].Capture() || room-widget.Cells(end) < leastToast {
		end = "" // the key has another meaning there, or the text needs the room
	}
	text := widget.Cut(newest.Text, room-widget.Cells(end)) + end
	return widget.Brush{Theme: f.Theme, Back: theme.Select}.Line(f.W, mark, widget.Span{Text: text})
}

// The caption of the demo explains, in the row of toasts, what has just happened. It
// depends only on the snapshot.

// captionTime is how long a caption is shown.
const captionTime = 15 * time.Second

// The demo suggests keys for tryTime before its first caption, and between captions for triesTime.
const tryTime, triesTime = 5 * time.Second, 2 * time.Minute

// captionLine is the demo's caption, or what the day says about itself; empty without one.
func (f frame) captionLine() string {
	text, focused := "", f.Focus == action.Day
	if age := f.Snap.At.Sub(f.Snap.Started); f.Demo && !focused {
		if age >= tryTime {
			text = caption(f.Snap)
		}
		if text == "" && (age < triesTime || f.plan.Day == 0) {
			text = tryText(f.Keys, f.Theme.ASCII())
		}
	}
	switch {
	case text != "":
		return widget.Brush{Theme: f.Theme}.Line(f.W, widget.Span{Role: theme.Accent, Text: " demo: "}, widget.Span{Role: theme.Dim, Text: text})
	case f.plan.Day > 0:
		return f.Panes[action.Day].(*day.Pane).Caption(f.Context, f.W, f.plan.Day, focused)
	}
	return ""
}

// caption is the latest event and its meaning; empty if captionTime has passed.
func caption(s *core.Snapshot) string {
	text, at := "", s.At.Add(-captionTime)
	tell := func(when time.Time, format string, args ...any) {
		if when.After(at) && !when.After(s.At) {
			text, at = fmt.Sprintf(format, args...), when
		}
	}
	name := func(title string) string { return widget.Cut(title, 24) }
	for i := range s.Forks {
		if f := &s.Forks[i]; f.State == fork.Running {
			tell(f.Started, textStoryRuns, name(f.Title))
		}
	}
	for i := range s.Ended {
		switch f := &s.Ended[i]; {
		case f.State.Failed():
			tell(f.Ended, textStoryFailed, name(f.Title))
		case f.Reports > 0:
			tell(f.Ended, textStoryReports, name(f.Title))
		case f.Pings+f.Quiet+f.Refused > 0:
			tell(f.Ended, textStoryEnded, name(f.Title), pane.OutcomeOf(s, f).Full[0].Text)
		default:
			tell(f.Ended, textStoryDone, name(f.Title))
		}
	}
	for i := range s.Budget.Pings {
		switch p := &s.Budget.Pings[i]; {
		case p.Refused != "":
			tell(p.At, textStoryRefused, name(p.Title), p.Refused)
		case p.Critical:
			tell(p.At, textStoryCritical, name(p.Title))
		case p.Essential:
			tell(p.At, textStoryEssential, name(p.Title))
		case p.Quiet:
			tell(p.At, textStoryQuiet, name(p.Title))
		default:
			tell(p.At, textStoryPings, name(p.Title), s.Outlook().Clause)
		}
	}
	if s.Fork == nil && len(s.Approvals) > 0 {
		tell(s.Approvals[0].Asked, textStoryAsks, Brief(s.Approvals[0]))
	}
	return text
}
