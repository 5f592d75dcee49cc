package dispatch

import (
	"log/slog"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/storage/store/storetest"
)

// A kill while a delivery is screened leaves a request of unknown cost.
func TestAScreeningIsUnderWayWhileItIsBooked(t *testing.T) {
	under, booked := 0, 0
	s := &Screener{
		Dir: storetest.Prepared(t), Log: slog.New(slog.DiscardHandler), Engine: script.New(script.Options{}),
		Begin: func() func() { under++; return func() { under-- } },
		Charge: func(c agent.Charge) {
			if booked++; under != 1 || c.Used.Tokens() == 0 {
				t.Errorf("%d under way, booked %+v", under, c)
			}
		},
	}
	if safe, _, err := s.Screen(t.Context(), map[string]string{"title": "Build 12 passed"}); err != nil || !safe || booked != 1 || under != 0 {
		t.Errorf("safe %v, %v; booked %d times, %d under way", safe, err, booked, under)
	}
}
