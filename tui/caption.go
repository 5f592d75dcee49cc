package tui

import (
	"cmp"
	"fmt"
	"time"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// The caption of the demo tells in the row of what is said, while nothing is, what
// has just been seen. It is made of the snapshot alone, as all of the screen.

// captionTime is how long something is told.
const captionTime = 15 * time.Second

// firstWords is how long the demo begins with what can be tried.
const firstWords = 5 * time.Second

// captionLine is the caption in a row of its own; empty where none is wanted.
func (r *root) captionLine() string {
	if !r.o.Try {
		return ""
	}
	text := tryText(r.keys, r.theme.ASCII())
	if r.snap.At.Sub(r.snap.Started) >= firstWords {
		text = cmp.Or(caption(r.snap), text)
	}
	b := widget.Brush{Theme: r.theme}
	return b.Line(r.w, widget.Span{Role: theme.Accent, Text: " " + textDemoMark}, widget.Span{Role: theme.Dim, Text: text})
}

// caption is what has happened last, and what it means; empty after a while.
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
		default:
			tell(p.At, textStoryPings, name(p.Title), budgetState(s))
		}
	}
	if s.Fork == nil && len(s.Approvals) > 0 {
		tell(s.Approvals[0].Asked, textStoryAsks, brief(s.Approvals[0]))
	}
	return text
}

const (
	textDemoMark      = "demo: "
	textStoryRuns     = "%s began: a run works in the background, beside the conversation"
	textStoryFailed   = "%s failed: it stays in the top line until you have looked"
	textStoryReports  = "%s ended and left an update: the conversation hears of it with your next message"
	textStoryDone     = "%s ended: it had nothing to say, so it cost no ping"
	textStoryPings    = "%s pinged: one token spent, %s left"
	textStoryCritical = "%s pinged, and it was critical: that passes without a token"
	textStoryRefused  = "%s wanted to ping and was refused: %s"
	textStoryAsks     = "%s waits for your word: nothing happens without it"
)
