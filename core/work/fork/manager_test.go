package fork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

func TestAWaitingRunWhoseCallerLeavesNeverStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		job := playing(task(), "stop")
		job.Prompt = func(context.Context) string { t.Error("it started"); return "" }
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		v, err := h.m.Do(ctx, job)
		if !errors.Is(err, ErrStopping) || v.State != Interrupted || len(h.m.Views()) != 0 {
			t.Errorf("got %s, %v; the queue is %v", v.State, err, states(h.m))
		}
	})
}

func TestTheMomentWithoutRunsIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		began := time.Now()
		h := newHarness(t, func(o *Options) { o.Idle = func() { at = append(at, time.Since(began).Truncate(time.Minute)) } })
		h.limits.MaxRunning = 2
		defer h.serve()()
		var wg sync.WaitGroup
		for _, wait := range []string{"wait 1m", "wait 5m", "wait 10m"} { // the third waits for the first
			wg.Go(func() { _, _ = h.m.Do(t.Context(), playing(titled(wait), wait)) })
			synctest.Wait()
		}
		wg.Wait()
		if diff := cmp.Diff([]time.Duration{11 * time.Minute}, at); diff != "" {
			t.Error(diff)
		}
	})
}

func TestThePromptIsBuiltWhenTheRunStartsNotWhenItIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.limits.MaxRunning = 1
		defer h.serve()()
		begin := time.Now()
		var built time.Duration
		var sawBusy bool
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = h.m.Do(t.Context(), playing(task(), "wait 5m")) })
		synctest.Wait()
		wg.Go(func() {
			j := playing(task(), "stop")
			j.Prompt = func(context.Context) string {
				built = time.Since(begin)
				sawBusy, _ = h.Busy()
				return "hello"
			}
			_, _ = h.m.Do(t.Context(), j)
		})
		synctest.Wait()
		h.set(func() { h.busy = true })
		wg.Wait()
		if built < 5*time.Minute || !sawBusy {
			t.Errorf("built after %s, busy %v; want the state of the start, five minutes later", built, sawBusy)
		}
	})
}

func TestStoppingARunEndsTheBuildingOfItsPrompt(t *testing.T) {
	serving(t, func(t *testing.T, h *harness) {
		var wg sync.WaitGroup
		wg.Go(func() {
			j := playing(task(), "stop")
			j.Prompt = func(ctx context.Context) string {
				<-ctx.Done()
				return "hello"
			}
			_, _ = h.m.Do(t.Context(), j)
		})
		synctest.Wait()
		begin := time.Now()
		testkit.Must(t, h.m.Stop(h.m.Views()[0].ID))
		wg.Wait()
		if v := h.m.Views()[0]; v.State != Stopped || time.Since(begin) > time.Second {
			t.Errorf("the run is %s after %s", v.State, time.Since(begin))
		}
	})
}

func TestTheCallersEndStopsARunLikeAShutdown(t *testing.T) {
	serving(t, func(t *testing.T, h *harness) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		v, err := h.m.Do(ctx, playing(task(), "wait 20m"))
		if !errors.Is(err, ErrStopping) || v.State != Interrupted {
			t.Errorf("got %s, %v", v.State, err)
		}
	})
}

func TestAFailureTellsTheUserAndIsAnError(t *testing.T) {
	tests := map[string]struct {
		engine agent.Engine
		job    Job
		want   string
	}{
		"an error result": {nil, playing(task(), "say x", "fail no more credit"), "no more credit"},
		"a broken script": {nil, playing(task(), "dance"), "script line 1"},
		"a panic of the engine": {engineFunc(func(context.Context, agent.SessionOptions) (agent.Session, error) {
			panic("wire crossed")
		}), playing(task()), "wire crossed"},
		"a session that cannot be opened": {engineFunc(func(context.Context, agent.SessionOptions) (agent.Session, error) {
			return nil, errors.New("claude is not installed")
		}), playing(task()), "claude is not installed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, func(o *Options) {
					if tt.engine != nil {
						o.Engine = tt.engine
					}
				})
				if tt.want == "wire crossed" {
					h.troubles = []string{"background run panicked"}
				}
				defer h.serve()()
				begin := time.Now()
				v, err := h.m.Do(t.Context(), tt.job)
				if err == nil || v.State != Failed || !strings.Contains(v.Error, tt.want) {
					t.Fatalf("got %s %q, %v; want failed with %q", v.State, v.Error, err, tt.want)
				}
				if time.Since(begin) > 4*time.Second {
					t.Error("it was tried again; only an open that timed out is")
				}
				posts := h.sent()
				if len(posts) != 1 || !strings.HasPrefix(posts[0].Text, "Email sweep failed: ") || !posts[0].Small {
					t.Errorf("posts: %+v", posts)
				}
				if h.tokens() != 5 {
					t.Errorf("%v tokens left; a notice costs none", h.tokens())
				}
				// The manager continues.
				h.m.o.Engine = script.New(script.Options{})
				if v, err := h.m.Do(t.Context(), playing(task(), "say fine")); err != nil || v.State != Done {
					t.Errorf("the next run: %s, %v", v.State, err)
				}
			})
		})
	}
}

