package budget

import (
	"ollimbot/core"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

// summary is the state beside the title.
func summary(s *core.Snapshot) string {
	b := s.Budget
	switch {
	case b.State.Capacity <= 0:
		return "muted"
	case !b.Muted.IsZero():
		return "muted"
	case !b.Quiet.IsZero():
		return "quiet"
	case b.State.Available < 1:
		return "empty"
	case !b.Dry.IsZero():
		return textShort(clock(s, b.Dry))
	}
	return ""
}

// muted says until when only critical pings pass, by the user's word or by
// quiet hours; false when all do.
func muted(s *core.Snapshot) (string, bool) {
	b := s.Budget
	switch {
	case !b.Muted.IsZero():
		return textMutedUntil(clock(s, b.Muted)), true
	case !b.Quiet.IsZero():
		return textQuiet(clock(s, b.Quiet)), true
	}
	return "", false
}

// gauge is the bar and its numbers.
func gauge(c pane.Context, w int) []widget.Span {
	st := c.Snap.Budget.State
	numbers := []widget.Span{
		{Role: theme.Strong, Text: tokens(st.Available)},
		{Role: theme.Dim, Text: " / "},
		{Role: theme.Text, Text: tokens(float64(st.Capacity))},
	}
	room := min(w-widget.Width(numbers)-2, 64)
	if room < 4 {
		return numbers
	}
	return append(append(bar(c, room), widget.Span{Text: "  "}), numbers...)
}

// bar is the gauge alone; without a whole token it looks like an alarm.
func bar(c pane.Context, w int) []widget.Span {
	st := c.Snap.Budget.State
	share := 0.0
	if st.Capacity > 0 {
		share = st.Available / float64(st.Capacity)
	}
	out := chart.Gauge(c.Theme, share, w)
	if st.Available < 1 && len(out) > 0 {
		out[0].Role = theme.Bad
	}
	return out
}

// state is what comes, at which rate, and what today has used, in lines of w cells.
func state(c pane.Context, w int) (out [][]widget.Span) {
	s, b := c.Snap, c.Snap.Budget
	say := func(role theme.Role, text string) {
		span, last := widget.Span{Role: role, Text: text}, len(out)-1
		if last < 0 || widget.Width(out[last])+widget.Cells(text)+3 > w {
			out = append(out, []widget.Span{span})
			return
		}
		out[last] = append(out[last], widget.Span{Role: theme.Dim, Text: " · "}, span)
	}
	if until, ok := muted(s); ok {
		say(theme.Warn, until)
		say(theme.Dim, textOnly)
	}
	switch {
	case b.State.Capacity <= 0:
		say(theme.Warn, textMuted)
		say(theme.Dim, textMutedHelp(c.Names(action.Budget)))
	case b.State.Available < 1:
		say(theme.Bad, textEmpty)
	}
	if b.State.Capacity > 0 && b.NextAt.IsZero() {
		say(theme.Good, textFull)
	} else if !b.NextAt.IsZero() {
		say(theme.Text, textNext(b.NextAt.Sub(s.At)))
	}
	if !b.FullAt.IsZero() {
		say(theme.Dim, textFullAt(clock(s, b.FullAt)))
	}
	if b.Reserved > 0 {
		say(theme.Accent, textReserved(b.Reserved))
	}
	if b.State.Capacity > 0 {
		say(theme.Dim, textRate(b.State.RefillRateMinutes))
	}
	say(theme.Dim, textToday(b.State.DailyUsed))
	critical := textCritical(b.State.CriticalUsed)
	if b.State.CriticalUsed > 0 {
		critical = c.Theme.Glyph(theme.Bell) + " " + critical
	}
	say(theme.Dim, critical)
	return out
}

// oneLine is the pane for tiny terminals.
func oneLine(c pane.Context, w int) []widget.Span {
	s, b := c.Snap, c.Snap.Budget
	out := []widget.Span{{Role: theme.Strong, Text: textName}}
	if w >= 44 {
		out = append(append(out, bar(c, 8)...), widget.Span{Text: " "})
	}
	out = append(out, widget.Span{Text: tokens(b.State.Available) + "/" + tokens(float64(b.State.Capacity)) + "  "})
	until, muting := muted(s)
	switch {
	case b.State.Capacity <= 0:
		out = append(out, widget.Span{Role: theme.Warn, Text: textMuted})
	case muting:
		out = append(out, widget.Span{Role: theme.Warn, Text: until})
	case !b.Dry.IsZero():
		out = append(out, widget.Span{Role: theme.Warn, Text: c.Theme.Glyph(theme.Bang) + " " + textDry(clock(s, b.Dry), "")})
	case b.NextAt.IsZero():
		out = append(out, widget.Span{Role: theme.Good, Text: textFull})
	default:
		out = append(out, widget.Span{Role: theme.Dim, Text: textNext(b.NextAt.Sub(s.At))})
	}
	return out
}
