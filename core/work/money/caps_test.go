package money

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// plays runs the steps of a story on a purse and returns what is spent and set aside at its end. Runs are of task a, and
// numbered as they fall due.
func plays(t *testing.T, o Options, steps string) string {
	t.Helper()
	changes := 0
	o.Changed = func() { changes++ }
	p, now := made(o), noon
	task := Task{routines.KindRoutine, "a"}
	says := func() string {
		s := p.State(now)
		next, _ := p.Outlook(now).Of(task)
		return fmt.Sprintf("%.2f today, %.2f aside, %.2f for the next", s.Today.Spent.Dollars(), s.Reserved, next)
	}
	said := says()
	var runs []Ticket
	for step := range strings.SplitSeq(steps, ", ") {
		verb, arg, _ := strings.Cut(step, " ")
		var n int
		var dollars float64
		_, _ = fmt.Sscan(arg, &n, &dollars)
		var until, ends time.Time
		var wait bool
		var err error
		before := changes
		switch verb {
		case "talk": // costs so much
			_, _ = fmt.Sscan(arg, &dollars)
			spend(t, p, now, "", dollars)
		case "due", "critical", "held": // for the rest of the day, or the month
			var ticket Ticket
			ticket, until, err = p.Reserve(now, task, verb == "critical")
			if runs = append(runs, ticket); verb == "held" {
				ends = map[string]Span{"day": p.State(now).Today, "month": p.State(now).Month}[arg].Ends
			}
			if (ticket == "") != (verb == "held") {
				t.Errorf("%s: ticket %q", step, ticket)
			}
		case "start", "queue", "late": // its turn comes; another run may leave enough, or only tomorrow
			until, wait, err = p.Start(now, runs[n], "run"+string(runs[n]))
			if verb == "late" {
				ends = p.State(now).Today.Ends
			}
		case "costs":
			spend(t, p, now, runs[n], dollars)
		case "asks": // before another request
			if why := p.Stop(now, runs[n]); why != "" {
				t.Errorf("%s: %s", step, why)
			}
		case "stops": // for today, or this month
			_, span, _ := strings.Cut(arg, " ")
			if why := p.Stop(now, runs[n]); why != "$1.20 of your $1.00 cap for "+span+" is used" {
				t.Errorf("%s: %q", step, why)
			}
		case "ends":
			err = p.Settle(runs[n])
		case "lift":
			_, err = p.Lift(now, true)
		case "after":
			var d time.Duration
			d, err = time.ParseDuration(arg)
			now = now.Add(d)
		case "restart":
			p, said = made(o), ""
			continue // the next step reads the files
		default:
			t.Fatalf("no step %q", step)
		}
		if err != nil || !until.Equal(ends) || wait != (verb == "queue") {
			t.Errorf("%s: until %v, want %v, wait %v, %v", step, until, ends, wait, err)
		}
		was := said
		if said = says(); changes == before && was != "" && said != was && verb != "after" || changes != before && !until.IsZero() {
			t.Errorf("%s: %d changes, from %s to %s", step, changes-before, was, said)
		}
	}
	return says()
}

