package fork

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
)

// errUnknown is returned by a surface that got no answer.
var errUnknown = fmt.Errorf("send the message: no answer within 20s: %w", post.ErrUnknown)

// Whatever fails, no run sends two messages, and each message that may have been sent has
// cost its token.
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
	out := map[string]bool{"none": true, "no answer": true, "frozen a while": true, "slow": true, "cancelled": true}
	names := []string{"none", "refused", "no channel", "no answer", "frozen a while", "slow", "cancelled"}
	testkit.Check(t, func(rt *rapid.T) {
		plan := rapid.SliceOfN(rapid.SampledFrom(names), 2, 6).Draw(rt, "faults")
		full := rapid.SliceOfN(rapid.Bool(), len(plan), len(plan)).Draw(rt, "the budget cannot be written")
		synctest.Test(t, func(t *testing.T) {
			var now string
			maybe := 0
			h := newHarness(t)
			h.poster = func(ctx context.Context, p post.Post) (post.MessageID, error) {
				if now != "no channel" {
					if err := p.Begin(); err != nil {
						return "", err
					}
				}
				if out[now] {
					maybe++
				}
				return "1", faults[now](ctx)
			}
			h.m = h.manager()
			r := h.run(task())
			defer h.log.Reset() // it depends on the plan
			before := h.m.o.now()
			for i, name := range plan {
				now = name
				mend := func() {}
				if full[i] {
					mend = breakBudget(t, h)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				r.tools.Ping(ctx, "hello", false, false)
				cancel()
				mend()
			}
			state, reserved := h.o.Budget.State(h.m.o.now())
			refilled := h.m.o.now().Sub(before).Minutes() / 90
			if maybe > 1 || reserved != 0 || r.status.snapshot().Pings != maybe {
				t.Errorf("%q: %d may be out, %d count, %d tokens are reserved", plan, maybe, r.status.snapshot().Pings, reserved)
			}
			if least := 5 - float64(maybe); state.Available < least-1e-6 || state.Available > min(5, least+refilled)+1e-6 {
				t.Errorf("%q: %d may be out, %v tokens are left", plan, maybe, state.Available)
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
