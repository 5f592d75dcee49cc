package view

import (
	"cmp"
	"fmt"
	"time"

	"ollimbot/core"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
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
	n := min(f.W, widget.Cells(mark.Text)+widget.Cells(text)+1)
	return widget.Brush{Theme: f.Theme, Back: theme.Select}.Line(n, mark, widget.Span{Text: text}) + widget.Blank(f.W-n)
}

// The caption of the demo explains, in the row of toasts, what has just happened. It
// depends only on the snapshot.

// captionTime is how long a caption is shown.
const captionTime = 15 * time.Second

// tryTime is how long the demo suggests keys at its start, before the first caption.
const tryTime = 5 * time.Second

// captionLine is what the day says about itself, or the demo's caption; empty without one.
func (f frame) captionLine() string {
	if d := f.Panes[action.Day].(*day.Pane); f.plan.Day > 0 && (f.Focus == action.Day || !f.Demo) {
		return d.Caption(f.Context, f.W, f.plan.Day, f.Focus == action.Day)
	}
	if !f.Demo {
		return ""
	}
	text := tryText(f.Keys, f.Theme.ASCII())
	if f.Snap.At.Sub(f.Snap.Started) >= tryTime {
		text = cmp.Or(caption(f.Snap), text)
	}
	b := widget.Brush{Theme: f.Theme}
	return b.Line(f.W, widget.Span{Role: theme.Accent, Text: " demo: "}, widget.Span{Role: theme.Dim, Text: text})
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
		case f.Pings > 0:
			tell(f.Ended, textStoryPinged, name(f.Title))
		case f.Quiet > 0:
			tell(f.Ended, textStoryLeft, name(f.Title))
		case f.Refused > 0:
			tell(f.Ended, textStoryNoPing, name(f.Title))
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
