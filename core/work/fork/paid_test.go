package fork

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/money"
	"ollimbot/routines"
)

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

// B2: runs 2 to 6 started seconds after the notice that the cap is used up.
func TestARunWhoseTurnComesPastTheCapIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, tells(agent.Result{SessionID: "s-1"}))
		purse := paying(t, h, 1)
		defer h.serve()()
		j := playing(task(), "stop")
		j.Ticket = reserve(t, h, purse)
		spend(t, h, purse, 1.5)
		v, err := h.m.Do(t.Context(), j)
		broke := new(NoMoneyError)
		if v.State != Stopped || v.Error != "" || !errors.As(err, &broke) || broke.Until.IsZero() || !strings.Contains(broke.Why, "$1.50 of your $1.00 cap") {
			t.Errorf("%v", err)
		}
		if list, err := Ledger(h.dir, 10); err != nil || len(list) != 0 || h.m.Place() != 0 {
			t.Errorf("it was begun: %+v, %v", list, err)
		}
	})
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
		h := newHarness(t, tells(agent.Result{SessionID: "s-1", Usage: used}))
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
