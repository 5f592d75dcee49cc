package habits

import (
	"testing"
	"time"
)

// Callers join pings and snoozes, whatever the zone of their times.
func TestAMovedRoutineIsFoundByTheUsersClock(t *testing.T) {
	denver := time.FixedZone("Denver", -7*3600)
	now := time.Date(2026, 3, 2, 0, 0, 0, 0, denver)
	for _, written := range []*time.Location{denver, time.UTC, time.FixedZone("Tokyo", 9*3600)} {
		var asks []Ask
		for day := 1; day <= 56; day++ {
			at := now.AddDate(0, 0, -day).Add(8 * time.Hour)
			asks = append(asks, Ask{Task: "med", At: at.In(written), Acted: at.Add(90 * time.Minute).In(written)})
		}
		if m, ok := FindMove(asks, "med", 8*60, now, denver); !ok || m.To != 9*60+30 {
			t.Errorf("pings written in %v: found %v, %+v; want a move from 8:00 to 9:30", written, ok, m)
		}
	}
}