func TestTheRunsOfTheLastDayAreKnownAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		end := func(id string, state State) {
			v := View{ID: id, Title: id, State: state, Started: time.Now()}
			if state != Running {
				v.Ended = time.Now()
			}
			testkit.Must(t, appendLedger(h.dir, v))
			time.Sleep(time.Hour)
		}
		end("00000001", Done)
		time.Sleep(22 * time.Hour)
		end("00000002", Failed)
		end("00000003", Running)
		end("00000004", Done)
		m := h.manager()
		var got []string
		for _, v := range m.Ended(time.Now().Add(-24 * time.Hour)) {
			got = append(got, v.ID)
		}
		if want := []string{"00000002", "00000004"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if later := m.Ended(time.Now().Add(-90 * time.Minute)); len(later) != 1 || later[0].ID != "00000004" {
			t.Errorf("%+v", later)
		}
	})
}

func TestARunThatIsLateSaysSoAndKeepsItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.limits.Model = "opus"
		defer h.serve()()
		j := playing(titled("Sweep"), "stop")
		j.Late, j.At = true, time.Now().Add(-time.Hour)
		v, err := h.m.Do(t.Context(), j)
		if err != nil || !v.Late || v.Title != "Sweep" || v.TaskID != j.Task.ID || v.Kind != routines.KindRoutine || v.Model != "opus" {
			t.Errorf("%+v, %v", v, err)
		}
		page, _ := h.m.Tail(v.ID, 0)
		if len(page.Lines) == 0 || page.Lines[0].Text != fmt.Sprintf(textLate, j.At.UTC().Format("Mon 15:04")) {
			t.Errorf("the tail is %+v", page.Lines)
		}
	})
}

func TestTheNextProgramKnowsWhichRemindersARunHasUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		stop := h.serve()
		due := time.Now().Add(-time.Second).Truncate(time.Second)
		begun := time.Now()
		ran := func(id string, lines ...string) {
			j := playing(titled(id), lines...)
			j.Task.ID, j.Reminder = id, &routines.Reminder{Task: j.Task, RunAt: due}
			_, _ = h.m.Do(t.Context(), j) // the ledger has its outcome
		}
		ran("aaaaaaaa", "say done")
		ran("bbbbbbbb", "fail no")
		var wg sync.WaitGroup
		wg.Go(func() { ran("cccccccc", "wait 20m") })
		synctest.Wait()
		stop()
		wg.Wait()
		testkit.Must(t, appendLedger(h.dir, View{ID: "0badc0de", TaskID: "dddddddd", State: Running, Due: due, Queued: begun}))
		if h.m.UsedUp("aaaaaaaa", due, begun) {
			t.Error("the program that ran it is not asked")
		}
		next := h.manager()
		for id, want := range map[string]bool{"aaaaaaaa": true, "bbbbbbbb": true, "cccccccc": false, "dddddddd": false, "eeeeeeee": false} {
			if got := next.UsedUp(id, due, begun); got != want {
				t.Errorf("%s is used up: %v", id, got)
			}
		}
		if next.UsedUp("aaaaaaaa", due.Add(time.Minute), begun) || next.UsedUp("aaaaaaaa", due, begun.Add(time.Hour)) {
			t.Error("a run counts for another time, or for a fire after it")
		}
	})
}

func TestARunThatFailsBecauseTheProgramEndsIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		r := h.run(task())
		stop := make(chan struct{})
		r.stop = stop
		r.begin(Limits{})
		close(stop)
		r.end(t.Context(), errors.New("the engine is gone"))
		if s := r.status.snapshot().State; s != Interrupted || len(h.sent()) != 0 {
			t.Errorf("%s, told %+v", s, h.sent())
		}
	})
}
