package budget

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func TestOnAFullDiskNoTokenIsReservedAndTheErrorNamesTheCure(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	p := newPlace(t, string(bucketOf(1, 5, 90).Encode()))
	before := p.content(t)
	err := storetest.FullDisk(t, func() error {
		r, _, err := p.bucket.pay(morning(), false)
		if r != nil {
			t.Error("a token was reserved that the file still has")
		}
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "free some space") {
		t.Fatalf("error %v does not say what to do", err)
	}
	if got := p.content(t); got != before {
		t.Errorf("the file was changed to %q", got)
	}
	reserve(t, p.bucket, true)
}

func TestTokensThatCouldNotBeGivenBackComeBackByRefilling(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	p := newPlace(t, string(bucketOf(5, 5, 90).Encode()))
	for range 5 {
		r := reserve(t, p.bucket, true)
		if err := storetest.FullDisk(t, func() error { return r.release(morning()) }); err == nil {
			t.Fatal("a full disk was not noticed")
		}
	}
	reserve(t, p.bucket, false)
	later := morning().Add(90 * time.Minute)
	if s, reserved := p.bucket.State(later); s.Available != 1 || reserved != 0 {
		t.Errorf("an hour and a half later: %+v, %d reserved", s, reserved)
	}
	reserveAt(t, p.bucket, later, true)
}

// Reserved tokens are missing from the file, whichever writes fail and wherever the
// process dies; released ones are not, if that could be written.
func TestTheFileFollowsItsArithmeticWhateverWritesFail(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	testkit.Check(t, func(rt *rapid.T) {
		p := newPlace(t, string(bucketOf(3, 4, 30).Encode()))
		now, want := morning(), bucketOf(3, 4, 30)
		var open []*payment
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "minutes")) * time.Minute)
			want = want.At(now)
			full := rapid.Bool().Draw(rt, "disk is full")
			step := rapid.SampledFrom([]string{"reserve", "reserve", "spend", "release", "critical", "crash"}).Draw(rt, "step")
			do := func() error {
				switch {
				case step == "reserve":
					r, _, err := p.bucket.pay(now, false)
					ok := r != nil
					if there := want.Whole() >= 1; ok != (there && !full) || (err != nil) != (there && full) {
						rt.Fatalf("reserve: %v, %v with %d tokens", ok, err, want.Whole())
					}
					if ok {
						want.spend()
						open = append(open, r)
					}
				case step == "critical":
					if _, _, err := p.bucket.pay(now, true); err == nil {
						want.CriticalUsed++
					}
				case step == "crash":
					p.bucket, open = NewBucket(p.dir, pacific, nil), nil
				case len(open) == 0:
				case step == "spend":
					open[0].spend()
					open = open[1:]
				default:
					if open[0].release(now) == nil {
						want.Available = min(want.Available+1, 4)
						want.DailyUsed--
					}
					open = open[1:]
				}
				return nil
			}
			if !full {
				_ = do() // it stops the test itself
			} else if err := storetest.FullDisk(t, do); err != nil {
				rt.Fatal(err)
			}
			s, reserved := p.bucket.State(now)
			stored := p.stored(t).At(now)
			if math.Abs(s.Available-want.Available) > 1e-6 || s.DailyUsed != want.DailyUsed || s.CriticalUsed != want.CriticalUsed ||
				reserved != len(open) || stored != s {
				rt.Fatalf("after %s: %+v with %d reserved, want %+v with %d; the file says %+v", step, s, reserved, want, len(open), stored)
			}
		}
	})
}

func TestTokensBelowZeroAreNone(t *testing.T) {
	s, problems := Decode([]byte(`{"capacity": 5, "available": -0.4, "refill_rate_minutes": 90, "last_refill": "2026-11-23T09:00:00-08:00", `+
		`"critical_used": 0, "critical_reset_date": "2026-11-23", "daily_used": 0, "daily_used_reset": "2026-11-23"}`), morning())
	if s.Available != 0 {
		t.Errorf("%v tokens, %q", s.Available, problems)
	}
}
