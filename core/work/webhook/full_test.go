package webhook

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fullFor makes the first runs of deliveries find the disk full.
func fullFor(runs int, began *atomic.Int32) func(*Options) {
	return func(o *Options) {
		inner := o.Run
		o.Run = func(ctx context.Context, j Job) error {
			if int(began.Add(1)) <= runs {
				return fmt.Errorf("no space left on device: %w", ErrNoEffect)
			}
			return inner(ctx, j)
		}
	}
}

// outcome returns the outcome of the only delivery, as seen by a dashboard and a command.
func (r *rig) outcome(t *testing.T) string {
	t.Helper()
	list, err := Log(r.dir, 10)
	if err != nil || len(list) != 1 || len(r.Deliveries()) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if now := r.Deliveries()[0].Outcome; now != list[0].Outcome {
		t.Errorf("it is %s, and %s on the disk", now, list[0].Outcome)
	}
	return list[0].Outcome
}

func TestADeliveryWhoseRunFindsTheDiskFullRunsLaterOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began, screened atomic.Int32
		r := newRig(t, func(o *Options) {
			fullFor(2, &began)(o)
			o.Screen = func(context.Context, map[string]string) (bool, []string, error) {
				screened.Add(1)
				return true, nil, nil
			}
		})
		l := newPipes()
		defer r.start(t, l)()
		if status, _ := l.post(t, "open", `{"note":"hello"}`); status != http.StatusAccepted {
			t.Fatal(status)
		}
		time.Sleep(time.Minute)
		if got := r.outcome(t); got != Accepted || len(r.toldAtOnce()) != 1 || !strings.Contains(r.toldAtOnce()[0], "free some space") {
			t.Errorf("%s, told %q", got, r.toldAtOnce())
		}
		if n := r.busyOnes(); n != 0 {
			t.Errorf("it takes the place of %d others while it waits", n)
		}
		time.Sleep(time.Hour)
		jobs := r.ran()
		if len(jobs) != 1 || began.Load() != 3 || screened.Load() != 1 || r.outcome(t) != Done || len(r.noted()) != 0 || len(r.toldAtOnce()) != 1 {
			t.Errorf("%d runs of %d, screened %d times, %s, notes %q, told %q", len(jobs), began.Load(), screened.Load(), r.outcome(t), r.noted(), r.toldAtOnce())
		}
		if len(jobs) == 1 && (len(jobs[0].Payload.Data) != 1 || jobs[0].Delivery.Tries != 2) {
			t.Errorf("%+v", jobs[0])
		}
	})
}

func (r *rig) busyOnes() int {
	r.Server.mu.Lock()
	defer r.Server.mu.Unlock()
	return r.active
}

func TestADeliveryIsGivenUpAndReportedIfTheDiskStaysFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began atomic.Int32
		r := newRig(t, fullFor(100, &began))
		l := newPipes()
		defer r.start(t, l)()
		l.post(t, "fixed", `{"status":"up"}`)
		time.Sleep(3 * time.Hour)
		id := r.Deliveries()[0].ID
		want := "Webhook fixed: a delivery was given up after 4 runs, because the disk is full. Delivery " + id + "."
		if began.Load() != mostTries+1 || r.outcome(t) != Failed || len(r.noted()) != 1 || r.noted()[0] != want {
			t.Errorf("%d runs, %s, notes %q", began.Load(), r.outcome(t), r.noted())
		}
		if told := r.toldAtOnce(); len(told) != 2 || told[1] != want {
			t.Errorf("told %q", told)
		}
	})
}

func TestADeliveryThatWaitsForRoomOutlivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began atomic.Int32
		r := newRig(t, fullFor(1, &began))
		l := newPipes()
		stop := r.start(t, l)
		l.post(t, "fixed", `{"status":"up"}`)
		time.Sleep(time.Minute)
		stop()
		next := rigOn(t, r.dir, nil)
		defer next.start(t, newPipes())()
		time.Sleep(time.Minute)
		if jobs := next.ran(); len(jobs) != 1 || jobs[0].Delivery.Tries != 1 || next.outcome(t) != Done || len(next.noted()) != 0 {
			t.Errorf("%+v, %s, notes %q", jobs, next.outcome(t), next.noted())
		}
	})
}

func TestADeliveryWhoseRunFailsOtherwiseIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began atomic.Int32
		r := newRig(t, func(o *Options) {
			o.Run = func(context.Context, Job) error { began.Add(1); return fmt.Errorf("no") }
		})
		l := newPipes()
		defer r.start(t, l)()
		l.post(t, "fixed", `{"status":"up"}`)
		time.Sleep(time.Hour)
		if began.Load() != 1 || r.outcome(t) != Failed {
			t.Errorf("%d runs, %s", began.Load(), r.outcome(t))
		}
	})
}
