package fork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/label"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/money"
	"ollimbot/routines"
)

func titled(title string) routines.Task {
	return task(func(t *routines.Task) { t.Description = title })
}

// states formats the views as "title state", with the position in the queue.
func states(m *Manager) string {
	var list []string
	for _, v := range m.Views() {
		s := v.Title + " " + string(v.State)
		if v.Position > 0 {
			s += fmt.Sprint(" ", v.Position)
		}
		list = append(list, s)
	}
	return strings.Join(list, ", ")
}

func TestRunsStartInOrderAndNoMoreThanTheLimitAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		limit, raised int
		waits         string // of the runs, whose titles are a, b and so on
		want, later   string // the first views, and those after that time
		after, idle   time.Duration
	}{
		"two": {
			2, 2, "1 1 1 1 1", "a running, b running, c waiting 1, d waiting 2, e waiting 3", "c running, d running, e waiting 1", 61 * time.Second, 3 * time.Minute,
		},
		"four, without a limit": {
			0, 0, "1 1 1 1 1 1", "a running, b running, c running, d running, e waiting 1, f waiting 2", "e running, f running", 61 * time.Second, 2 * time.Minute,
		},
		"a limit that is raised":     {1, 2, "9 9", "a running, b waiting 1", "a running, b running", lookAgain, 9 * time.Minute},
		"a long one beside short":    {2, 2, "1 5 9", "a running, b running, c waiting 1", "b running, c running", 61 * time.Second, 10 * time.Minute},
		"a limit that is not raised": {1, 1, "9 9", "a running, b waiting 1", "a running, b waiting 1", 3 * lookAgain, 18 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			var idle []time.Duration
			served(t, func(t *testing.T, h *harness) {
				began, h.limits.MaxRunning = time.Now(), c.limit
				limit := c.limit
				if limit == 0 {
					limit = defaultRunning
				}
				var ends []func() (View, error)
				for i, wait := range strings.Fields(c.waits) {
					if place := h.m.Place(); place != max(0, i-limit+1) {
						t.Errorf("run %d has the place %d", i, place)
					}
					ends = append(ends, h.start(playing(titled(string(rune('a'+i))), "wait "+wait+"m")))
				}
				running, waiting := Count(h.m.Views())
				if got := states(h.m); got != c.want || running != strings.Count(got, "running") || waiting != strings.Count(got, "waiting") {
					t.Errorf("at first %s: %d run, %d wait", got, running, waiting)
				}
				h.set(func() { h.limits.MaxRunning = c.raised })
				if place := h.m.Place(); place != waiting+1 { // even if there is room now
					t.Errorf("the next run has the place %d of %d", place, waiting)
				}
				time.Sleep(c.after)
				synctest.Wait()
				if got := states(h.m); !strings.HasPrefix(got, c.later) {
					t.Errorf("later %s", got)
				}
				for _, end := range ends {
					if v, err := end(); v.State != Done || err != nil {
						t.Errorf("%s is %s in the end: %v", v.Title, v.State, err)
					}
				}
				if !slices.Equal(idle, []time.Duration{c.idle}) {
					t.Errorf("without runs after %v", idle)
				}
			}, func(o *Options) {
				o.Idle = func() { idle = append(idle, time.Since(began).Truncate(time.Minute)) }
			})
		})
	}
}

