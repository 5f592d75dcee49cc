package fork

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
)

const nine = "reminder a1b2c3d4 9:00"

// of makes a run one of a fire.
func of(fire string) func(*Job) { return func(j *Job) { j.Fire = fire } }

// killed is a run for a fire that a kill has ended, and the run that repeats it.
func (h *harness) killed() (first, second *run) {
	h.t.Helper()
	first = h.run(task(), of(nine))
	testkit.Must(h.t, appendStart(h.dir, first.status.snapshot()))
	return first, h.run(task(), of(nine))
}

// L5: six of 74 pings came twice in 100 kills.
func TestAPingIsNotSentAgainByTheRunThatRepeatsOneCutOff(t *testing.T) {
	for name, send := range sendings {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t)
			first, second := h.killed()
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
			if lines, was := tailOf(second), tailOf(first); len(lines) != 1 || lines[0] != "ping not sent again: "+was[0][len("ping "):] {
				t.Errorf("%s: the tail is %q", name, lines)
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
			first, _ := h.killed()
			hangs, nonces := make(chan struct{}), []string{}
			h.poster = func(_ context.Context, p post.Post) (post.MessageID, error) {
				testkit.Must(t, p.Begin())
				nonces = append(nonces, p.Nonce)
				if len(nonces) == 1 {
					<-hangs
				}
				return "1", fails
			}
			go first.tools.Ping(t.Context(), "hello", false, false)
			synctest.Wait()
			if cut, ok := h.o.Journal.Ping(nonces[0]); !ok || !cut.Begun || cut.Text != "hello" {
				t.Errorf("while it is sent the journal has %+v", h.o.Journal.Recent())
			}
			h.o.Budget, h.o.Journal = budget.NewBucket(h.dir, h.o.Zone, h.o.Log), budget.NewJournal(h.dir, h.o.Zone, h.o.Log)
			h.m = h.manager()
			second := h.run(task(), of(nine))
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

// L5: only the same words, for the same fire of a run that was cut off, are a double. What was said twice is not said a third time.
func TestOtherWordsFiresAndRunsAreNoDouble(t *testing.T) {
	for name, c := range map[string]struct {
		by, words []string
		ends      bool // the first run ends after its ping
		leave     []bool
	}{
		"the same":       {[]string{"first", "again"}, []string{"hello", "hello"}, false, []bool{true, false}},
		"other words":    {[]string{"first", "again"}, []string{"hello", "goodbye"}, false, []bool{true, true}},
		"another fire":   {[]string{"first", "ten"}, []string{"hello", "hello"}, false, []bool{true, true}},
		"no fire":        {[]string{"first", "none"}, []string{"hello", "hello"}, false, []bool{true, true}},
		"after its end":  {[]string{"first", "again"}, []string{"hello", "hello"}, true, []bool{true, true}},
		"twice by a run": {[]string{"first", "first", "again", "again", "again"}, slices.Repeat([]string{"hello"}, 5), false, []bool{true, true, false, false, true}},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t)
			first, again := h.killed()
			runs := map[string]*run{"first": first, "again": again, "ten": h.run(task(), of("reminder a1b2c3d4 10:00")), "none": h.run(task())}
			nonces := map[string]bool{}
			for i, by := range c.by {
				before := len(h.sent())
				runs[by].tools.Ping(t.Context(), c.words[i], true, false)
				sent := h.sent()
				if left := len(sent) > before; left != c.leave[i] || left && nonces[sent[before].Nonce] {
					t.Errorf("%s: ping %d leaves: %v; sent %+v", name, i, left, sent)
				} else if left {
					nonces[sent[before].Nonce] = true
				}
				if c.ends {
					v := first.status.snapshot()
					v.State = Done
					testkit.Must(t, appendLedger(h.dir, v))
				}
			}
		})
	}
}
