package schedule

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
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
}

// hours counts the fires of the day by hour, from the hour that has begun.
// Held tasks do not fire.
func hours(c pane.Context) (from time.Time, out [24]hour) {
	now := c.Snap.At.In(zone(c.Snap))
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
	return from, out
}

// timeline draws the day in two lines and one of air: how many tasks fire in
// each hour, and the hours below. What only silent tasks do is dim, and has the
// sign of silence behind its number where there is room.
func timeline(c pane.Context, w int) []string {
	from, all := hours(c)
	wide := min(4, (w-2)/24)
	marks := []widget.Span{{Text: " "}}
	scale := []byte(strings.Repeat(" ", 24*wide))
	each := 3
	if wide == 1 {
		each = 6
	}
	for i, at := range all {
		marks = append(marks, mark(c.Theme, at, wide))
		if i%each == 0 {
			copy(scale[i*wide:], from.Add(time.Duration(i)*time.Hour).Format("15"))
		}
	}
	if left := w - 1 - 24*wide; left >= widget.Cells(textDayLegend)+1 {
		marks = append(marks, widget.Span{Role: theme.Dim, Text: " " + textDayLegend})
	}
	b := widget.Brush{Theme: c.Theme}
	return []string{b.Line(w, marks...), b.Line(w, widget.Span{Role: theme.Dim, Text: " " + string(scale)}), widget.Blank(w)}
}

// mark is one hour of the timeline.
func mark(t *theme.Theme, at hour, wide int) widget.Span {
	if at.fires == 0 {
		return widget.Span{Role: theme.Track, Text: "·" + strings.Repeat(" ", wide-1)}
	}
	text, role := fmt.Sprint(at.fires), theme.Accent
	if at.fires > 9 {
		text = "+"
	}
	switch {
	case at.front:
		role = theme.You
		text += t.Glyph(theme.Circle)
	case !at.audible:
		role = theme.Dim
		text += t.Glyph(theme.Mute)
	}
	return widget.Span{Role: role, Text: text[:min(len(text), 1)] + widget.Fit(text[min(len(text), 1):], wide-1)}
}