func TestACapHoldsWhatWouldExceedIt(t *testing.T) {
	day, both := Caps{Day: 1, Month: math.Inf(1)}, Caps{Day: 1, Month: 1}
	for _, c := range []struct {
		name  string
		caps  Caps
		steps string
		ends  string
	}{
		{"a run that no longer fits is held", day, "talk 0.8, held day", "0.80 today, 0.00 aside, 0.30 for the next"},
		{"until the next day", day, "talk 0.8, held day, after 12h, due, start 1", "0.00 today, 0.30 aside, 0.30 for the next"},
		{"or the next month", both, "talk 0.8, held month, after 12h, held month", "0.00 today, 0.00 aside, 0.30 for the next"},
		{"without a ticket nothing is set aside", day, "talk 0.8, held day, start 0", "0.80 today, 0.00 aside, 0.30 for the next"},
		{"nor with one that is not known", day, "due, ends 0, start 0", "0.00 today, 0.00 aside, 0.30 for the next"},
		{"a critical run is never held, and counts", Caps{}, "critical, start 0, asks 0", "0.00 today, 0.30 aside, 0.30 for the next"},
		{"a lifted cap holds nothing, also after a restart", both, "talk 5, lift, restart, due, start 0", "5.00 today, 0.30 aside, 0.30 for the next"},
		{"until midnight", both, "talk 5, lift, after 13h, held month", "0.00 today, 0.00 aside, 0.30 for the next"},
		{"what is set aside for others is awaited", day, "due, due, due, due, start 0, start 1, start 2, queue 3", "0.00 today, 0.90 aside, 0.30 for the next"},
		{"until one of them ends", day, "due, due, due, due, start 0, start 1, start 2, queue 3, ends 0, start 3", "0.00 today, 0.90 aside, 0.30 for the next"},
		// B2: the cap was asked once, when a run was due.
		{"it is asked again when the turn of a run comes", day, "due, due, start 0, costs 0 1.2, late 1", "1.20 today, 0.00 aside, 0.30 for the next"},
		{
			"and between its requests, also after a restart", day, "due, start 0, asks 0, costs 0 1.2, restart, stops 0 today, lift, asks 0",
			"1.20 today, 0.00 aside, 0.75 for the next",
		},
		{"which the cap of a month ends, too", both, "due, start 0, costs 0 1.2, stops 0 this month", "1.20 today, 0.00 aside, 0.30 for the next"},
		{"but not of a critical one", day, "due, critical, start 0, costs 0 1.2, start 1, asks 1", "1.20 today, 0.30 aside, 0.30 for the next"},
		{"what a run has cost is no longer set aside", day, "due, start 0, costs 0 0.1, asks 0", "0.10 today, 0.20 aside, 0.30 for the next"},
		{"when it has ended, the next is expected to cost the mean", day, "due, start 0, costs 0 0.5, costs 0 0.1, ends 0", "0.60 today, 0.00 aside, 0.45 for the next"},
		{"it ends once, also after a restart", day, "critical, start 0, costs 0 0.1, ends 0, ends 0, restart, ends 0", "0.10 today, 0.00 aside, 0.20 for the next"},
		{"its turn may come first thing after a restart", day, "due, restart, start 0", "0.00 today, 0.30 aside, 0.30 for the next"},
		{"a run may end first thing after a restart", day, "due, start 0, restart, ends 0, restart", "0.00 today, 0.00 aside, 0.30 for the next"},
	} {
		d, _ := open(t)
		if got := plays(t, capped(d, c.caps, costing("a", 0.3)), c.steps); got != c.ends {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.ends)
		}
	}
}

