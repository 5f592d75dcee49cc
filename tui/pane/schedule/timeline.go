package schedule

import (
	"strconv"
	"strings"
	"time"

	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

// The timeline needs a cell an hour, and leaves the list more than half of the
// lines.
const (
	timelineWidth = 24 + 2
	timelineRoom  = 8
)

// hour is what fires within one hour of the timeline.
type hour struct {
	fires int
	// audible says that one of them may ping, front that one belongs to the
	// main conversation.
	audible, front bool
	unknown        bool // the list of fires ends before the hour does
}

// hours counts the fires of the day by hour, from the hour that has begun.
// Held tasks do not fire.
func hours(c pane.Context) (from time.Time, out [24]hour) {
	now := c.Snap.Local(c.Snap.At)
	from = now.Truncate(time.Hour)
	if _, off := now.Zone(); off%3600 != 0 { // hours of the wall, not of UTC
		from = now.Add(-time.Duration(now.Minute())*time.Minute - time.Duration(now.Second())*time.Second)
	}
	for _, e := range c.Snap.Schedule.Day {
		i := int(e.FireTime.Sub(from) / time.Hour)
		if e.Held || e.FireTime.Before(from) || i >= len(out) {
			continue
		}
		out[i].fires++
		out[i].front = out[i].front || e.Foreground
		out[i].audible = out[i].audible || !e.Silent
	}
	if until, ok := wholeDay.more(c.Snap); ok {
		for i := range out {
			out[i].unknown = from.Add(time.Duration(i+1) * time.Hour).After(until)
		}
	}
	return from, out
}

// scale is how a timeline is drawn: with numbers, or with bars where those would
// run into each other.
type scale struct {
	wide int // cells of an hour
	most int // the most fires of an hour that are known
	bars bool
}

func scaleOf(all [24]hour, w int) scale {
	s := scale{wide: min(4, (w-2)/24)}
	for _, at := range all {
		if !at.unknown {
			s.most = max(s.most, at.fires)
		}
	}
	s.bars = len(strconv.Itoa(s.most)) >= s.wide
	return s
}

// timeline draws the day in three lines: how many tasks fire in each hour, the
// hours below, and what the signs mean, which has a place at the right in a wide
// pane. What only silent tasks do is dim, and has the sign of silence behind its
// number where there is room.
func timeline(c pane.Context, w int) []string {
	from, all := hours(c)
	s := scaleOf(all, w)
	marks := []widget.Span{{Text: " "}}
	below := []byte(strings.Repeat(" ", 24*s.wide))
	each := 3
	if s.wide == 1 {
		each = 6
	}
	for i, at := range all {
		marks = append(marks, s.mark(c.Theme, at)...)
		if i%each == 0 {
			copy(below[i*s.wide:], c.Snap.Clock(from.Add(time.Duration(i)*time.Hour), "15"))
		}
	}
	legend := " " + s.legend(all)
	b := widget.Brush{Theme: c.Theme}
	last := b.Line(w, widget.Span{Role: theme.Dim, Text: legend})
	if w-1-24*s.wide >= widget.Cells(legend) {
		marks = append(marks, widget.Span{Role: theme.Dim, Text: legend})
		last = widget.Blank(w)
	}
	return []string{b.Line(w, marks...), b.Line(w, widget.Span{Role: theme.Dim, Text: " " + string(below)}), last}
}

// legend says what the signs mean that are drawn.
func (s scale) legend(all [24]hour) string {
	out := textDayLegend
	if s.bars && s.most > 0 {
		out = textMost(s.most)
	}
	if all[len(all)-1].unknown {
		out = textUnknown + " · " + out
	}
	return out
}

// mark is one hour of the timeline.
func (s scale) mark(t *theme.Theme, at hour) []widget.Span {
	role, sign := theme.Accent, ""
	switch {
	case at.unknown:
		return []widget.Span{{Role: theme.Warn, Text: widget.Fit("?", s.wide)}}
	case at.fires == 0:
		return []widget.Span{{Role: theme.Track, Text: widget.Fit(nothing(t), s.wide)}}
	case at.front:
		role, sign = theme.You, t.Glyph(theme.Front)
	case !at.audible:
		role, sign = theme.Dim, t.Glyph(theme.Mute)
	}
	if s.bars {
		bar := chart.Spark(t, []float64{float64(at.fires)}, float64(s.most))
		bar[0].Role = role
		return append(bar, widget.Span{Text: widget.Blank(s.wide - 1)})
	}
	text := strconv.Itoa(at.fires)
	if len(text)+1 <= s.wide {
		text += sign
	}
	return []widget.Span{{Role: role, Text: widget.Fit(text, s.wide)}}
}

// nothing stands for an hour in which nothing fires. A terminal without Unicode
// has no dot but a hyphen, which is its sign of silence.
func nothing(t *theme.Theme) string {
	if t.ASCII() {
		return "_"
	}
	return "·"
}
