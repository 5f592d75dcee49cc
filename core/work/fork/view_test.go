package fork

import (
	"testing"
	"time"

	"ollimbot/core/agent"
)

func TestTheRateOfATaskCountsItsEndedRunsAndNoCriticalPingAsPaid(t *testing.T) {
	began := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	rates := Rates([]View{
		{TaskID: "a", State: Done, Started: began, Pings: 2, Critical: 1},
		{TaskID: "a", State: Failed, Started: began},
		{TaskID: "a", State: Done, Started: began, Pings: 1},
		{TaskID: "a", State: Running, Started: began, Pings: 9},
		{TaskID: "a", State: Stopped, Pings: 9}, // it never started
		{TaskID: "b", State: Done, Started: began, Pings: 3},
		{TaskID: "quiet", State: Done, Started: began, Quiet: 1},
		{TaskID: "pills", State: Done, Started: began, Pings: 1, Essential: 1},
	})
	for name, c := range map[string]struct {
		rate, counts   Rate
		perRun, tokens float64
	}{
		"three runs":              {rates["a"], Rate{Runs: 3, Pings: 3, Paid: 2}, 1, 2.0 / 3},
		"more pings than one":     {rates["b"], Rate{Runs: 1, Pings: 3, Paid: 3}, 3, 1},
		"a task that never ran":   {rates["c"], Rate{}, 1, 1},
		"a task that never pings": {Rate{Runs: 3}, Rate{Runs: 3}, 0, 0},
		"one quiet run":           {rates["quiet"], Rate{Runs: 1}, 0, 2.0 / 3}, // S33: it proves nothing
		"an essential one":        {rates["pills"], Rate{Runs: 1, Pings: 1}, 1, 2.0 / 3},
	} {
		if c.rate != c.counts || c.rate.PerRun() != c.perRun || c.rate.Costs() != c.tokens {
			t.Errorf("%s: %+v, %v pings a run, costs %v tokens; want %+v, %v and %v", name, c.rate, c.rate.PerRun(), c.rate.Costs(), c.counts, c.perRun, c.tokens)
		}
	}
}

func TestOnlyACostThatIsKnownIsShown(t *testing.T) {
	for cost, want := range map[float64]string{0: "", -1: "", 1.5: "$1.50"} {
		if got := (View{Usage: agent.Usage{CostUSD: cost}}).Spent(); got != want {
			t.Errorf("%v is shown as %q", cost, got)
		}
	}
}
