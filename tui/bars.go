package tui

import (
	"strconv"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

func itoa(n int) string { return strconv.Itoa(n) }

// topLine says what is running, in as many words as fit, and the time.
func (r *root) topLine() string {
	s := r.snap
	var right []widget.Span
	if r.o.ReadOnly {
		right = append(right, widget.Span{Role: theme.Warn, Text: r.theme.Glyph(theme.Lock) + " " + textReadOnlyMark + "   "})
	}
	if !s.At.IsZero() {
		at := s.At
		if s.Zone != nil {
			at = at.In(s.Zone)
		}
		right = append(right, widget.Span{Text: at.Format("15:04")}, widget.Span{Role: theme.Dim, Text: " " + zoneWord(at) + " "})
	}
	if calls := r.calls(); calls != nil {
		if right = append(calls, right...); widget.Width(right) > r.w/2 { // no clock then
			right = calls
		}
	}
	brush := widget.Brush{Theme: r.theme}
	var left []widget.Span
	for detail := 4; detail >= 0; detail-- {
		left = r.running(s, detail)
		if widget.Width(left)+widget.Width(right)+1 <= r.w {
			break
		}
	}
	return brush.Spread(r.w, left, right)
}

// running are the facts of the top line: with detail 4 all of them, with 0 the
// name alone.
func (r *root) running(s *core.Snapshot, detail int) []widget.Span {
	spans := []widget.Span{{Text: " "}, {Role: theme.Strong, Text: textName}}
	if detail >= 1 {
		spans = append(spans, r.light(s.Surface.OK, s.Surface.Name, "", s.Surface.State, detail >= 3)...)
	}
	if detail >= 2 {
		model := s.Engine.Model
		if detail < 4 || model == s.Engine.Name {
			model = ""
		}
		spans = append(spans, r.light(s.Engine.OK, s.Engine.Name, model, s.Engine.State, detail >= 3)...)
	}
	if detail >= 4 {
		spans = append(spans, widget.Span{Role: theme.Dim, Text: "   " +
			widget.Count(uint64(max(0, s.Routines)), textRoutine) + textDot + widget.Count(uint64(max(0, s.Reminders)), textReminder)})
	}
	return spans
}

// light is a thing that is up or not: never by colour alone.
func (r *root) light(ok bool, name, model, state string, long bool) []widget.Span {
	if name == "" {
		return nil
	}
	role, glyph := theme.Good, theme.Dot
	if !ok {
		role, glyph = theme.Bad, theme.Cross
	}
	spans := []widget.Span{{Text: "   "}, {Role: role, Text: r.theme.Glyph(glyph)}, {Text: " " + name}}
	if model != "" {
		spans = append(spans, widget.Span{Role: theme.Dim, Text: " " + model})
	}
	state, room := clean.Line(state), max(8, r.w/3)
	switch {
	case state == "":
	case !ok: // trouble can be a whole sentence: E shows it in full
		spans = append(spans, widget.Span{Role: theme.Bad, Text: " " + clean.Cut(state, room)})
	case long && widget.Cells(state) <= room: // half of what is fine helps nobody
		spans = append(spans, widget.Span{Role: theme.Dim, Text: " " + state})
	}
	return spans
}
