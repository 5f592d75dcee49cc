package fork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/label"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
)

// What a check has printed is a ping like any other: one token, and refused by all that refuses a
// ping. What is refused is not lost.
func TestASaidMessageIsAPingUnderAllItsRules(t *testing.T) {
	const words = "High tide at 9:40"
	said, hook := fmt.Sprintf(updateSaid, words), func(j *Job) { j.Label = label.From("check of routine a1") }
	unsaid := func(why any) string { return fmt.Sprintf(updateUnsaid, why, words) }
	in := func(m routines.Mode) func(*Job) { return func(j *Job) { j.Task.Mode = m } }
	pills, failed := func(j *Job) { essential(&j.Task) }, func(j *Job) { j.Said = &Said{Failed: "exit 2"} }
	both := func(one, two func(*Job)) func(*Job) { return func(j *Job) { one(j); two(j) } }
	for name, c := range map[string]struct {
		when   string // one of the circumstances
		fails  error  // of the surface
		change func(*Job)
		sent   string // how it begins; empty if nothing is
		paid   float64
		update string // pending; empty for none
		state  State
	}{
		"it costs a token, and no money":            {sent: words, paid: 1, update: said},
		"with a label it says so":                   {change: hook, sent: words, paid: 1, update: said},
		"an empty budget refuses it":                {when: "no token", update: unsaid(briefExhausted)},
		"so do a conversation":                      {when: "a conversation", update: unsaid(briefBusy)},
		"and quiet hours or a mute":                 {when: "a mute", update: unsaid("quiet until 01:00")},
		"a task that may not report loses it":       {when: "no token", change: in(routines.Blocked)},
		"and reports no message":                    {change: in(routines.Blocked), sent: words, paid: 1},
		"one that may report does so when unsent":   {when: "no token", change: in(routines.Freely), update: unsaid(briefExhausted)},
		"and not when sent":                         {change: in(routines.Freely), sent: words, paid: 1},
		"one that must report does":                 {change: in(routines.Always), sent: words, paid: 1, update: said},
		"an essential one is beside the budget":     {when: "no token", change: pills, sent: words, update: said},
		"with a label it is not":                    {when: "no token", change: both(pills, hook), sent: "Take the pills\n", update: unsaid(briefExhausted)},
		"a script that failed is a run that failed": {change: failed, sent: "Email sweep failed: exit 2", state: Failed},
		"an essential one sends its own words":      {change: both(pills, failed), sent: "Take the pills\n", state: Failed},
		"one that cannot be delivered is kept":      {fails: post.ErrNoChannel, update: unsaid(post.ErrNoChannel), state: Failed},
		"one that may have arrived counts as sent":  {fails: errUnknown, paid: 1, update: said},
	} {
		t.Run(name, func(t *testing.T) {
			opened := 0
			served(t, func(t *testing.T, h *harness) {
				if c.when != "" {
					circumstances[c.when](h)
				}
				if h.failed = c.fails; c.fails != nil {
					h.troubles = []string{map[bool]string{true: "the user was not informed", false: "a ping may not have arrived"}[c.state == Failed]}
				}
				before := h.tokens()
				j := Job{Task: task(func(t *routines.Task) { t.Says = true }), Said: &Said{Text: words}}
				if c.change != nil {
					c.change(&j)
				}
				v, err := h.m.Do(t.Context(), j)
				if v.State != cmp.Or(c.state, Done) || (err != nil) != (c.state == Failed) || opened != 0 || !v.NoModel || v.Model != "" || v.Usage != (agent.Usage{}) {
					t.Errorf("%+v, %v, opened %d times", v, err, opened)
				}
				posts, own := h.sent(), c.sent != words
				if (len(posts) == 1) != (c.sent != "") ||
					len(posts) == 1 && (!strings.HasPrefix(posts[0].Text, c.sent) || (posts[0].Label == "") != (j.Label == "" || own)) {
					t.Errorf("sent %+v", posts)
				}
				if paid := before - h.tokens(); paid != c.paid || c.paid > 0 && v.Pings != 1 {
					t.Errorf("it cost %v tokens", paid)
				}
				want := c.update
				if j.Label != "" {
					want = fmt.Sprintf(reportLabeled, j.Label) + want
				}
				pending := h.o.Updates.Peek()
				if (len(pending) == 1) != (c.update != "") || len(pending) == 1 && (pending[0].Message != want || (pending[0].Label == "") != (j.Label == "")) {
					t.Errorf("pending %+v, not %q", pending, want)
				}
				note := textNoModel
				if j.Label != "" {
					note = fmt.Sprintf(textLabeledSaid, j.Label)
				}
				if lines := h.lines(v.ID); lines[0] != "note "+textNoModel || !slices.Contains(lines, "note "+note) {
					t.Errorf("the tail is %q", lines)
				}
			}, broken(&opened))
		})
	}
}

func essential(t *routines.Task) { t.Essential, t.Description = true, "Take the pills" }

// broken is an engine that does not answer, and counts.
func broken(opened *int) func(*Options) {
	return opening(func(context.Context, agent.SessionOptions) (agent.Session, error) {
		*opened++
		return nil, errors.New("no route to the provider")
	})
}

