// Package budget is the dashboard's pane of the ping budget: how many tokens
// there are, when the next one comes, and the keys that change capacity and
// refill rate. It owns no numbers: all of them come with the snapshot, and
// what is to be changed is answered as a command.
package budget

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

// Pane is the budget pane. Use New.
type Pane struct {
	cache widget.Cache[pageKey]
	// now are the numbers that were seen last, before those that they were compared
	// with until a moment.
	now, before numbers
	until       time.Time
	seen        bool
}

// New returns the pane.
func New() *Pane { return &Pane{} }

// Title implements pane.Pane.
func (p *Pane) Title(c pane.Context) (name, state string) {
	return textTitle, summary(c.Snap)
}

// Draw implements pane.Pane.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	w, h = max(w, 0), max(h, 0)
	if w >= pageWidth && (h >= pageHeight || c.Zoomed && h >= leastPage) {
		return p.cache.Rows(p.pageKey(c, w, h), func() []widget.Row { return p.page(c, w, h) })
	}
	return widget.Rows(widget.Nowhere, draw(c, w, h)...)
}

// Line implements pane.Pane.
func (p *Pane) Line(c pane.Context, w int) string {
	return widget.Brush{Theme: c.Theme}.Line(w, oneLine(c, w)...)
}

// Do implements pane.Pane. The other actions of the pane make their commands
// themselves.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	if id == action.Back {
		p.until = time.Time{} // what has changed was seen
	}
	if id != action.Mute {
		return pane.Answer{}
	}
	return pane.Answer{Until: &pane.Until{Title: textMuteTitle, For: command.MuteUntil{}, Now: c.Snap.Budget.Muted}}
}

// Press implements pane.Pane: nothing here is selected.
func (p *Pane) Press(pane.Context, widget.Place, bool) action.ID { return "" }

// Capture implements pane.Pane: this pane has no text to write.
func (p *Pane) Capture() bool { return false }

// Type implements pane.Pane.
func (p *Pane) Type(pane.Context, tea.Msg) pane.Answer { return pane.Answer{} }

// Sync implements pane.Pane.
func (p *Pane) Sync(c pane.Context) { p.notice(c.Snap) }

// forecast is the line of what is coming if every task that may ping does: the
// level over the window, and when it would be dry. It is nil without tasks that
// may ping, and while nothing can be spent.
func forecast(c pane.Context, w int) []widget.Span {
	s, b := c.Snap, c.Snap.Budget
	if len(b.Forecast) < 2 || b.State.Capacity <= 0 {
		return nil
	}
	text, whole := outlook(s, w-2)
	var out []widget.Span
	if n := min(16, w-len(textAhead)-widget.Cells(text)-4); n >= 6 && whole {
		out = append([]widget.Span{{Role: theme.Dim, Text: textAhead}}, levels(c.Theme, b, n)...)
		out = append(out, widget.Span{Text: "  "})
	}
	if b.Dry.IsZero() {
		return append(out, widget.Span{Role: theme.Good, Text: c.Theme.Glyph(theme.Check) + " "}, widget.Span{Role: theme.Dim, Text: text})
	}
	return append(out, widget.Span{Role: theme.Bad, Text: c.Theme.Glyph(theme.Bang) + " "}, widget.Span{Role: theme.Warn, Text: text})
}

// outlook is the forecast in words, those that matter most where w cells do not
// hold all of them; whole says that they do.
func outlook(s *core.Snapshot, w int) (text string, whole bool) {
	b := s.Budget
	if !b.Dry.IsZero() {
		at, task := clock(s, b.Dry), firstDry(s)
		room := w - widget.Cells(textDry(at, "x")) + 1
		if task == "" || room < 6 { // a few letters would name nothing
			if widget.Cells(textDry(at, "")) > w {
				return textShort(at), false
			}
			return textDry(at, ""), task == ""
		}
		return textDry(at, widget.Cut(task, min(24, room))), room >= 24
	}
	least := b.Forecast[0]
	for _, p := range b.Forecast {
		if p.Left < least.Left {
			least = p
		}
	}
	until := clock(s, b.Forecast[len(b.Forecast)-1].At)
	if text := textEnough(until, tokens(least.Left), clock(s, least.At)); widget.Cells(text) <= w {
		return text, true
	}
	return textEnoughUntil(until), false
}

// firstDry is the task that would find no token; empty where the schedule does
// not show it.
func firstDry(s *core.Snapshot) string {
	for _, e := range s.Schedule.Entries {
		if e.FireTime.Equal(s.Budget.Dry) && !e.Silent && !e.Held {
			if e.Description != "" {
				return e.Description
			}
			return e.Label
		}
	}
	return ""
}

// levels draws the bucket's level over the window in n cells, against its
// capacity. Between two fires it refills.
func levels(t *theme.Theme, b core.BudgetView, n int) []widget.Span {
	first, last := b.Forecast[0].At, b.Forecast[len(b.Forecast)-1].At
	span := last.Sub(first)
	rate := float64(max(1, b.State.RefillRateMinutes))
	full := float64(b.State.Capacity)
	values := make([]float64, n)
	at := 0
	for i := range values {
		moment := first.Add(span * time.Duration(i) / time.Duration(max(1, n-1)))
		for at+1 < len(b.Forecast) && !b.Forecast[at+1].At.After(moment) {
			at++
		}
		p := b.Forecast[at]
		left := min(full, p.Left+max(0, moment.Sub(p.At).Minutes())/rate)
		if left >= 1 { // less than a token is as good as none
			values[i] = left
		}
	}
	return chart.Spark(t, values, full)
}
