package fork

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
)

// killed is a run for a fire that a kill has ended, and the run that repeats it.
func (h *harness) killed(fire string) (first, second *run) {
	h.t.Helper()
	ofFire := func(j *Job) { j.Fire = fire }
	first = h.run(task(), ofFire)
	testkit.Must(h.t, appendStart(h.dir, first.status.snapshot()))
	return first, h.run(task(), ofFire)
}

// L5: six of 74 pings came twice in 100 kills.
func TestAPingIsNotSentAgainByTheRunThatRepeatsOneCutOff(t *testing.T) {
	for name, send := range sendings {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t)
			first, second := h.killed("reminder a1b2c3d4 9:00")
			if a := send(first, false); a.IsError {
				t.Fatalf("%s: %+v", name, a)
			}
			h.busy = true // it has arrived, whatever would refuse it now
			a := send(second, false)
			if len(h.sent()) != 1 || a.Text != answerAlready || a.IsError {
				t.Errorf("%s: %d were sent, and the second run hears %+v", name, len(h.sent()), a)
			}
			if state, reserved := h.o.Budget.State(h.m.o.now()); state.Whole() != 4 || reserved != 0 || len(h.o.Journal.Recent()) != 1 {
				t.Errorf("%s: %v tokens, journal %+v", name, state.Available, h.o.Journal.Recent())
			}
			if reason := second.tools.stopRule(t.Context(), false); reason == "" {
				t.Errorf("%s: the second run need not report what the first has sent", name)
			}
			if h.busy = false; !send(second, false).IsError || len(h.sent()) != 1 {
				t.Errorf("%s: the second run may ping once more", name)
			}
		})
	}
}

// L5: a kill between the payment and the answer of the surface, which knows the nonce.
func TestAPingCutOffWhileItWasSentHasTheSameNonceAndIsNotPaidAgain(t *testing.T) {
	for _, fails := range []error{nil, errors.New("50007")} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t)
			h.drain(1)
			first, _ := h.killed("reminder a1b2c3d4 9:00")
			hangs, nonces := make(chan struct{}), []string{}
			h.poster = func(_ context.Context, p post.Post) (post.MessageID, error) {
				testkit.Must(t, p.Begin())
				nonces = append(nonces, p.Nonce)
				if len(nonces) == 1 {
					<-hangs
				}
				return "1", fails
			}
			first.o.Host, first.tools.o.Host = h, h
			go first.tools.Ping(t.Context(), "hello", false, false)
			synctest.Wait()
			if cut, ok := h.o.Journal.Ping(nonces[0]); !ok || !cut.Begun || cut.Text != "hello" {
				t.Errorf("while it is sent the journal has %+v", h.o.Journal.Recent())
			}
			h.o.Budget, h.o.Journal = budget.NewBucket(h.dir, h.o.Zone, h.o.Log), budget.NewJournal(h.dir, h.o.Zone, h.o.Log)
			h.m = h.manager()
			second := h.run(task(), func(j *Job) { j.Fire = "reminder a1b2c3d4 9:00" })
			a := second.tools.Ping(t.Context(), "hello", false, false)
			if len(nonces) != 2 || nonces[0] != nonces[1] || a.IsError != (fails != nil) {
				t.Errorf("nonces %q, answer %+v", nonces, a)
			}
			if state, _ := h.o.Budget.State(h.m.o.now()); state.Whole() != 0 {
				t.Errorf("%v tokens are left", state.Available)
			}
			if all := h.o.Journal.Recent(); len(all) != 1 || all[0].Refused != "" || all[0].Begun != (fails != nil) || all[0].Run != second.id {
				t.Errorf("the journal has %+v", all)
			}
			close(hangs)
			synctest.Wait()
		})
	}
}

// L5: only the same words, for the same fire of a run that was cut off, are a double.
func TestOtherWordsFiresAndRunsAreNoDouble(t *testing.T) {
	ping := func(h *harness, r *run, text string) string {
		before := len(h.sent())
		r.tools.Ping(h.t.Context(), text, true, false)
		if sent := h.sent(); len(sent) == before+1 {
			return sent[before].Nonce
		}
		return ""
	}
	for name, second := range map[string]func(h *harness, first, again *run) string{
		"other words": func(h *harness, _, again *run) string { return ping(h, again, "goodbye") },
		"another fire": func(h *harness, _, _ *run) string {
			return ping(h, h.run(task(), func(j *Job) { j.Fire = "reminder a1b2c3d4 10:00" }), "hello")
		},
		"no fire":      func(h *harness, _, _ *run) string { return ping(h, h.run(task()), "hello") },
		"the same run": func(h *harness, first, _ *run) string { return ping(h, first, "hello") },
		"after its end": func(h *harness, first, again *run) string {
			v := first.status.snapshot()
			v.State = Done
			testkit.Must(h.t, appendLedger(h.dir, v))
			return ping(h, again, "hello")
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t)
			first, again := h.killed("reminder a1b2c3d4 9:00")
			one := ping(h, first, "hello")
			if two := second(h, first, again); two == "" || two == one {
				t.Errorf("%s: the nonces are %q and %q", name, one, two)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // what was said twice is not said a third time
		h := newHarness(t)
		first, again := h.killed("reminder a1b2c3d4 9:00")
		for i, one := range []struct {
			by     *run
			leaves bool
		}{{first, true}, {first, true}, {again, false}, {again, false}, {again, true}} {
			if left := ping(h, one.by, "hello") != ""; left != one.leaves {
				t.Errorf("ping %d leaves: %v; sent %+v", i, left, h.sent())
			}
		}
	})
}

// L5: a ping that was recorded before it was sent, and then was not, is none.
func TestAPingThatWasNotSentIsSaidToBeNotSent(t *testing.T) {
	h := newHarness(t)
	fail := errors.New("50007")
	h.poster = func(_ context.Context, p post.Post) (post.MessageID, error) {
		testkit.Must(t, p.Begin())
		return "1", fail
	}
	h.m = h.manager()
	r := h.run(task())
	if a := r.tools.Ping(t.Context(), "hello", false, false); !a.IsError || !strings.Contains(a.Text, "once more") {
		t.Errorf("%+v", a)
	}
	if all := h.o.Journal.Recent(); len(all) != 1 || all[0].Refused != briefNotSent || all[0].Begun {
		t.Errorf("the journal has %+v", all)
	}
	fail = nil
	if a := r.tools.Ping(t.Context(), "hello", false, false); a.IsError {
		t.Errorf("%+v", a)
	}
	if all := h.o.Journal.Recent(); len(all) != 2 || all[1].Refused != "" || all[1].Message != "1" {
		t.Errorf("the journal has %+v", all)
	}
}
