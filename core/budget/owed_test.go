package budget

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/store/fulldisk"
)

func TestTokensWhoseSpendingCouldNotBeSavedComeBackByRefillingAndAreSavedLater(t *testing.T) {
	if !fulldisk.Alone(t) {
		return
	}
	p := newPlace(t, string(bucketOf(5, 5, 90).Encode()))
	for range 5 {
		r := reserve(t, p.bucket, true)
		if err := fulldisk.During(t, func() error { return r.Spend(morning()) }); err == nil {
			t.Fatal("a full disk was not noticed")
		}
		r.Release() // too late: the message was sent
	}
	if _, ok, _ := p.bucket.Reserve(morning()); ok {
		t.Error("a token that was spent could be reserved")
	}
	later := morning().Add(90 * time.Minute)
	if s, reserved := p.bucket.State(later); s.Available != 1 || reserved != 0 || s.DailyUsed != 5 {
		t.Errorf("an hour and a half later: %+v, %d reserved", s, reserved)
	}
	r, ok, err := p.bucket.Reserve(later)
	if !ok || err != nil {
		t.Fatalf("the refilled token cannot be reserved: %v, %v", ok, err)
	}
	if err := r.Spend(later); err != nil {
		t.Fatal(err)
	}
	if s := p.stored(t); s.Available != 0 || s.DailyUsed != 6 {
		t.Errorf("the file says %+v", s)
	}
}

func TestWhatIsOwedIsSavedByTheNextReservation(t *testing.T) {
	if !fulldisk.Alone(t) {
		return
	}
	p := newPlace(t, string(bucketOf(3, 5, 90).Encode()))
	r := reserve(t, p.bucket, true)
	if err := fulldisk.During(t, func() error { return r.Spend(morning()) }); err == nil {
		t.Fatal("a full disk was not noticed")
	}
	if err := fulldisk.During(t, func() error { return p.bucket.Critical(morning()) }); err == nil {
		t.Fatal("a full disk was not noticed")
	}
	reserve(t, p.bucket, true).Release()
	if s := p.stored(t); s.Available != 2 || s.DailyUsed != 1 || s.CriticalUsed != 1 {
		t.Errorf("the file says %+v", s)
	}
}

// What is spent is spent once, whichever writes fail; what is released is not.
func TestTheBucketFollowsItsArithmeticWhateverWritesFail(t *testing.T) {
	if !fulldisk.Alone(t) {
		return
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlace(t, string(bucketOf(3, 4, 30).Encode()))
		now, want := morning(), bucketOf(3, 4, 30)
		var open []*Reservation
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "minutes")) * time.Minute)
			want = want.At(now)
			step := rapid.SampledFrom([]string{"reserve", "spend", "spend", "release", "critical"}).Draw(rt, "step")
			do := func() error {
				switch {
				case step == "reserve":
					r, ok, err := p.bucket.Reserve(now)
					if ok != (want.Whole()-len(open) >= 1) || err != nil {
						rt.Fatalf("reserve: %v, %v with %d tokens, %d of them reserved", ok, err, want.Whole(), len(open))
					}
					if ok {
						open = append(open, r)
					}
				case step == "critical":
					_ = p.bucket.Critical(now)
					want.CriticalUsed++
				case len(open) == 0:
				case step == "spend":
					_ = open[0].Spend(now)
					want.spend()
					open = open[1:]
				default:
					open[0].Release()
					open = open[1:]
				}
				return nil
			}
			if rapid.Bool().Draw(rt, "disk is full") {
				if err := fulldisk.During(t, do); err != nil {
					rt.Fatal(err)
				}
			} else if err := do(); err != nil {
				rt.Fatal(err)
			}
			s, reserved := p.bucket.State(now)
			if math.Abs(s.Available-want.Available) > 1e-6 || s.DailyUsed != want.DailyUsed || s.CriticalUsed != want.CriticalUsed || reserved != len(open) {
				rt.Fatalf("after %s: %+v with %d reserved, want %+v with %d", step, s, reserved, want, len(open))
			}
		}
		if err := p.bucket.Critical(now); err != nil {
			rt.Fatal(err)
		}
		if s := p.stored(t).At(now); math.Abs(s.Available-want.Available) > 1e-6 || s.DailyUsed != want.DailyUsed {
			rt.Fatalf("the file says %+v, want %+v", s, want)
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
