package money

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

// costing returns a run of a task with a cost.
func costing(id string, dollars float64) Run {
	return Run{Task{routines.KindRoutine, id}, dollars}
}

// capped returns options with a ledger that has these runs, of an earlier month.
func capped(d *store.Dir, caps Caps, past ...Run) Options {
	for i, r := range past {
		p := made(Options{Dir: d})
		a := Account{For: OfRun, Task: r.Task, Run: fmt.Sprintf("%08x", i)}
		if err := p.Book(noon.AddDate(0, -2, 0), a, agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: r.Dollars}}); err != nil {
			panic(err)
		}
	}
	return Options{Dir: d, Caps: func() Caps { return caps }}
}

func spend(t testing.TB, p *Purse, now time.Time, ticket Ticket, dollars float64) {
	t.Helper()
	book(t, p, now, ticket, agent.Usage{InputTokens: 1, CostUSD: dollars, Free: dollars == 0})
}

// start takes a ticket to the head of the queue, where it must start.
func start(t testing.TB, p *Purse, now time.Time, ticket Ticket) {
	t.Helper()
	if until, wait, err := p.Start(now, ticket, "run"+string(ticket)); !until.IsZero() || wait || err != nil {
		t.Fatalf("it does not start: until %v, wait %v, %v", until, wait, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func TestAtTheCapARunIsHeldUntilTheNextDay(t *testing.T) {
	d, _ := open(t)
	p := made(capped(d, Caps{Day: 1, Month: math.Inf(1)}, costing("a", 0.3)))
	spend(t, p, noon, "", 0.8)
	ticket, until, err := p.Reserve(noon, Task{routines.KindRoutine, "a"}, false)
	if want := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC); err != nil || ticket != "" || !until.Equal(want) {
		t.Errorf("got %q until %v, %v; want it held until %v", ticket, until, err, want)
	}
	if ticket, until, _ := p.Reserve(noon.Add(12*time.Hour), Task{routines.KindRoutine, "a"}, false); ticket == "" || !until.IsZero() {
		t.Errorf("the next day it is still held until %v", until)
	}
}

func TestACriticalRunIsNeverHeldAndCounts(t *testing.T) {
	d, _ := open(t)
	p := made(capped(d, Caps{Day: 0, Month: 0}, costing("a", 0.3)))
	ticket, until, err := p.Reserve(noon, Task{routines.KindRoutine, "a"}, true)
	if err != nil || ticket == "" || !until.IsZero() {
		t.Fatalf("held until %v, %v", until, err)
	}
	start(t, p, noon, ticket)
	if s := p.State(noon); !near(s.Reserved, 0.3) {
		t.Errorf("set aside is %v", s.Reserved)
	}
}

func TestALiftedCapHoldsNothingUntilMidnightAlsoAfterARestart(t *testing.T) {
	d, _ := open(t)
	o := capped(d, Caps{Day: 1, Month: 1}, costing("a", 0.3))
	p := made(o)
	spend(t, p, noon, "", 5)
	if before, err := p.Lift(noon, true); before || err != nil {
		t.Fatal(before, err)
	}
	p = made(o)
	if ticket, _, _ := p.Reserve(noon, Task{routines.KindRoutine, "a"}, false); ticket == "" {
		t.Error("a lifted cap holds")
	}
	if s := p.State(noon.Add(13 * time.Hour)); s.Until(0).IsZero() || !s.Until(0).Equal(s.Month.Ends) {
		t.Errorf("the month's cap does not hold the day after: %+v", s)
	}
}

// Mean, guess and unknown: the best available estimate is reserved.
func TestWhatIsSetAsideIsWhatRunsHaveCost(t *testing.T) {
	d, _ := open(t)
	p := made(capped(d, noCaps(), costing("a", 0.1), costing("a", 0.3), costing("b", 1)))
	for id, want := range map[string]float64{"a": 0.2, "b": 1, "never ran": 0.6} {
		if got, _ := p.Outlook(noon).Of(Task{routines.KindRoutine, id}); !near(got, want) {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
	d, _ = open(t)
	first := made(capped(d, noCaps()))
	if got, _ := first.Outlook(noon).Of(Task{routines.KindRoutine, "a"}); got != 0 {
		t.Errorf("before the first run %v is expected", got)
	}
	ticket, _, err := first.Reserve(noon, Task{routines.KindRoutine, "a"}, false)
	must(t, err)
	if start(t, first, noon, ticket); !near(first.State(noon).Reserved, 0.1) {
		t.Errorf("%v are set aside for the first run", first.State(noon).Reserved)
	}
	past := []Run{costing("a", 100)}
	for range 20 {
		past = append(past, costing("a", 0.2))
	}
	d, _ = open(t)
	if got, _ := made(capped(d, noCaps(), past...)).Outlook(noon).Of(Task{routines.KindRoutine, "a"}); !near(got, 0.2) {
		t.Errorf("after 21 runs: %v, want the mean of the last 20", got)
	}
}

func TestARunThatEndedTeachesWhatTheNextOneCosts(t *testing.T) {
	d, _ := open(t)
	p := made(capped(d, noCaps(), costing("a", 0.2)))
	task := Task{routines.KindRoutine, "a"}
	ticket, _, _ := p.Reserve(noon, task, false)
	start(t, p, noon, ticket)
	spend(t, p, noon, ticket, 0.5)
	spend(t, p, noon, ticket, 0.1)
	must(t, p.Settle(ticket))
	if got, _ := p.Outlook(noon).Of(task); !near(got, 0.4) {
		t.Errorf("%v", got)
	}
	if s := p.State(noon); s.Reserved != 0 || !near(s.Today.Spent.Dollars(), 0.6) {
		t.Errorf("%+v", s)
	}
}

// Ten simultaneous fires cannot all take the last of the money: three start, and the others wait,
// not until tomorrow, but for what is set aside.
func TestTenRunsAtOnceStayWithinTheCap(t *testing.T) {
	d, _ := open(t)
	p := made(capped(d, Caps{Day: 1, Month: math.Inf(1)}, costing("a", 0.3)))
	var group sync.WaitGroup
	var mu sync.Mutex
	var started []Ticket
	waiting := 0
	for range 10 {
		group.Go(func() {
			ticket, _, _ := p.Reserve(noon, Task{routines.KindRoutine, "a"}, false)
			until, wait, err := p.Start(noon, ticket, "")
			mu.Lock()
			defer mu.Unlock()
			switch {
			case ticket == "" || err != nil || !until.IsZero():
				t.Errorf("%q until %v, %v", ticket, until, err)
			case wait:
				waiting++
			default:
				started = append(started, ticket)
			}
		})
	}
	group.Wait()
	if len(started) != 3 || waiting != 7 {
		t.Errorf("%d of 10 runs of $0.30 start within $1, %d wait", len(started), waiting)
	}
	for _, ticket := range started {
		must(t, p.Settle(ticket))
	}
	if s := p.State(noon); s.Reserved != 0 || s.Today.Spent.Dollars() != 0 {
		t.Errorf("runs that cost nothing: %+v", s)
	}
}

// B2: the cap was asked once, when a run was due.
func TestACapIsAskedAgainWhenTheTurnOfARunComesAndBetweenItsRequests(t *testing.T) {
	d, _ := open(t)
	p := made(capped(d, Caps{Day: 1, Month: math.Inf(1)}, costing("a", 0.1)))
	task := Task{routines.KindRoutine, "a"}
	first, _, _ := p.Reserve(noon, task, false)
	second, _, _ := p.Reserve(noon, task, false)
	firm, _, _ := p.Reserve(noon, task, true)
	start(t, p, noon, first)
	if why := p.Stop(noon, first); why != "" {
		t.Errorf("within the cap it ends: %s", why)
	}
	spend(t, p, noon, first, 1.2)
	if why := p.Stop(noon, first); !strings.Contains(why, "$1.20 of your $1.00 cap for today") {
		t.Errorf("past the cap: %q", why)
	}
	if until, wait, err := p.Start(noon, second, ""); until.IsZero() || wait || err != nil {
		t.Errorf("a run starts past the cap: %v, %v", wait, err)
	}
	start(t, p, noon, firm)
	if why := p.Stop(noon, firm); why != "" {
		t.Errorf("a critical run ends: %s", why)
	}
	if _, err := p.Lift(noon, true); err != nil || p.Stop(noon, first) != "" {
		t.Error("a lifted cap ends a run", err)
	}
	start(t, p, noon, second)
}

// The program may be killed after each step of a run. What was spent counts, what was only set
// aside does not, and that more may have been spent is known.
func TestARestartAtEachStepLosesNoMoney(t *testing.T) {
	task := Task{routines.KindRoutine, "a"}
	for i, want := range []struct {
		dollars float64
		unknown int
	}{{0, 0}, {0, 0}, {0, 1}, {0.2, 1}, {0.2, 0}} { // before, reserved, begun, reported, settled
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			d, _ := open(t)
			o := capped(d, Caps{Day: 1, Month: 1}, costing("a", 0.3))
			p := made(o)
			var ticket Ticket
			steps := []func(){
				func() { ticket, _, _ = p.Reserve(noon, task, false) },
				func() { start(t, p, noon, ticket) },
				func() { spend(t, p, noon, ticket, 0.2) },
				func() { must(t, p.Settle(ticket)) },
			}
			for _, step := range steps[:i] {
				step()
			}
			again := made(o)
			must(t, again.Recover(noon))
			must(t, again.Recover(noon))
			s := again.State(noon)
			if !near(s.Today.Spent.Dollars(), want.dollars) || s.Today.Spent.Unknown() != want.unknown || s.Reserved != 0 {
				t.Errorf("after step %d: %+v, want %+v and nothing set aside", i, s, want)
			}
		})
	}
}

// B3: a kill within a turn of the conversation left no row.
func TestARequestOfAnEndedProgramIsUnknownAndInNoCap(t *testing.T) {
	for _, what := range []Purpose{Conversation, Fork, Screening, Transcribing} {
		d, p := open(t)
		over, err := p.Begin(noon, what)
		must(t, err)
		must(t, p.Book(noon, Account{For: what}, agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: 0.4}}))
		must(t, p.Settle(over))
		_, err = p.Begin(noon, what)
		must(t, err)
		must(t, p.Book(noon, Account{For: what}, agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: 0.5}}))
		if s := p.State(noon); s.Reserved != 0 || s.Today.Spent.Unknown() != 0 {
			t.Errorf("%s, under way: %+v", what, s)
		}
		again := made(Options{Dir: d, Caps: func() Caps { return Caps{1, 1} }})
		must(t, again.Recover(noon))
		must(t, again.Recover(noon))
		s := again.State(noon)
		if got := s.Today.Spent; !near(got.Dollars(), 0.9) || got.Unknown() != 1 || got.Text() != "$0.90 and 1 request of unknown cost" || !s.Until(0.1).IsZero() {
			t.Errorf("%s, killed: %s, %+v", what, got.Text(), s)
		}
		_, rows := again.Books(noon)
		for _, r := range rows {
			if r.For != what || r.Run != "" || r.Task != (Task{}) {
				t.Errorf("%s is booked as %+v", what, r)
			}
		}
	}
}

