package costs

import (
	"fmt"
	"math"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/work/money"
	"ollimbot/routines/schedule"
)

// B5: the words said that today would come to $4.65 with a cap of $1.00, and the bar ended at the
// dearest day before.
func TestTheBarOfTodayEndsWhereItsWordsSay(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	row := func(days int, dollars float64) money.Row {
		return money.Row{At: now.AddDate(0, 0, -days), Account: money.Account{For: money.Conversation}, Used: agent.Usage{CostUSD: dollars}}
	}
	for _, c := range []struct{ limit, spent, ahead, want float64 }{
		{math.Inf(1), 0.5, 4.15, 4.65}, // more than on any day
		{1, 0.5, 4.15, 1},              // held at the cap
		{1, 1.5, 4.15, 1.5},            // past it
		{9, 0.5, 0.25, 0.75},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			rows := []money.Row{row(3, 2.1), row(0, c.spent)}
			state := money.State{
				Today: money.Span{Spent: money.Total(rows[1]), Cap: c.limit}, Month: money.Span{Spent: money.Total(rows...), Cap: math.Inf(1)},
			}
			r := command.Spending{Rows: rows, State: state, Ahead: []schedule.Entry{{ID: "a", Cost: c.ahead}}}.Report(days, now)
			p := New()
			p.report = &r
			plot := p.plot(80)
			bar := plot.Bars[days-1]
			if got := bar.Y + bar.More; math.Abs(r.Projected-c.want) > 1e-9 || math.Abs(got-r.Projected) > 1e-9 || bar.Y != c.spent || plot.Top < got {
				t.Errorf("the words say %v, the bar is %+v of an axis to %v, want %v", r.Projected, bar, plot.Top, c.want)
			}
			if plot.Rule.At > plot.Top {
				t.Errorf("the cap at %v is above the axis to %v", plot.Rule.At, plot.Top)
			}
		})
	}
}