func TestWhoEndsARunDecidesHowItEnds(t *testing.T) {
	const user, caller, program = "the user", "its caller", "the program"
	for _, c := range []struct {
		what, by string
		state    State
		took     time.Duration
		ledger   State // empty if the run is not in the ledger
	}{
		{"waiting", user, Stopped, 0, Stopped},
		{"waiting", caller, Interrupted, 0, ""}, // it never starts
		{"waiting", program, Interrupted, 0, ""},
		{"aside", user, Stopped, 0, Stopped}, // its money is set aside for the first
		{"aside", caller, Interrupted, 0, ""},
		{"aside", program, Interrupted, 0, ""},
		{"prompt", user, Stopped, 0, Stopped},
		{"prompt", caller, Interrupted, 0, Interrupted},
		{"prompt", program, Interrupted, 0, Interrupted},
		{"running", user, Stopped, 0, Stopped},
		{"running", caller, Interrupted, 0, Interrupted},
		{"running", program, Interrupted, 0, Interrupted},
		{"rude", user, Stopped, grace, Stopped},
		{"rude", caller, Interrupted, partingGrace, Interrupted},
		{"rude", program, Interrupted, partingGrace, Interrupted},
	} {
		t.Run(c.what+", ended by "+c.by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t)
				first, j, starts := playing(titled("first"), "wait 1h"), playing(titled("second"), "say begun", "wait 20m", "say never"), c.what != "waiting" && c.what != "aside"
				if c.what == "aside" {
					purse := paying(t, h, 0.15) // one run is expected to cost $0.10
					first.Ticket, j.Ticket = reserve(t, h, purse), reserve(t, h, purse)
				}
				stop := h.serve()
				switch c.what {
				case "waiting", "aside":
					h.limits.MaxRunning = map[string]int{"waiting": 1}[c.what]
					waits := h.start(first)
					defer func() { _, _ = waits() }()
					j.Prompt = func(context.Context) string { t.Error("it started"); return "" }
				case "prompt":
					j.Prompt = func(ctx context.Context) string { <-ctx.Done(); return "hello" }
				case "rude":
					emits()(&h.m.o)
				}
				ctx, leave := context.WithCancel(context.Background())
				defer leave()
				var v View
				var err error
				ended := make(chan time.Time, 1)
				go func() { v, err = h.m.Do(ctx, j); ended <- time.Now() }()
				time.Sleep(time.Minute)
				views, begin := h.m.Views(), time.Now()
				id := views[len(views)-1].ID
				switch c.by {
				case user:
					testkit.Must(t, h.m.Stop(id))
					testkit.Must(t, h.m.Stop(id)) // pressed twice
				case caller:
					leave()
				default:
					stop()
				}
				if took := (<-ended).Sub(begin); took != c.took || v.ID != id || v.State != c.state ||
					errors.Is(err, ErrStopping) != (c.state == Interrupted) || (err == nil) != (c.state == Stopped) {
					t.Errorf("after %s it is %s, %v", took, v.State, err)
				}
				said := slices.Contains(h.lines(id), "note "+textStopping)
				if said != (starts && c.by == user) || slices.Contains(h.lines(id), "text never") {
					t.Errorf("the tail is %q", h.lines(id))
				}
				if err := h.m.Stop(id); c.by == user && (err == nil || err.Error() != "second has already ended") {
					t.Errorf("it can be stopped again: %v", err)
				}
				if err := h.m.Stop("ffffffff"); err == nil || !strings.Contains(err.Error(), "no run ffffffff") {
					t.Errorf("an unknown run is stopped: %v", err)
				}
				if shown := strings.Contains(states(h.m), "second "+string(c.state)); shown != (c.ledger != "") ||
					!starts && c.by != program && !strings.HasPrefix(states(h.m), "first running") {
					t.Errorf("shown are %s", states(h.m))
				}
				stop()
				if _, err := h.m.Do(context.Background(), playing(task())); !errors.Is(err, ErrStopping) {
					t.Errorf("a job after the end: %v", err)
				}
				if got, _, err := Find(h.dir, id); got.State != c.ledger || err != nil || len(h.sent()) != 0 {
					t.Errorf("in the ledger it is %q, %v; sent %+v", got.State, err, h.sent())
				}
			})
		})
	}
}