func TestTheUserIsToldOnceADayAndOnceAMonthOverRestarts(t *testing.T) {
	d, _ := open(t)
	var told []string
	fresh := func() *Purse {
		o := capped(d, Caps{Day: 1, Month: 10})
		o.Notice = func(text string) { told = append(told, text) }
		return made(o)
	}
	for day := range 11 { // one dollar per day
		for range 10 {
			spend(t, fresh(), noon.AddDate(0, 0, -20+day), "", 0.1)
		}
	}
	var days, months int
	for _, text := range told {
		if strings.Contains(text, "this month") {
			months++
		} else {
			days++
		}
	}
	if days != 11 || months != 1 {
		t.Errorf("told %d times of a day in 11 days, %d of the month:\n%s", days, months, strings.Join(told, "\n"))
	}
}

func TestDaysAndMonthsEndByTheUsersClock(t *testing.T) {
	for _, tt := range []struct{ zone, now, day, month string }{
		{"Europe/Berlin", "2026-10-25T01:30:00+02:00", "2026-10-26T00:00:00+01:00", "2026-11-01T00:00:00+01:00"},
		{"America/Los_Angeles", "2026-03-31T23:59:00-07:00", "2026-04-01T00:00:00-07:00", "2026-04-01T00:00:00-07:00"},
		{"Africa/Cairo", "2026-04-23T12:00:00+02:00", "2026-04-24T01:00:00+03:00", "2026-05-01T00:00:00+03:00"}, // no midnight on the 24th
		{"Asia/Tokyo", "2026-12-31T15:30:00+00:00", "2027-01-02T00:00:00+09:00", "2027-02-01T00:00:00+09:00"},
	} {
		zone, err := time.LoadLocation(tt.zone)
		must(t, err)
		now, err := time.Parse(time.RFC3339, tt.now)
		must(t, err)
		d, _ := open(t)
		s := made(Options{Dir: d, Zone: zone}).State(now)
		if got := s.Today.Ends.Format(time.RFC3339); got != tt.day {
			t.Errorf("%s %s: the day ends %s, want %s", tt.zone, tt.now, got, tt.day)
		}
		if got := s.Month.Ends.Format(time.RFC3339); got != tt.month {
			t.Errorf("%s %s: the month ends %s, want %s", tt.zone, tt.now, got, tt.month)
		}
	}
}

