package budget

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"ollimbot/core"
	"ollimbot/core/budget"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// The page: what there is to say in three lines, the level of a day back and a day
// ahead, and the messages of today.

const (
	// The least inside that is a page.
	pageWidth, pageHeight = 36, 9
	// leastPage is the least height of a page that has the whole body.
	leastPage = 7
	// roomy is from how many rows on there is a legend, and a third of the page is
	// today's messages.
	roomy = 14
	// proposes is how long after a change the curve shows what it has changed.
	proposes = 15 * time.Second
)

// numbers are what the keys of the pane change.
type numbers struct{ capacity, refill int }

func numbersOf(s budget.State) numbers { return numbers{s.Capacity, s.RefillRateMinutes} }

// pageKey is what the drawing of a page depends on. The level is told by the minute,
// and by what else changes it.
type pageKey struct {
	theme        *theme.Theme
	keys         action.Keys
	w, h         int
	minute       time.Time
	now, before  numbers
	level        int // tenths of a token
	pings, fires int
	newest, next time.Time // of the pings and of the fires
	answered     int
	quiet, muted time.Time
	reserved     int
	twelve       bool
}

func (p *Pane) pageKey(c pane.Context, w, h int) pageKey {
	b := &c.Snap.Budget
	k := pageKey{
		theme: c.Theme, keys: c.Keys, w: w, h: h, minute: c.Snap.At.Truncate(time.Minute), now: numbersOf(b.State), before: p.compared(c.Snap),
		level: int(b.State.Available * 10), pings: len(b.Pings), fires: len(b.Fires), quiet: b.Quiet, muted: b.Muted, reserved: b.Reserved,
		twelve: c.Snap.TwelveHours,
	}
	if k.pings > 0 {
		k.newest = b.Pings[k.pings-1].At
	}
	if k.fires > 0 {
		k.next = b.Fires[0].At
	}
	for _, ping := range b.Today() {
		if !ping.Answered.IsZero() {
			k.answered++
		}
	}
	return k
}

// compared are the numbers that the curve is compared with: those before a change, for
// as long as that is shown; else those of now.
func (p *Pane) compared(s *core.Snapshot) numbers {
	if s.At.Before(p.until) {
		return p.before
	}
	return numbersOf(s.Budget.State)
}

// notice keeps the numbers before the first of a row of changes.
func (p *Pane) notice(s *core.Snapshot) {
	now := numbersOf(s.Budget.State)
	if p.seen && now != p.now {
		if !s.At.Before(p.until) {
			p.before = p.now
		}
		p.until = s.At.Add(proposes)
	}
	p.now, p.seen = now, true
}

// page draws the page.
func (p *Pane) page(c pane.Context, w, h int) []widget.Row {
	brush := widget.Brush{Theme: c.Theme}
	line := func(spans ...widget.Span) string {
		return brush.Line(w, append([]widget.Span{{Text: " "}}, spans...)...)
	}
	s := c.Snap
	a := aheadOf(s, p.compared(s))
	out := []string{line(gauge(c, w-2)...), line(state(c, w-2)...), line(a.verdict(c.Theme, s)...)}
	today := slices.Clone(s.Budget.Today())
	slices.Reverse(today)
	rows, foot := 0, 0
	if h >= roomy {
		out = append(out, line(a.legend(c.Theme)...))
		rows = min(len(today), max(1, h/3-2))
		foot = rows + 1 // the rule
	}
	out = append(out, a.plot(c.Theme, s, w).Draw(c.Theme, w, h-len(out)-foot)...)
	all := widget.Rows(widget.Nowhere, out...)
	if foot > 0 {
		all = append(all, messages(c, today, rows, w)...)
	}
	return widget.FillRows(all, w, h)
}

// state is the second line: what comes, at which rate, and what today has used.
func state(c pane.Context, w int) []widget.Span {
	s := c.Snap
	if s.Budget.State.Capacity <= 0 {
		return []widget.Span{{Role: theme.Warn, Text: textMuted + ". "}, {Role: theme.Dim, Text: textMutedHelp(c.Names(action.Budget))}}
	}
	out := refill(s, w)
	more := func(spans ...widget.Span) {
		if widget.Width(out)+widget.Width(spans)+3 <= w {
			out = append(append(out, widget.Span{Role: theme.Dim, Text: " · "}), spans...)
		}
	}
	if until, ok := muted(s); ok {
		more(widget.Span{Role: theme.Warn, Text: until})
	}
	if s.Budget.Reserved > 0 {
		more(widget.Span{Role: theme.Accent, Text: textReserved(s.Budget.Reserved)})
	}
	more(widget.Span{Role: theme.Dim, Text: textRate(s.Budget.State.RefillRateMinutes)})
	more(used(c)...)
	return out
}

// messages are the newest rows of today's pings and refusals, below a rule.
func messages(c pane.Context, today []budget.Ping, rows, w int) []widget.Row {
	brush := widget.Brush{Theme: c.Theme}
	count := textNoMessages
	if n := len(today); n > rows {
		count = textShown(rows, n)
	} else if n > 0 {
		count = strconv.Itoa(n)
	}
	head := brush.Rule(w, []widget.Span{{Role: theme.Strong, Text: textMessages}}, []widget.Span{{Role: theme.Dim, Text: count}})
	out := []widget.Row{{Place: widget.Ruled, Text: head}}
	for _, ping := range today[:rows] {
		out = append(out, widget.Row{Text: brush.Line(w, message(c, ping, w)...), Place: widget.Nowhere})
	}
	return out
}

// The columns of a message, in cells; the text takes the rest. As the width shrinks the
// text goes first, then the answer.
const (
	taskCells   = 20
	answerCells = 16
	withText    = 72
	withAnswer  = 46
)

// message is one row: when, which task, what it said, when it was answered.
func message(c pane.Context, ping budget.Ping, w int) []widget.Span {
	glyph, role := theme.Message, theme.Ping
	text, answer, answers := ping.Text, textNotAnswered, theme.Dim
	switch {
	case ping.Refused != "":
		glyph, role, text, answer = theme.Refused, theme.Warn, textRefused+ping.Refused, ""
	case !ping.Answered.IsZero():
		answer, answers = textAnswered(ping.Answered.Sub(ping.At)), theme.Good
	}
	out := []widget.Span{
		{Role: theme.Dim, Text: fmt.Sprintf(" %*s ", c.Snap.ClockCells(), clock(c.Snap, ping.At))},
		{Role: role, Text: c.Theme.Glyph(glyph) + " "},
	}
	if w < withAnswer {
		return append(out, widget.Span{Text: ping.Title})
	}
	used := widget.Width(out)
	if w < withText {
		if ping.Refused != "" {
			answer = textRefusedShort
		}
		return append(out, widget.Span{Text: widget.Fit(ping.Title, w-used-answerCells-1) + " "}, widget.Span{Role: answers, Text: answer})
	}
	return append(out, widget.Span{Text: widget.Fit(ping.Title, taskCells) + "  "},
		widget.Span{Role: theme.Dim, Text: widget.Fit(text, w-used-taskCells-answerCells-4) + "  "},
		widget.Span{Role: answers, Text: answer})
}