// Its messages are nothing to continue, and its user gets one short line.
func TestHowARunFailsIsSaidOnceAndTheNextOneRuns(t *testing.T) {
	ping := `call ping_user {"message":"hi"}`
	fails := func(err error) func(*Options) {
		return opening(func(context.Context, agent.SessionOptions) (agent.Session, error) { return nil, err })
	}
	for name, c := range map[string]struct {
		engine func(*Options)
		lines  []string
		why    string
		log    []string
	}{
		"a timeout":           {lines: []string{ping, "wait 1h"}, why: "timed out after 20 minutes"},
		"a timeout of one":    {engine: emits(), why: "timed out after 20 minutes"},
		"an error":            {lines: []string{ping, "say x", "fail no more credit"}, why: "no more credit"},
		"many lines":          {engine: emits(agent.Result{IsError: true, Text: "no\ncredit"}), why: "no credit"},
		"a long text":         {engine: emits(agent.Result{IsError: true, Text: strings.Repeat("y", 400)}), why: strings.Repeat("y", 299) + "…"},
		"no reason":           {engine: emits(agent.Result{IsError: true}), why: textNoReason},
		"no result":           {engine: emits(agent.Text{Delta: "and then"}), why: textNoResult},
		"a hook that ends it": {engine: emits(agent.Result{Stopped: "too dear"}), why: "too dear"},
		"its own interrupt":   {engine: emits(agent.Result{Interrupted: true}), why: errInterrupted.Error()},
		"a broken script":     {lines: []string{"dance"}, why: "script line 1"},
		"no session":          {engine: fails(errors.New("claude is not installed")), why: "open a session: claude is not installed"},
		"a panic": {
			engine: opening(func(context.Context, agent.SessionOptions) (agent.Session, error) { panic("wire crossed") }),
			why:    "wire crossed", log: []string{"background run panicked"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := remembering(t)
				h.troubles, h.limits.Timeout = c.log, 20*time.Minute
				if c.engine != nil {
					c.engine(&h.m.o)
				}
				defer h.serve()()
				begin := time.Now()
				v, err := h.m.Do(t.Context(), playing(titled("Email sweep"), c.lines...))
				took, state, said, atOnce := time.Since(begin), Failed, "Email sweep failed: "+v.Error, true
				if strings.HasPrefix(c.why, "timed out") {
					state, said, atOnce = TimedOut, "Email sweep "+c.why+".", false
				}
				if v.State != state || (err == nil) != (state == TimedOut) || !strings.Contains(v.Error, c.why) || len(v.Error) > 310 ||
					atOnce != (took < 4*time.Second) || !atOnce && took != 20*time.Minute {
					t.Fatalf("after %s it is %s: %q, %v", took, v.State, v.Error, err)
				}
				want := []post.Post{{Nonce: v.ID + "-end", Text: said, Small: true, Source: "Email sweep", Kind: post.KindNews, Cause: "Email sweep"}}
				if diff := cmp.Diff(want, h.sent()[v.Pings:]); diff != "" || h.tokens() < 5-float64(v.Pings) {
					t.Errorf("%v tokens are left, the user gets\n%s", h.tokens(), diff)
				}
				lines := h.lines(v.ID)
				if last := lines[len(lines)-1]; last != fmt.Sprintf("error %s: %s", state, v.Error) || name == "no result" && lines[0] != "text and then" {
					t.Errorf("the tail is %q", lines)
				}
				if _, err := h.dir.Read("state/fork_messages.json"); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("its messages were recorded: %v", err)
				}
				h.m.o.Engine = script.New(script.Options{})
				if lines := h.lines(h.done(playing(task(), "say fine")).ID); !slices.Equal(lines, []string{"text fine", "note done"}) {
					t.Errorf("the next run says %q", lines)
				}
			})
		})
	}
}

func TestThePromptIsBuiltWhenTheRunStartsNotWhenItIsQueued(t *testing.T) {
	served(t, func(t *testing.T, h *harness) {
		h.limits.MaxRunning = 1
		begin := time.Now()
		waits := h.start(playing(task(), "wait 5m"))
		defer func() { _, _ = waits() }()
		j := playing(task(), "stop")
		prompt := j.Prompt
		j.Prompt = func(ctx context.Context) string {
			if busy, _ := h.Busy(); time.Since(begin) != 5*time.Minute || !busy {
				t.Errorf("built after %s, busy %v; want the state of the start, five minutes later", time.Since(begin), busy)
			}
			return prompt(ctx)
		}
		end := h.start(j)
		h.set(func() { h.busy = true })
		if v, err := end(); v.State != Done {
			t.Errorf("%s, %v", v.State, err)
		}
	})
}

func TestTheRunsOfTheLastDayAreKnownAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		for i, c := range []struct {
			state State
			then  time.Duration
		}{{Done, 23 * time.Hour}, {Failed, time.Hour}, {Running, time.Hour}, {Done, time.Hour}} {
			v := View{ID: fmt.Sprintf("%08x", i+1), State: c.state, Started: time.Now()}
			if !v.Live() {
				v.Ended = time.Now()
			}
			testkit.Must(t, appendLedger(h.dir, v))
			time.Sleep(c.then)
		}
		m := h.manager()
		for since, want := range map[time.Duration]string{24 * time.Hour: "2 4 ", 3 * time.Hour: "2 4 ", 90 * time.Minute: "4 ", time.Minute: ""} {
			if got := ids(m.Ended(time.Now().Add(-since))); got != want {
				t.Errorf("within %s %sended", since, got)
			}
		}
		time.Sleep(22 * time.Hour)
		testkit.Must(t, m.Put(View{ID: "00000005", State: Done, Ended: time.Now()}))
		if got := ids(m.Ended(time.Time{})); got != "4 5 " {
			t.Errorf("a day later %sended", got)
		}
	})
}

