package fork

import (
	"context"
	"errors"
	"maps"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
)

// forDelivery is a job for a delivery.
func forDelivery(name string, lines ...string) Job {
	j := playing(task(), lines...)
	j.Delivery = name
	return j
}

// begun checks the runs for deliveries in the ledger.
func (h *harness) begun(when string, want map[string]State) {
	h.t.Helper()
	if runs, err := Deliveries(h.dir); err != nil || !maps.Equal(runs, want) {
		h.t.Errorf("%s: %v, %v", when, runs, err)
	}
}

// A4: a run for a delivery is in the ledger exactly from the moment before the model is asked.
func TestARunForADeliveryIsInTheLedgerOnceItHasBegun(t *testing.T) {
	served(t, func(t *testing.T, h *harness) {
		h.limits.MaxRunning = 1
		j := forDelivery("aaaa0001-1", "wait 10m", "say hello")
		prompt := j.Prompt
		j.Prompt = func(ctx context.Context) string { time.Sleep(time.Minute); return prompt(ctx) }
		first, second := h.start(j), h.start(forDelivery("aaaa0002-1", "say hello"))
		time.Sleep(time.Minute - 1)
		h.begun("while its prompt is built, and in the queue", nil)
		time.Sleep(time.Minute)
		h.begun("while it runs", map[string]State{"aaaa0001-1": Running})
		_, err := first()
		_, other := second()
		testkit.Must(t, errors.Join(err, other))
		h.begun("in the end", map[string]State{"aaaa0001-1": Done, "aaaa0002-1": Done})
	})
}

// A run that has not begun when the bot stops will be another run: the ledger does not have it.
func TestAStopBeforeARunForADeliveryBeginsLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		stop := h.serve()
		j := forDelivery("aaaa0001-1", "say hello")
		j.Prompt = func(ctx context.Context) string { <-ctx.Done(); return "" }
		end := h.start(j)
		stop()
		if v, err := end(); !errors.Is(err, ErrStopping) || v.Delivery != "" {
			t.Errorf("it counts as begun: %+v, %v", v, err)
		}
		if runs, err := Ledger(h.dir, 9); err != nil || len(runs) != 0 {
			t.Errorf("the ledger has %+v, %v", runs, err)
		}
	})
}

// While the start cannot be written, the model is not asked.
func TestARunForADeliveryWaitsForTheDisk(t *testing.T) {
	for _, room := range []bool{true, false} {
		served(t, func(t *testing.T, h *harness) {
			h.troubles = []string{"ledger line was not written"}
			h.limits.Timeout = time.Hour
			testkit.Must(t, os.MkdirAll(h.dir.Path(ledgerName), 0o700))
			begin, end := time.Now(), h.start(forDelivery("aaaa0001-1", "say hello"))
			time.Sleep(10*time.Minute + time.Second)
			if v := h.m.Views()[0]; v.State != Running || v.Delivery != "" || v.Lines > 0 {
				t.Errorf("it has begun: %+v", v)
			}
			if !room {
				if v, err := end(); v.State != TimedOut || err != nil || v.Delivery != "" || time.Since(begin) != time.Hour {
					t.Errorf("after %s it is %+v, %v", time.Since(begin), v, err)
				}
				return
			}
			testkit.Must(t, os.Remove(h.dir.Path(ledgerName)))
			if _, err := end(); err != nil || time.Since(begin) > 10*time.Minute+2*tryAgain {
				t.Errorf("after %s %v", time.Since(begin), err)
			}
			h.begun("in the end", map[string]State{"aaaa0001-1": Done})
		})
	}
}
