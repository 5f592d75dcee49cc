package week

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/work/proposals"
)

func TestTheCostADayIsOfTheDaysThatHaveBegun(t *testing.T) {
	monday := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	of := Sources{
		Costs:    command.CostReport{Days: []command.CostDay{{Date: monday, Runs: 1, Dollars: 21}}},
		Promises: func(time.Time, time.Time) (none proposals.Counts) { return none },
	}
	for now, want := range map[time.Time]string{
		monday.Add(12 * time.Hour):     "cost: $21.00, 1 run",
		monday.Add(2*24*time.Hour + 1): "cost: $21.00, 1 run, $7.00 a day",
		monday.Add(6*24*time.Hour + 1): "cost: $21.00, 1 run, $3.00 a day",
	} {
		r := Of(now, 0, of)
		if got := strings.Join(r.Lines(), "\n"); !strings.HasSuffix(got, want) {
			t.Errorf("on %s: %q, want %q", now.Weekday(), got, want)
		}
	}
}