func TestARunBeginsWithWhatIsSpecialAboutIt(t *testing.T) {
	const hook label.Label = "a webhook"
	at := time.Date(1999, 12, 31, 23, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		job  Job
		want []string
	}{
		"nothing":               {Job{}, []string{"note done"}},
		"untrusted input":       {Job{Label: hook}, []string{"note " + fmt.Sprintf(textLabeled, hook), "note done"}},
		"untrusted, by trusted": {Job{Label: hook, Trusted: true}, []string{"note " + fmt.Sprintf(textTrusted, hook), "note done"}},
		"late":                  {Job{Late: true, At: at}, []string{"note late: was due Fri 23:00", "note done"}},
		"a note, a label and lateness": {
			Job{Late: true, At: at, Label: hook, Note: "by hand"},
			[]string{"note by hand", "note " + fmt.Sprintf(textLabeled, hook), "note late: was due Fri 23:00", "note done"},
		},
	} {
		served(t, func(t *testing.T, h *harness) {
			h.limits.Model = "opus"
			j := playing(titled("Sweep"), "stop")
			j.Label, j.Trusted, j.Late, j.At, j.Note = c.job.Label, c.job.Trusted, c.job.Late, c.job.At, c.job.Note
			v := h.done(j)
			if v.Label != j.Label || v.Trusted != j.Trusted || v.Late != j.Late || v.Title != "Sweep" || v.TaskID != j.Task.ID ||
				v.Kind != routines.KindRoutine || v.Model != "opus" {
				t.Errorf("%s: %+v", name, v)
			}
			if diff := cmp.Diff(c.want, h.lines(v.ID)); diff != "" {
				t.Errorf("%s: the tail is\n%s", name, diff)
			}
		})
	}
}

func TestTheNextProgramKnowsWhichRemindersARunHasUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		stop := h.serve()
		due, begun := time.Now().Add(-time.Second), time.Now()
		ran := func(id string, lines ...string) (end func() (View, error)) {
			j := playing(titled(id), lines...)
			j.Task.ID, j.Reminder = id, &routines.Reminder{Task: j.Task, RunAt: due}
			return h.start(j)
		}
		_, _ = ran("aaaaaaaa", "say done")()
		_, _ = ran("bbbbbbbb", "fail no")()
		end := ran("cccccccc", "wait 20m")
		stop()
		_, _ = end()
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
	h := newHarness(t)
	r := h.run(task())
	stop := make(chan struct{})
	r.stop = stop
	r.begin(Limits{})
	close(stop)
	r.end(t.Context(), errors.New("the engine is gone"))
	if s := r.status.snapshot().State; s != Interrupted || len(h.sent()) != 0 {
		t.Errorf("%s, sent %+v", s, h.sent())
	}
}

// paying gives the runs of a harness a purse with a cap for the day.
func paying(t *testing.T, h *harness, limit float64) *money.Purse {
	t.Helper()
	purse := money.New(money.Options{
		Dir: h.dir, Zone: time.UTC, Log: h.o.Log, Changed: func() {}, Notice: func(string) {},
		Caps: func() money.Caps { return money.Caps{Day: limit, Month: math.Inf(1)} },
	})
	h.o.Money = purse
	h.m = h.manager()
	return purse
}

func reserve(t *testing.T, h *harness, p *money.Purse) money.Ticket {
	t.Helper()
	ticket, until, err := p.Reserve(h.o.now(), money.Task{Kind: routines.KindRoutine, ID: "a1b2c3d4"}, false)
	testkit.Must(t, err)
	if ticket == "" {
		t.Fatalf("no money until %v", until)
	}
	return ticket
}

func spend(t *testing.T, h *harness, p *money.Purse, dollars float64) {
	t.Helper()
	testkit.Must(t, p.Book(h.o.now(), money.Account{For: money.Conversation}, agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: dollars}}))
}

// B2: runs 2 to 6 started seconds after the notice that the cap is used up. An essential one sends its own words.
func TestARunWhoseTurnComesPastTheCapIsNotBegun(t *testing.T) {
	for spent, why := range map[float64]string{1.5: "$1.50 of your $1.00 cap for today is used", 0.95: textNoMoney} {
		for _, change := range []func(*routines.Task){func(*routines.Task) {}, essential} {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, emits(agent.Result{SessionID: "s-1"}))
				purse := paying(t, h, 1)
				defer h.serve()()
				j := playing(task(change), "stop")
				j.Ticket = reserve(t, h, purse)
				spend(t, h, purse, spent)
				v, err := h.m.Do(t.Context(), j)
				if j.Task.Essential {
					if p := h.sent(); v.State != Done || err != nil || len(p) != 1 || p[0].Text != fmt.Sprintf(textPlain, "Take the pills", why) || v.Session != "" {
						t.Errorf("%+v, %v, sent %+v", v, err, p)
					}
					return
				}
				broke := new(NoMoneyError)
				if v.State != Stopped || v.Error != "" || !errors.As(err, &broke) || !broke.Until.Equal(time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)) || err.Error() != why {
					t.Errorf("%v", err)
				}
				if list, err := Ledger(h.dir, 10); err != nil || len(list) != 0 || h.m.Place() != 0 {
					t.Errorf("it was begun: %+v, %v", list, err)
				}
			})
		}
	}
}

