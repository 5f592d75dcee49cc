package leeway

import (
	"testing"
	"time"
)

func TestTheReasonNamesTheLastOfSeveralMeetings(t *testing.T) {
	day := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	w := Window{From: 9 * 60, To: 12 * 60}
	f := Fire{ID: "a", Rule: Rule{Window: w}, Start: w.Start(day), End: w.on(day, w.To), Now: w.Start(day)}
	busy := []Busy{
		{From: day.Add(9 * time.Hour), To: day.Add(10 * time.Hour), Why: "meeting"},
		{From: day.Add(10 * time.Hour), To: day.Add(10*time.Hour + 30*time.Minute), Why: "conversation"},
		{From: day.Add(11 * time.Hour), To: day.Add(12 * time.Hour), Why: "meeting"}, // after the ping
	}
	for range 2 { // in either order
		c := Choose(f, Facts{Busy: busy}, nil)
		if got := c.At.Format("15:04 ") + c.Why; got != "10:30 no habit is known at this time; conversation until 10:30" {
			t.Error(got)
		}
		busy[0], busy[1] = busy[1], busy[0]
	}
}