// Whatever happens, including restarts, spending exceeds a cap by no more than the cost
// of current runs beyond their reservations plus spending outside of runs.
func TestACapIsExceededByNoMoreThanRunsCostBeyondTheirShare(t *testing.T) {
	root := t.TempDir()
	n := 0
	testkit.Check(t, func(rt *rapid.T) {
		n++
		d := storetest.At(t, filepath.Join(root, fmt.Sprint(n)))
		must(t, d.Prepare())
		caps := Caps{Day: rapid.Float64Range(0, 2).Draw(rt, "day"), Month: rapid.Float64Range(0, 6).Draw(rt, "month")}
		o := capped(d, caps, costing("a", rapid.Float64Range(0, 0.5).Draw(rt, "mean a")), costing("b", 0.05))
		p, now := made(o), noon
		var open []Ticket
		share := map[Ticket]float64{}
		cost := map[Ticket]float64{}
		var over float64 // the cost of runs beyond their reservations, and of the conversation
		step := func() {
			switch rapid.SampledFrom([]string{"reserve", "reserve", "spend", "settle", "talk", "wait", "kill"}).Draw(rt, "step") {
			case "reserve":
				before := p.State(now).Reserved
				task := Task{routines.KindRoutine, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "task")}
				if ticket, _, err := p.Reserve(now, task, false); err != nil {
					rt.Fatal(err)
				} else if ticket != "" {
					if until, wait, err := p.Start(now, ticket, string(ticket)); err != nil {
						rt.Fatal(err)
					} else if wait || !until.IsZero() {
						must(t, p.Settle(ticket))
						return
					}
					open = append(open, ticket)
					share[ticket] = p.State(now).Reserved - before
				}
			case "spend":
				if len(open) > 0 {
					ticket, dollars := rapid.SampledFrom(open).Draw(rt, "run"), rapid.Float64Range(0, 0.6).Draw(rt, "cost")
					over -= max(0, cost[ticket]-share[ticket])
					cost[ticket] += dollars
					over += max(0, cost[ticket]-share[ticket])
					spend(t, p, now, ticket, dollars)
				}
			case "settle":
				if len(open) > 0 {
					must(t, p.Settle(open[0]))
					open = open[1:]
				}
			case "talk":
				dollars := rapid.Float64Range(0, 0.2).Draw(rt, "talk")
				over += dollars
				spend(t, p, now, "", dollars)
			case "wait":
				now = now.Add(time.Duration(rapid.IntRange(1, 30).Draw(rt, "hours")) * time.Hour)
			case "kill":
				p = made(o)
				must(t, p.Recover(now))
				open = nil
			}
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			step()
			s := p.State(now)
			for name, span := range map[string]Span{"day": s.Today, "month": s.Month} {
				if span.Spent.Dollars()+s.Reserved > span.Cap+over+1e-6 {
					rt.Fatalf("the %s has cost %v and %v are set aside, of %v with %v beyond", name, span.Spent.Dollars(), s.Reserved, span.Cap, over)
				}
			}
		}
	})
}