// B4: what is set aside for one run lets the next one wait, but not for tomorrow.
func TestARunWaitsForWhatIsSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		purse := paying(t, h, 0.15) // one run is expected to cost $0.10
		defer h.serve()()
		long, short := playing(task(), "wait 10s"), playing(task(), "stop")
		long.Ticket, short.Ticket = reserve(t, h, purse), reserve(t, h, purse)
		done := make(chan time.Time, 2)
		for _, j := range []Job{long, short} {
			go func() {
				if _, err := h.m.Do(t.Context(), j); err != nil {
					t.Error(err)
				}
				testkit.Must(t, purse.Settle(j.Ticket))
				done <- time.Now()
			}()
			time.Sleep(2 * time.Second)
		}
		aside := 0
		for _, v := range h.m.Views() {
			if v.Aside {
				aside++
			}
		}
		if s := purse.State(h.o.now()); aside != 1 || s.Reserved < 0.09 || !s.Until(0.1).IsZero() {
			t.Errorf("%d runs wait, %+v", aside, s)
		}
		first, second := <-done, <-done
		if wait := second.Sub(first); wait <= 0 || wait > 3*time.Second {
			t.Errorf("the second ends %v after the first", wait)
		}
	})
}

func TestARunIsEndedBetweenItsRequestsWhenACapIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		purse := paying(t, h, 1)
		j := playing(task(), "stop")
		j.Ticket = reserve(t, h, purse)
		r := newRun(&h.o, j, make(chan struct{}))
		unpriced := agent.Spending{Model: "claude-sonnet-5", Used: agent.Usage{OutputTokens: 1_000_000}} // the table has its price
		if _, stop := r.options(Limits{TurnCap: 0.5}).Hooks.Afford(t.Context(), unpriced); !strings.Contains(stop, "turn_cap") {
			t.Errorf("a request without a cost passes the limit of a turn: %q", stop)
		}
		hooks := r.options(Limits{}).Hooks
		ask := func() string {
			_, stop := hooks.Afford(t.Context(), agent.Spending{Used: agent.Usage{InputTokens: 1, CostUSD: 0.01}})
			return stop
		}
		hooks.Charge(agent.Charge{Used: agent.Usage{InputTokens: 5, CostUSD: 0.75}})
		if stop := ask(); stop != "" {
			t.Errorf("below the cap: %s", stop)
		}
		hooks.Charge(agent.Charge{Part: agent.Subagent, Used: agent.Usage{InputTokens: 5, CostUSD: 0.5}})
		if stop := ask(); !strings.Contains(stop, "between two requests: $1.25 of your $1.00 cap for today is used") {
			t.Errorf("at the cap: %q", stop)
		}
		if v := r.status.snapshot(); v.Usage.CostUSD != 1.25 || v.Usage.InputTokens != 10 {
			t.Errorf("the run shows %+v", v.Usage)
		}
		if _, rows := purse.Books(time.Now()); len(rows) != 2 || rows[0].For != money.OfRun ||
			rows[1].For != money.Subagent || rows[1].Run != r.id || rows[1].Task.ID != "a1b2c3d4" {
			t.Errorf("%+v", rows)
		}
	})
}

// A run is paid from its reservation, at the price of its model.
func TestWhatARunUsesIsPaidFromItsTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		used := agent.Usage{OutputTokens: 1, CostUSD: 0.05}
		h := newHarness(t, emits(agent.Result{SessionID: "s-1", Usage: used}))
		purse := paying(t, h, math.Inf(1))
		defer h.serve()()
		j := playing(task(), "stop")
		j.Ticket = reserve(t, h, purse)
		v := h.done(j)
		if s := purse.State(h.o.now()); s.Today.Spent.Dollars() != used.CostUSD || s.Reserved <= 0 ||
			v.Usage.CostUSD != used.CostUSD || purse.Run(v.ID).Dollars() != used.CostUSD {
			t.Errorf("the run has used %+v; of what was set aside remains %+v", v.Usage, s)
		}
		if list, err := Ledger(h.dir, 1); err != nil || list[0].Usage != used {
			t.Errorf("the ledger says %+v, %v", list, err)
		}
	})
}
