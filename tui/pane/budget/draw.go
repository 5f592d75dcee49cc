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

// line is one line of the pane and how dearly it is needed: 0 goes last.
type line struct {
	spans []widget.Span
	rank  int
}

// draw renders the pane. A pane with little room drops the least needed lines;
// one with much room gets air and a chart of the day.
func draw(c pane.Context, w, h int) []string {
	lines := facts(c, w)
	for len(lines) > h {
		worst := 0
		for i, l := range lines {
			if l.rank >= lines[worst].rank {
				worst = i
			}
		}
		lines = append(lines[:worst], lines[worst+1:]...)
	}
	b := widget.Brush{Theme: c.Theme}
	pad := pad(w)
	var out []string
	for _, l := range lines {
		out = append(out, b.Line(w, append([]widget.Span{{Text: pad}}, l.spans...)...))
	}
	switch spare := h - len(out); {
	case spare >= 1 && w >= 12:
		if spare >= 3 {
			out = append(out, widget.Blank(w))
		}
		out = append(out, b.Line(w, append([]widget.Span{{Text: pad}}, hours(c, w-2)...)...))
		if scale := textScale; spare >= 2 && w >= len(scale)+2 {
			out = append(out, b.Line(w, widget.Span{Text: pad}, widget.Span{Role: theme.Dim, Text: scale}))
		}
	}
	return widget.Fill(out, w, h)
}

// pad is the cell of air at the left, where there is room for it.
func pad(w int) string {
	if w < 16 {
		return ""
	}
	return " "
}

// facts are the lines of text, the gauge first.
func facts(c pane.Context, w int) []line {
	s, b := c.Snap, c.Snap.Budget
	out := []line{{gauge(c, w-2*len(pad(w))), 0}}
	if b.State.Capacity <= 0 {
		out = append(out, line{[]widget.Span{{Role: theme.Warn, Text: textMuted}}, 1})
		for i, l := range widget.Wrap(textMutedHelp(c.Names(action.Budget)), max(1, w-2)) {
			out = append(out, line{[]widget.Span{{Role: theme.Dim, Text: l}}, 4 + i})
		}
	} else {
		if b.State.Available < 1 {
			out = append(out, line{[]widget.Span{{Role: theme.Bad, Text: textEmpty}}, 3})
		}
		out = append(out, line{refill(s, w-2*len(pad(w))), 1})
	}
	if until, ok := muted(s); ok {
		out = append(out, line{[]widget.Span{{Role: theme.Warn, Text: until}, {Role: theme.Dim, Text: " · critical only"}}, 2})
	}
	if ahead := forecast(c, w-2*len(pad(w))); ahead != nil {
		rank := 4
		if !b.Dry.IsZero() {
			rank = 2
		}
		out = append(out, line{ahead, rank})
	}
	out = append(out, line{used(c), 3})
	if b.State.Capacity > 0 {
		out = append(out, line{rate(b, w-2*len(pad(w))), 4})
	}
	return out
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

// refill says when the next token comes and when the bucket is full.
func refill(s *core.Snapshot, w int) []widget.Span {
	b := s.Budget
	if b.NextAt.IsZero() {
		return []widget.Span{{Role: theme.Good, Text: textFull}}
	}
	out := []widget.Span{{Role: theme.Text, Text: textNext(b.NextAt.Sub(s.At))}}
	if !b.FullAt.IsZero() {
		more := widget.Span{Role: theme.Dim, Text: " · " + textFullAt(clock(s, b.FullAt))}
		if widget.Width(out)+widget.Cells(more.Text) <= w {
			out = append(out, more)
		}
	}
	return out
}

// used counts today's pings.
func used(c pane.Context) []widget.Span {
	b := c.Snap.Budget
	out := []widget.Span{{Role: theme.Dim, Text: textToday(b.State.DailyUsed) + " · "}}
	if b.State.CriticalUsed > 0 {
		return append(out,
			widget.Span{Role: theme.Ping, Text: c.Theme.Glyph(theme.Bell) + " "},
			widget.Span{Role: theme.Text, Text: textCritical(b.State.CriticalUsed)})
	}
	return append(out, widget.Span{Role: theme.Dim, Text: textCritical(0)})
}

// rate says how fast the bucket refills, and what is on its way out of it.
func rate(b core.BudgetView, w int) []widget.Span {
	if b.Reserved <= 0 {
		return []widget.Span{{Role: theme.Dim, Text: textRate(b.State.RefillRateMinutes)}}
	}
	text, reserved := textRate(b.State.RefillRateMinutes), textReserved(b.Reserved)
	if widget.Cells(text)+widget.Cells(reserved)+3 > w {
		text = textShortRate(b.State.RefillRateMinutes)
	}
	return []widget.Span{{Role: theme.Dim, Text: text + " · "}, {Role: theme.Accent, Text: reserved}}
}

// hours is the sparkline of the last day with its label, in w cells.
func hours(c pane.Context, w int) []widget.Span {
	values, some := pinged(c.Snap)
	if w < len(values) {
		values = values[len(values)-max(w, 0):]
	}
	out := chart.Spark(c.Theme, values, 0)
	label := textHours
	if !some {
		label = textHoursNone
	}
	if w >= len(values)+2+widget.Cells(label) {
		out = append(out, widget.Span{Role: theme.Dim, Text: "  " + label})
	}
	return out
}

// pinged are the pings of the last 24 hours, by hour, and whether there were any.
func pinged(s *core.Snapshot) (values []float64, some bool) {
	for _, n := range s.Budget.Hours {
		values, some = append(values, float64(n)), some || n > 0
	}
	return values, some
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
