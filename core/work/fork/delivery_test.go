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

// begun returns the runs for deliveries in the ledger.
func (h *harness) begun() map[string]State {
	h.t.Helper()
	runs, err := Deliveries(h.dir)
	testkit.Must(h.t, err)
	return runs
}

// A4: a run for a delivery is in the ledger exactly from the moment before the model is asked.
func TestARunForADeliveryIsInTheLedgerOnceItHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		stop := h.serve()
		h.limits.MaxRunning = 1
		j := forDelivery("aaaa0001-1", "wait 10m", "say hello")
		prompt, release := j.Prompt, make(chan struct{})
		j.Prompt = func(ctx context.Context) string { <-release; return prompt(ctx) }
		ended := make(chan error, 2)
		go func() { _, err := h.m.Do(t.Context(), j); ended <- err }()
		synctest.Wait()
		go func() { _, err := h.m.Do(t.Context(), forDelivery("aaaa0002-1", "say hello")); ended <- err }()
		time.Sleep(time.Minute)
		if runs := h.begun(); len(runs) != 0 {
			t.Errorf("while its prompt is built, and in the queue: %v", runs)
		}
		close(release)
		time.Sleep(time.Minute)
		if runs := h.begun(); !maps.Equal(runs, map[string]State{"aaaa0001-1": Running}) {
			t.Errorf("while it runs: %v", runs)
		}
		time.Sleep(time.Hour)
		if runs := h.begun(); !maps.Equal(runs, map[string]State{"aaaa0001-1": Done, "aaaa0002-1": Done}) {
			t.Errorf("in the end: %v", runs)
		}
		testkit.Must(t, errors.Join(<-ended, <-ended))
		stop()
	})
}

// A run that has not begun when the bot stops will be another run: the ledger does not have it.
func TestAStopBeforeARunForADeliveryBeginsLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		stop := h.serve()
		j := forDelivery("aaaa0001-1", "say hello")
		j.Prompt = func(ctx context.Context) string { <-ctx.Done(); return "" }
		ended := make(chan error, 1)
		go func() {
			v, err := h.m.Do(t.Context(), j)
			if v.Delivery != "" {
				t.Errorf("it counts as begun: %+v", v)
			}
			ended <- err
		}()
		time.Sleep(time.Minute)
		stop()
		if err := <-ended; !errors.Is(err, ErrStopping) {
			t.Errorf("it ended with %v", err)
		}
		if runs, err := Ledger(h.dir, 9); err != nil || len(runs) != 0 {
			t.Errorf("the ledger has %+v, %v", runs, err)
		}
	})
}

// While the start cannot be written, the model is not asked.
func TestARunForADeliveryWaitsForTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.troubles = []string{"ledger line was not written"}
		h.limits.Timeout = time.Hour
		stop := h.serve()
		testkit.Must(t, os.MkdirAll(h.dir.Path(ledgerName), 0o700))
		ended := make(chan error, 1)
		go func() { _, err := h.m.Do(t.Context(), forDelivery("aaaa0001-1", "say hello")); ended <- err }()
		time.Sleep(10 * time.Minute)
		if v := h.m.Views()[0]; v.State != Running || v.Delivery != "" || v.Lines > 0 {
			t.Errorf("it has begun: %+v", v)
		}
		testkit.Must(t, os.Remove(h.dir.Path(ledgerName)))
		time.Sleep(time.Minute)
		testkit.Must(t, <-ended)
		if runs := h.begun(); !maps.Equal(runs, map[string]State{"aaaa0001-1": Done}) {
			t.Errorf("in the end: %v", runs)
		}
		stop()
	})
}
