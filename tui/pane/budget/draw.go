package budget

import (
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

// mood is how it stands with the budget, in a word for the title and in a few more.
func mood(c pane.Context) (role theme.Role, short, long string) {
	s, b := c.Snap, c.Snap.Budget
	switch {
	case b.State.Capacity <= 0:
		return theme.Warn, stateMuted, textMuted
	case !b.Muted.IsZero():
		return theme.Warn, stateMuted, textMutedUntil(clock(s, b.Muted))
	case !b.Quiet.IsZero():
		return theme.Warn, stateQuiet, textQuiet(clock(s, b.Quiet))
	case !b.Dry.IsZero() && b.State.Available >= 1:
		at := clock(s, b.Dry)
		return theme.Warn, textShort(at), c.Theme.Glyph(theme.Bang) + " " + textDry(at, "")
	case b.State.Available < 1:
		return theme.Bad, stateEmpty, textEmpty
	case b.NextAt.IsZero():
		return theme.Good, "", textFull
	}
	return theme.Dim, "", textNext(b.NextAt.Sub(s.At))
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
	switch role, short, long := mood(c); {
	case b.State.Capacity <= 0:
		say(role, long)
		say(theme.Dim, textMutedHelp(c.Names(action.Budget)))
	case short == stateMuted || short == stateQuiet:
		say(role, long)
		say(theme.Dim, textOnly)
	case short == stateEmpty:
		say(role, long)
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

// Line implements pane.Pane.
func (p *Pane) Line(c pane.Context, w int) string {
	b := c.Snap.Budget
	out := []widget.Span{{Role: theme.Strong, Text: textName}}
	if w >= 44 {
		out = append(append(out, bar(c, 8)...), widget.Span{Text: " "})
	}
	role, _, long := mood(c)
	return widget.Brush{Theme: c.Theme}.Line(w, append(out,
		widget.Span{Text: tokens(b.State.Available) + "/" + tokens(float64(b.State.Capacity)) + "  "}, widget.Span{Role: role, Text: long})...)
}
