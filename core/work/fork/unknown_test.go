package fork

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
)

// Whatever fails and is called: at most one message of a run is not critical, which is the first, each that may have been sent has
// cost its token, and the counters match.
func TestNoFaultLetsTwoPingsOfOneRunGoOutOrOneForNothing(t *testing.T) {
	faults := map[string]func(ctx context.Context) error{
		"none":           func(context.Context) error { return nil },
		"refused":        func(context.Context) error { return errors.New("50007") },
		"no channel":     func(context.Context) error { return post.ErrNoChannel },
		"no answer":      func(context.Context) error { return errUnknown },
		"frozen a while": func(context.Context) error { time.Sleep(time.Minute); return errUnknown },
		"slow":           func(context.Context) error { time.Sleep(50 * time.Second); return nil },
		"cancelled": func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("%w: %w", post.ErrUnknown, ctx.Err())
		},
	}
	type call struct {
		Fault          string
		Critical, Busy bool
		Full           bool // the budget cannot be written
	}
	calls := rapid.Custom(func(rt *rapid.T) call {
		return call{
			rapid.SampledFrom(slices.Sorted(maps.Keys(faults))).Draw(rt, "fault"), rapid.IntRange(0, 3).Draw(rt, "critical") == 0,
			rapid.IntRange(0, 3).Draw(rt, "busy") == 0, rapid.Bool().Draw(rt, "full"),
		}
	})
	testkit.Check(t, func(rt *rapid.T) {
		plan, tokens := rapid.SliceOfN(calls, 2, 6).Draw(rt, "calls"), rapid.SampledFrom([]int{5, 5, 1, 0}).Draw(rt, "tokens")
		synctest.Test(t, func(t *testing.T) {
			var now call
			plain, critical, counted := 0, 0, 0
			h := newHarness(t)
			defer h.log.Reset() // it depends on the plan
			h.drain(tokens)
			before, _ := h.o.Budget.State(h.m.o.now())
			begin := h.m.o.now()
			h.poster = func(ctx context.Context, p post.Post) (post.MessageID, error) {
				if now.Fault != "no channel" {
					if err := p.Begin(); err != nil {
						return "", err
					}
				}
				err := faults[now.Fault](ctx)
				switch out := err == nil || errors.Is(err, post.ErrUnknown); {
				case out && now.Critical:
					critical++
					if !now.Full {
						counted++
					}
				case out && plain+critical > 0:
					t.Errorf("%+v: a plain ping after another one", plan)
				case out:
					plain++
				}
				return "1", err
			}
			r := h.run(task())
			for _, now = range plan {
				h.set(func() { h.busy = now.Busy })
				mend := func() {}
				if now.Full {
					mend = breakBudget(t, h)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				r.tools.Ping(ctx, "hello", now.Critical, false)
				cancel()
				mend()
			}
			after, reserved := h.o.Budget.State(h.m.o.now())
			refilled := h.m.o.now().Sub(begin).Minutes() / 90
			if v := r.status.snapshot(); reserved != 0 || v.Pings != plain+critical || v.Critical != critical || plain > tokens {
				t.Errorf("%+v: %d and %d critical may be out, %+v, %d tokens are reserved", plan, plain, critical, v, reserved)
			}
			least := before.Available - float64(plain)
			if after.Available < least-1e-6 || after.Available > min(5, least+refilled)+1e-6 ||
				after.DailyUsed-before.DailyUsed != plain || after.CriticalUsed < counted {
				t.Errorf("%+v: %d and %d critical may be out: %+v became %+v", plan, plain, critical, before, after)
			}
		})
		if t.Failed() {
			rt.FailNow()
		}
	})
}

// breakBudget makes every write of the budget fail until mend is called.
func breakBudget(t testing.TB, h *harness) (mend func()) {
	lock := h.dir.Path("state/.ping_budget.lock")
	if err := os.Remove(lock); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.Symlink(lock, lock); err != nil { // a loop, which cannot be opened
		t.Fatal(err)
	}
	return func() {
		testkit.Must(t, os.Remove(lock))
	}
}