// Mean, guess and unknown: the best available estimate is reserved.
func TestWhatIsSetAsideIsWhatRunsHaveCost(t *testing.T) {
	d, _ := open(t)
	p := made(capped(d, Caps{Day: 0.6, Month: math.Inf(1)}, costing("a", 0.1), costing("a", 0.3), costing("b", 1)))
	for id, want := range map[string]float64{"a": 0.2, "b": 1, "never ran": 0.6} {
		if got, until := p.Outlook(noon).Of(Task{routines.KindRoutine, id}); !near(got, want) || until.Equal(noon.Add(12*time.Hour)) != (id == "b") {
			t.Errorf("%s: %v, want %v; until %v", id, got, want, until)
		}
	}
	for prices, want := range map[string]float64{"": 0.1, "default: 3 0 0 0\n": 0.06} {
		d, _ = open(t)
		testkit.Must(t, d.Write(PricesFile, []byte(prices)))
		first := made(capped(d, noCaps()))
		if got, _ := first.Outlook(noon).Of(Task{routines.KindRoutine, "a"}); got != 0 {
			t.Errorf("before the first run %v is expected", got)
		}
		ticket, _, err := first.Reserve(noon, Task{routines.KindRoutine, "a"}, false)
		testkit.Must(t, err)
		if start(t, first, noon, ticket); !near(first.State(noon).Reserved, want) {
			t.Errorf("%v are set aside for the first run, with the prices %q", first.State(noon).Reserved, prices)
		}
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

// A run may go past midnight, and rows may be out of order after the clock was set.
func TestTheRowsOfARunAreOneCostAndTheNewestRunsCount(t *testing.T) {
	d, p := open(t)
	run := func(at time.Time, id, run string, dollars float64) {
		t.Helper()
		a := Account{For: OfRun, Task: Task{routines.KindRoutine, id}, Run: run}
		if id == "" {
			a.Task = Task{}
		}
		testkit.Must(t, p.Book(at, a, agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: dollars}}))
	}
	run(noon.AddDate(0, 0, -40), "late", "newest", 0.2)
	run(noon, "late", "newest", 4)
	for i := range meanRuns {
		run(noon.AddDate(0, 0, -1-i), "late", fmt.Sprint("old", i), 0.2)
	}
	run(noon, "long", "1", 0.1)
	run(noon.Add(13*time.Hour), "long", "1", 0.3)
	run(noon, "", "nothing is known of it", 99)
	run(noon, "long", "", 99)
	for id, want := range map[string]float64{"late": 0.4, "long": 0.4, "never ran": 0.4} {
		if got, _ := made(Options{Dir: d}).Outlook(noon).Of(Task{routines.KindRoutine, id}); !near(got, want) {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}

func TestWhatCannotBeWrittenIsAnError(t *testing.T) {
	d, p := open(t)
	ticket, _, err := p.Reserve(noon, Task{routines.KindRoutine, "a"}, true)
	testkit.Must(t, err)
	start(t, p, noon, ticket)
	again := made(Options{Dir: d})
	again.State(noon)
	testkit.Must(t, os.RemoveAll(d.Path("state")))
	testkit.Must(t, os.WriteFile(d.Path("state"), nil, 0o600)) // no folder
	for name, do := range map[string]func() error{
		"recover": func() error { return again.Recover(noon) },
		"settle":  func() error { return p.Settle(ticket) },
		"book": func() error {
			return p.Book(noon, Account{For: Conversation}, agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: 1}})
		},
		"begin":   func() error { _, err := p.Begin(noon, Fork); return err },
		"reserve": func() error { _, _, err := p.Reserve(noon, Task{}, true); return err },
		"lift":    func() error { _, err := p.Lift(noon, true); return err },
		"answer":  func() error { return p.Answer(noon, GoOn) },
	} {
		if do() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTheRecordOfDaysEndsAfter400(t *testing.T) {
	d, _ := open(t)
	days := map[string]Day{}
	for i := range keptDays {
		days[noon.AddDate(0, 0, -1-i).Format(time.DateOnly)] = Day{Lifted: true}
	}
	testkit.Must(t, d.WriteJSON(fileName, days))
	_, err := made(Options{Dir: d}).Lift(noon, true)
	testkit.Must(t, err)
	again := made(Options{Dir: d})
	for back, want := range map[int]bool{0: true, keptDays - 1: true, keptDays: false} {
		if got := again.State(noon.AddDate(0, 0, -back)).Lifted; got != want {
			t.Errorf("%d days back: %v", back, got)
		}
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
		testkit.Must(t, p.Settle(ticket))
	}
	if s := p.State(noon); s.Reserved != 0 || s.Today.Spent.Dollars() != 0 {
		t.Errorf("runs that cost nothing: %+v", s)
	}
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
				func() { testkit.Must(t, p.Settle(ticket)) },
			}
			for _, step := range steps[:i] {
				step()
			}
			again := made(o)
			testkit.Must(t, again.Recover(noon))
			testkit.Must(t, again.Recover(noon))
			if _, err := os.Stat(d.Path(fileName)); (err == nil) != (i > 0) {
				t.Errorf("after step %d: %v of what is set aside", i, err)
			}
			s := again.State(noon)
			if !near(s.Today.Spent.Dollars(), want.dollars) || s.Today.Spent.Unknown() != want.unknown || s.Reserved != 0 {
				t.Errorf("after step %d: %+v, want %+v and nothing set aside", i, s, want)
			}
			for _, r := range rowsOf(again) {
				if r.For != OfRun || r.Task != task || r.At.Month() == noon.Month() && (r.Run != "run"+string(ticket) || r.Ticket != ticket || r.Requests != want.unknown+min(i, 3)/3) {
					t.Errorf("after step %d a row is %+v", i, r)
				}
			}
		})
	}
}

