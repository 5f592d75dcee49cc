package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
)

// worked runs a story with a running queue and collects the queue's errors.
func worked(t *testing.T, story func(ctx context.Context, q *queue, stop func(), failed func() []string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		var mu sync.Mutex
		var failed []string
		ended := make(chan struct{})
		idle := func(context.Context) error { return errors.New("idle") }
		go func() {
			defer close(ended)
			q.run(ctx, idle, func(err error) {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, err.Error())
			})
		}()
		story(ctx, q, stop, func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(failed)
		})
		stop()
		<-ended
	})
}

func TestJobsRunInOrderAndTheirErrorsAreReported(t *testing.T) {
	worked(t, func(ctx context.Context, q *queue, _ func(), failed func() []string) {
		var order []string
		release := make(chan struct{})
		testkit.Must(t, q.later(func(context.Context) error { <-release; return nil }))
		synctest.Wait() // it is running, and the others wait
		for i := range maxJobs {
			testkit.Must(t, q.later(func(context.Context) error {
				order = append(order, fmt.Sprint(i))
				switch i {
				case 1:
					return errors.New("one")
				case 2:
					panic("two")
				}
				return nil
			}))
		}
		if err := q.later(func(context.Context) error { return nil }); err == nil || err.Error() != textTooManyMessages {
			t.Errorf("a full queue answers %v", err)
		}
		close(release)
		if err := q.do(ctx, func(context.Context) error { return errors.New("mine") }); err == nil || err.Error() != "mine" {
			t.Errorf("do returns %v", err)
		}
		if err := q.do(ctx, func(context.Context) error { panic("mine") }); err == nil || err.Error() != "internal fault in a turn: mine" {
			t.Errorf("do returns %v", err)
		}
		if len(order) != maxJobs || !slices.IsSortedFunc(order, func(a, b string) int { return len(a) - len(b) }) {
			t.Errorf("the jobs ran as %q", order)
		}
		if got := failed(); len(got) != 2 || got[0] != "one" || got[1] != "internal fault in a turn: two" {
			t.Errorf("reported: %q", got)
		}
		time.Sleep(idleCheck + time.Second)
		if got := failed(); len(got) != 3 || got[2] != "idle" {
			t.Errorf("after a minute: %q", got)
		}
	})
}

func TestACallerThatNoLongerWaitsTakesItsJobBack(t *testing.T) {
	worked(t, func(ctx context.Context, q *queue, _ func(), _ func() []string) {
		over := make(chan struct{})
		testkit.Must(t, q.later(func(context.Context) error { <-over; return nil }))
		caller, leave := context.WithCancel(ctx)
		result := make(chan error)
		ran := false
		go func() { result <- q.do(caller, func(context.Context) error { ran = true; return nil }) }()
		synctest.Wait()
		leave()
		if err := <-result; !errors.Is(err, context.Canceled) || err.Error() != textStillBusy {
			t.Errorf("%v", err)
		}
		close(over)
		synctest.Wait()
		if ran {
			t.Error("its job ran all the same")
		}
	})
}

func TestAJobThatRunsIsWaitedForAndStoppedWithItsCallerOrItsQueue(t *testing.T) {
	for _, who := range []string{"caller", "queue"} {
		worked(t, func(ctx context.Context, q *queue, stop func(), _ func() []string) {
			caller, leave := context.WithCancel(context.Background())
			defer leave()
			result := make(chan error)
			go func() {
				result <- q.do(caller, func(ctx context.Context) error {
					<-ctx.Done()
					time.Sleep(time.Second)
					return errors.New("cleaned up")
				})
			}()
			synctest.Wait()
			if who == "queue" {
				stop()
			} else {
				leave()
			}
			if err := <-result; err == nil || err.Error() != "cleaned up" {
				t.Errorf("%s: %v", who, err)
			}
		})
	}
}

func TestAQueueThatHasEndedStartsNothing(t *testing.T) {
	worked(t, func(_ context.Context, q *queue, stop func(), _ func() []string) {
		over := make(chan struct{})
		testkit.Must(t, q.later(func(context.Context) error { <-over; return errors.New("not reported after the end") }))
		waiting := make(chan error)
		go func() {
			waiting <- q.do(context.Background(), func(context.Context) error { t.Error("it ran"); return nil })
		}()
		synctest.Wait()
		stop()
		close(over)
		if err := <-waiting; !errors.Is(err, context.Canceled) || err.Error() != textStopping {
			t.Errorf("%v", err)
		}
		synctest.Wait()
		for len(q.jobs) < maxJobs { // nothing makes room any more
			testkit.Must(t, q.later(func(context.Context) error { return nil }))
		}
		if err := q.do(context.Background(), func(context.Context) error { return nil }); !errors.Is(err, context.Canceled) || err.Error() != textStopping {
			t.Errorf("%v", err)
		}
		gone, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New("gone"))
		if err := q.do(gone, func(context.Context) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestAQueueIsAliveWhileItsJobGivesSignsOfLife(t *testing.T) {
	worked(t, func(_ context.Context, q *queue, _ func(), _ func() []string) {
		alive := func() error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			return q.alive(ctx, func() time.Duration { return 10 * time.Minute })
		}
		testkit.Must(t, alive())
		over := make(chan struct{})
		testkit.Must(t, q.later(func(context.Context) error { <-over; return nil }))
		synctest.Wait()
		began := time.Now()
		for range maxJobs + 1 { // one probe is in the queue, however many callers ask
			testkit.Must(t, alive())
		}
		if len(q.jobs) != 1 {
			t.Errorf("%d jobs are waiting", len(q.jobs))
		}
		time.Sleep(8 * time.Minute)
		testkit.Must(t, alive())
		time.Sleep(2 * time.Minute)
		err, silent := alive(), time.Since(began)
		if want := "the conversation's queue is stuck: its job has shown no sign of life for " + silent.String(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		q.hear()
		testkit.Must(t, alive())
		time.Sleep(11 * time.Minute)
		close(over)
		synctest.Wait()
		testkit.Must(t, alive())
	})
}
