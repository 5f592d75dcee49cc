package daysoff

import (
	"errors"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines/recur"
)

func TestGoogleIsAskedOnceADayAndAfterAFailureEveryTenMinutes(t *testing.T) {
	for what, c := range map[string]struct {
		failed error
		after  time.Duration
	}{"after it has answered": {nil, 24 * time.Hour}, "after it has failed": {errors.New("no network"), 10 * time.Minute}} {
		s, now := NewShelf(storetest.Prepared(t)), time.Now()
		s.Of(recur.OfGoogle("Team"))
		days, failed := map[string]map[string]string{"Team": {}}, map[string]error{}
		if c.failed != nil {
			days, failed = nil, map[string]error{"Team": c.failed}
		}
		testkit.Must(t, s.Keep(now, days, failed))
		if early := s.Due(now.Add(c.after - time.Second)); len(early) > 0 {
			t.Errorf("%s, it is asked before %v have passed", what, c.after)
		}
		if due := s.Due(now.Add(c.after)); len(due) != 1 {
			t.Errorf("%s, it is not asked after %v", what, c.after)
		}
	}
}