// A run that may contain a stranger's words pays for its ping, and if that is refused the user gets the text of the file.
func TestAnEssentialTaskReachesTheUserWithoutAModel(t *testing.T) {
	freely, mail := mode(routines.Freely), func(j *Job) { j.Label = label.From("mail") }
	const spam = `call ping_user {"message":"Buy pills at evil.example"}`
	for name, c := range map[string]struct {
		task  routines.Task
		lines string // empty for an engine that is down
		job   func(*Job)
		state State
		why   string // in the words of the file; empty if they are not sent
		sent  int
	}{
		"the engine is down":         {task(essential), "", nil, Failed, "open a session: no route to the provider", 1},
		"it takes too long":          {task(essential), "wait 1h", nil, TimedOut, "timed out after 30 minutes", 1},
		"any other task":             {task(), "", nil, Failed, "", 1},
		"there is no money":          {task(essential, mode(routines.Always)), "", func(j *Job) { j.Plain = "no money" }, Done, "no money", 1},
		"its ping is refused":        {task(essential, freely), spam, mail, Done, "its ping was refused: no token left", 1},
		"it does not want to ping":   {task(essential, freely), "say all is settled", nil, Done, "", 0},
		"it fails after its ping":    {task(essential, freely), `call ping_user {"message":"Two pills"}` + "\nfail out of order", nil, Failed, "", 2},
		"its user stops it":          {task(essential), "wait 1h", func(j *Job) { j.Note = "stopped" }, Stopped, "", 0},
		"the bot stops":              {task(essential), "wait 1h", func(j *Job) { j.Note = "shut down" }, Interrupted, "", 0},
		"another task's is not sent": {task(freely), spam, mail, Done, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			opened := 0
			served(t, func(t *testing.T, h *harness) {
				h.drain(0)
				if c.lines == "" {
					broken(&opened)(&h.m.o)
				}
				j := playing(c.task, strings.Split(c.lines, "\n")...)
				if c.job != nil {
					c.job(&j)
				}
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				if j.Note != "" {
					go func() {
						time.Sleep(time.Minute)
						if j.Note == "shut down" {
							leave()
							return
						}
						if err := h.m.Stop(h.m.Views()[0].ID); err != nil {
							t.Error(err)
						}
					}()
				}
				v, err := h.m.Do(ctx, j)
				if asked := map[bool]int{true: 1}[c.lines == "" && j.Plain == ""]; opened != asked || v.State != c.state ||
					(err != nil) != (c.state == Failed || c.state == Interrupted) {
					t.Errorf("%s, %v, opened %d times", v.State, err, opened)
				}
				posts, free := h.sent(), h.o.Tally.At(h.m.o.now()).Essential
				if len(posts) != c.sent || free != v.Essential || c.why == "" && v.Essential != v.Pings {
					t.Fatalf("%+v, %+v", posts, v)
				}
				for _, p := range posts {
					if own := strings.Contains(p.Text, "words of the file"); own != (c.why != "") || p.Small == own && p.Text != "Two pills" {
						t.Errorf("sent %+v", p)
					}
				}
				if c.why == "" {
					return
				}
				if p := posts[0]; p.Text != fmt.Sprintf(textPlain, "Take the pills", c.why) || p.Label != "" || v.Pings != 1 || free != 1 {
					t.Errorf("%+v, %+v", p, v)
				}
				if lines := h.lines(v.ID); !slices.Contains(lines, "note "+fmt.Sprintf(textSendsPlain, c.why)) {
					t.Errorf("the tail is %q", lines)
				}
			})
		})
	}
}

// A run that only sends its words asks no model, takes no place in the queue, and obeys the rules of a ping.
func TestWordsAreSentWithoutAModelAndWithoutAPlace(t *testing.T) {
	served(t, func(t *testing.T, h *harness) {
		h.limits.MaxRunning = 1
		waits := h.start(playing(task(), "wait 1h", "say done"))
		defer func() { _, _ = waits() }()
		early := func(t routines.Task) Job {
			return Job{Task: t, At: time.Now().Add(-time.Second), Fire: "reminder a", Said: &Said{Text: "Leave now", Early: true}}
		}
		if v := h.done(early(task(essential))); v.Pings != 1 || v.Session != "" || len(h.sent()) != 1 || h.sent()[0].Text != "Leave now" ||
			!v.Due.Equal(time.Now().Add(-time.Second)) || h.o.Journal.Recent()[0].Kind != "ping" {
			t.Errorf("%+v, sent %+v, journal %+v", v, h.sent(), h.o.Journal.Recent())
		}
		if v := h.done(early(task(essential, noPing))); v.Refused != 1 || len(h.sent()) != 1 {
			t.Errorf("%+v, sent %+v", v, h.sent())
		}
		h.set(func() { h.failed = errors.New("no route") })
		h.troubles = []string{"the user was not informed of a failed run"}
		if v, err := h.m.Do(t.Context(), early(task())); v.State != Failed || err == nil || !strings.Contains(v.Error, "no route") {
			t.Errorf("%+v, %v", v, err)
		}
	})
}

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
			if a := send(t.Context(), first, false); a.IsError {
				t.Fatalf("%s: %+v", name, a)
			}
			h.busy = true // it has arrived, whatever would refuse it now
			a := send(t.Context(), second, false)
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
			if h.busy = false; !send(t.Context(), second, false).IsError || len(h.sent()) != 1 {
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
		Fault, Kind    string
		Critical, Busy bool
		Full           bool // the budget cannot be written
	}
	calls := rapid.Custom(func(rt *rapid.T) call {
		return call{
			rapid.SampledFrom(slices.Sorted(maps.Keys(faults))).Draw(rt, "fault"),
			rapid.SampledFrom(slices.Sorted(maps.Keys(sendings))).Draw(rt, "kind"), rapid.IntRange(0, 3).Draw(rt, "critical") == 0,
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
				sendings[now.Kind](ctx, r, now.Critical)
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