// B3: a kill within a turn of the conversation left no row.
func TestARequestOfAnEndedProgramIsUnknownAndInNoCap(t *testing.T) {
	for _, what := range []Purpose{Conversation, Fork, Screening, Transcribing} {
		d, p := open(t)
		over, err := p.Begin(noon, what)
		testkit.Must(t, err)
		testkit.Must(t, p.Book(noon, Account{For: what}, agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: 0.4}}))
		testkit.Must(t, p.Settle(over))
		_, err = p.Begin(noon, what)
		testkit.Must(t, err)
		testkit.Must(t, p.Book(noon, Account{For: what}, agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: 0.5}}))
		if s := p.State(noon); s.Reserved != 0 || s.Today.Spent.Unknown() != 0 {
			t.Errorf("%s, under way: %+v", what, s)
		}
		again := made(Options{Dir: d, Caps: func() Caps { return Caps{1, 1} }})
		testkit.Must(t, again.Recover(noon))
		testkit.Must(t, again.Recover(noon))
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

func TestACapIsWarnedOfOnceADayAndOnceAMonthOverRestarts(t *testing.T) {
	d, _ := open(t)
	var notices []string
	fresh := func() *Purse {
		o := capped(d, Caps{Day: 1, Month: 10})
		o.Notice = func(text string) { notices = append(notices, text) }
		return made(o)
	}
	for day := range 11 { // one dollar per day
		for range 10 {
			spend(t, fresh(), noon.AddDate(0, 0, -20+day), "", 0.1)
		}
	}
	const then = " is used; at the cap, background runs are held and the conversation asks you"
	want := slices.Repeat([]string{"$0.80 of your $1.00 cap for today" + then}, 11)
	want = slices.Insert(want, 8, "$8.00 of your $10.00 cap for this month"+then) // after that day's
	if diff := cmp.Diff(want, notices); diff != "" {
		t.Errorf("warned in 11 days (-want +got)\n%s", diff)
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
		testkit.Must(t, err)
		now, err := time.Parse(time.RFC3339, tt.now)
		testkit.Must(t, err)
		d, _ := open(t)
		p := made(Options{Dir: d, Zone: zone})
		book(t, p, now, "", agent.Usage{InputTokens: 1})
		s := p.State(now)
		if last, next := p.Today(s.Today.Ends.Add(-time.Second)), p.Today(s.Today.Ends); last.Requests() != 1 || next.Requests() != 0 {
			t.Errorf("%s %s: at the end of the day %d requests, on the next %d", tt.zone, tt.now, last.Requests(), next.Requests())
		}
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
		testkit.Must(t, d.Prepare())
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
						testkit.Must(t, p.Settle(ticket))
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
					testkit.Must(t, p.Settle(open[0]))
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
				testkit.Must(t, p.Recover(now))
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
	testkit.Must(t, made(o).Answer(noon, GoOn))
	if text := storetest.Text(t, d, fileName); text != `{"2026-11-21":{"talk":"yes"}}`+"\n" {
		t.Errorf("the file has %s", text)
	}
	p := made(o)
	if got := p.State(noon).Talk; got != GoOn {
		t.Errorf("after a restart the answer is %q", got)
	}
	if got := p.State(noon.Add(24 * time.Hour)).Talk; got != "" {
		t.Errorf("the next day it is still %q", got)
	}
}