func TestASettledRunHasNothingSetAsideAndSettlesOnce(t *testing.T) {
	d, _ := open(t)
	p := made(Options{Dir: d})
	ticket, _, err := p.Reserve(noon, Task{routines.KindRoutine, "a"}, true)
	must(t, err)
	if start(t, p, noon, ticket); p.State(noon).Reserved <= 0 {
		t.Fatalf("%+v, %v", p.State(noon), err)
	}
	spend(t, p, noon, ticket, 0.1)
	must(t, p.Settle(ticket))
	must(t, p.Settle(ticket))
	must(t, made(Options{Dir: d}).Recover(noon))
	for _, p := range []*Purse{p, made(Options{Dir: d})} {
		if s := p.State(noon); s.Today.Spent.Dollars() != 0.1 || s.Reserved != 0 || p.Run("run"+string(ticket)).Dollars() != 0.1 {
			t.Errorf("settled: %+v", s)
		}
	}
}

func TestWithoutRunsToRecoverNothingIsWritten(t *testing.T) {
	d, p := open(t)
	must(t, p.Recover(noon))
	if _, err := d.Read(fileName); err == nil {
		t.Error("a file was written")
	}
}

func TestACapIsReachedExactlyAndNotByARoundingError(t *testing.T) {
	for _, c := range []struct {
		spent, bound, reserved, dollars float64
		want                            bool
	}{
		{0.5, 1, 0, 0.5, false},
		{0.5, 1, 0, 0.5 + 1e-12, false},
		{0.5, 1, 0, 0.51, true},
		{0.5, 1, 0.4, 0.2, true},
		{1, 1, 0, 0, true},
		{1 - 1e-12, 1, 0, 0, true},
		{0.9, 1, 0, 0, false},
		{1e9, math.Inf(1), 1e9, 1e9, false},
	} {
		if got := (Span{Spent: Total(Row{Used: agent.Usage{CostUSD: c.spent}}), Cap: c.bound}).over(c.reserved, c.dollars); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

func TestAnAnswerCountsForItsDayAlsoAfterARestart(t *testing.T) {
	d, _ := open(t)
	o := capped(d, Caps{Day: 1, Month: math.Inf(1)})
	must(t, made(o).Answer(noon, GoOn))
	p := made(o)
	if got := p.State(noon).Talk; got != GoOn {
		t.Errorf("after a restart the answer is %q", got)
	}
	if got := p.State(noon.Add(24 * time.Hour)).Talk; got != "" {
		t.Errorf("the next day it is still %q", got)
	}
}

func TestATicketThatIsNotKnownSetsNothingAside(t *testing.T) {
	d, _ := open(t)
	p := made(capped(d, Caps{Day: 1, Month: math.Inf(1)}))
	start(t, p, noon, "gone")
	if s := p.State(noon); s.Reserved != 0 {
		t.Errorf("%+v", s)
	}
}
