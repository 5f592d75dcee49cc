package budget

import (
	"slices"
	"time"

	"ollimbot/core/work/budget"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

const (
	// heatRows are the hours, and the days of the week.
	heatRows = 1 + 7
	// heatCells is the room for the name of a day, and for each hour two cells.
	heatCells = 5 + 2*24
	// heatHeight is from how many rows on the page has the heat map.
	heatHeight = 24
)

// heat shows at which hours of which weekdays pings were answered, so that one sees when
// they are welcome: a head, and a row for each weekday.
func heat(c pane.Context) [][]widget.Span {
	var answered [7][24]float64
	top, n := 0.0, 0
	for i := range c.Snap.Budget.Pings {
		p := &c.Snap.Budget.Pings[i]
		if p.Answered.IsZero() {
			continue
		}
		at := c.Snap.Local(p.At)
		cell := &answered[(at.Weekday()+6)%7][at.Hour()]
		*cell++
		top, n = max(top, *cell), n+1
	}
	hours := widget.Span{Role: theme.Dim, Text: "     "}
	for h := 0; h < 24; h += 3 {
		at := time.Date(2000, 1, 1, h, 0, 0, 0, c.Snap.Local(c.Snap.At).Location())
		hours.Text += widget.Fit(c.Snap.Clock(at, "15"), 6)
	}
	out := [][]widget.Span{{hours, {Role: theme.Dim, Text: textAnsweredOf(n, sent(c.Snap.Budget.Pings))}}}
	for day := range answered {
		cells := make([]float64, 0, 2*24)
		for _, v := range answered[day] {
			cells = append(cells, v, v)
		}
		name := time.Weekday((day + 1) % 7).String()[:3]
		out = append(out, []widget.Span{{Role: theme.Dim, Text: " " + name + " "}, {Role: theme.Ping, Text: chart.Heat(c.Theme, cells, top)}})
	}
	return slices.Clip(out)
}

// sent are the pings that have reached the user.
func sent(pings []budget.Ping) (n int) {
	for i := range pings {
		if pings[i].Refused == "" {
			n++
		}
	}
	return n
}
