package fork

import (
	"testing"
	"time"
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
	})
	if got, want := rates["a"], (Rate{Runs: 3, Pings: 3, Paid: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for name, c := range map[string]struct {
		rate           Rate
		perRun, tokens float64
	}{
		"three runs":              {rates["a"], 1, 2.0 / 3},
		"more pings than one":     {rates["b"], 3, 1},
		"a task that never ran":   {rates["c"], 1, 1},
		"a task that never pings": {Rate{Runs: 3}, 0, 0},
		"one run without a ping":  {Rate{Runs: 1}, 0, 2.0 / 3}, // S33: it proves nothing
	} {
		if got := c.rate.PerRun(); got != c.perRun {
			t.Errorf("%s: %v pings a run, want %v", name, got, c.perRun)
		}
		if got := c.rate.Costs(); got != c.tokens {
			t.Errorf("%s: costs %v tokens, want %v", name, got, c.tokens)
		}
	}
}
