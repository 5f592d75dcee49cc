package spending

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/work/money"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// shop is a Desk with its own purse. Its zone is two hours ahead of UTC. In a bubble it
// is two in the morning of 1 January 2000.
type shop struct {
	*Desk
	dir    *store.Dir
	purse  *money.Purse
	audit  *audit.Log
	config config.Runtime
	day    []schedule.Entry
	logged bytes.Buffer

	asked   []policy.Request
	verdict policy.Verdict
	failure error // the error of Ask
}

func open(t *testing.T, day, month float64) *shop {
	s := &shop{dir: storetest.Prepared(t), config: config.Runtime{DailyCap: day, MonthlyCap: month}}
	zone := time.FixedZone("here", 2*60*60)
	log := slog.New(slog.NewTextHandler(&s.logged, nil))
	s.audit = audit.New(audit.Options{Dir: s.dir})
	s.purse = money.New(money.Options{
		Dir: s.dir, Zone: zone, Log: log, Notice: func(string) {}, Changed: func() {},
		Caps: func() money.Caps { return money.Caps{Day: s.config.DailyCap, Month: s.config.MonthlyCap} },
	})
	s.Desk = New(Options{
		Dir: s.dir, Zone: zone, Log: log, Purse: s.purse, Audit: s.audit,
		Config: func() *config.Runtime { return &s.config },
		Ask: func(_ context.Context, r policy.Request) (policy.Verdict, error) {
			s.asked = append(s.asked, r)
			return s.verdict, s.failure
		},
		Day:      func(time.Time) []schedule.Entry { return s.day },
		Routines: func() []*routines.Routine { return nil },
	})
	return s
}

// spend spends dollars in the conversation.
func (s *shop) spend(t *testing.T, dollars float64) {
	t.Helper()
	testkit.Must(t, s.purse.Book(s.now(), money.Account{For: money.Conversation}, agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: dollars}}))
}

// had puts runs of an earlier month into the ledger.
func (s *shop) had(t *testing.T, runs ...money.Run) {
	t.Helper()
	for _, r := range runs {
		a := money.Account{For: money.OfRun, Task: r.Task, Run: store.NewID()}
		testkit.Must(t, s.purse.Book(s.now().AddDate(0, -2, 0), a, agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: r.Dollars}}))
	}
}

// begin takes a reserved run to the head of the queue.
func (s *shop) begin(t *testing.T, ticket string) (until time.Time, wait bool) {
	t.Helper()
	until, wait, err := s.purse.Start(s.now(), money.Ticket(ticket), "0000000a")
	testkit.Must(t, err)
	return until, wait
}

// breakFile makes the spending record unwritable, also for root.
func (s *shop) breakFile(t *testing.T) {
	t.Helper()
	s.purse.Books(time.Now()) // now, because an unreadable file would be moved aside
	for _, name := range []string{"state/usage.json", money.Ledger} {
		path := s.dir.Path(name)
		testkit.Must(t, os.RemoveAll(path))
		testkit.Must(t, os.MkdirAll(path+"/in the way", 0o700))
	}
}

func (s *shop) entries(t *testing.T) []audit.Entry {
	t.Helper()
	list, _, err := s.audit.Read(100)
	testkit.Must(t, err)
	return list
}

func (s *shop) do(t *testing.T, c command.Value) (command.Outcome, error) {
	t.Helper()
	all := command.Handlers{}
	all.Add(s.Handlers()...)
	h, ok := all.Of(c)
	if !ok {
		t.Fatalf("no handler for %T", c)
	}
	return h.Do(t.Context(), c)
}

func routine(id string) routines.Task { return routines.Task{Kind: routines.KindRoutine, ID: id} }

func run(id string, dollars float64) money.Run {
	return money.Run{Task: money.Task{Kind: routines.KindRoutine, ID: id}, Dollars: dollars}
}

var none = math.Inf(1)

func TestAPriceIsThatOfTheTaskAndHeldWhereTheCapWouldBeExceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1, none)
		s.had(t, run("cheap", 0.25), run("dear", 3), money.Run{Task: money.Task{Kind: routines.KindReminder, ID: "dear"}, Dollars: 0.5})
		price := s.At(s.now())
		dear, cheap, reminder := routine("dear"), routine("cheap"), routines.Task{Kind: routines.KindReminder, ID: "dear"}
		says := dear
		says.Says = true // it asks no model
		for what, c := range map[string]struct {
			task    *routines.Task
			dollars float64
			held    bool
		}{
			"the dear routine": {&dear, 3, true}, "the cheap routine": {&cheap, 0.25, false}, "a check's words": {&says, 0, false},
			"the reminder with the id of the dear routine": {&reminder, 0.5, false},
		} {
			if p := price(c.task); p.Dollars != c.dollars || p.Until.Equal(time.Date(2000, 1, 1, 22, 0, 0, 0, time.UTC)) != c.held || p.Until.IsZero() == c.held {
				t.Errorf("%s: %+v", what, p)
			}
		}
		if ticket, until := s.Reserve(says, s.now(), false); ticket != "" || !until.IsZero() {
			t.Errorf("a check's words are reserved: %q until %v", ticket, until)
		}
	})
}

func TestAHeldRunIsRecordedAndOneThatStartsIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1, none)
		s.had(t, run("a", 0.75))
		a := routines.Task{Kind: routines.KindRoutine, ID: "a", Description: "Water the plants"}
		first, until := s.Reserve(a, s.now(), false)
		if first == "" || !until.IsZero() || len(s.entries(t)) != 0 {
			t.Fatalf("a run within the cap: %q until %v, recorded %v", first, until, s.entries(t))
		}
		if until, wait := s.begin(t, first); wait || !until.IsZero() {
			t.Fatal("it does not begin", until)
		}
		second, until := s.Reserve(a, s.now(), false)
		if _, wait := s.begin(t, second); second == "" || !until.IsZero() || !wait {
			t.Errorf("a run for which the first has set aside the money: %q until %v, waits %v", second, until, wait)
		}
		s.spend(t, 0.5)
		ticket, until := s.Reserve(a, s.now(), false)
		if midnight := time.Date(2000, 1, 1, 22, 0, 0, 0, time.UTC); ticket != "" || !until.Equal(midnight) {
			t.Fatalf("a second run: %q until %v, want it held until %v", ticket, until, midnight)
		}
		want := audit.Entry{
			At: s.now(), Actor: audit.Bot, Action: audit.RunHeld, Subject: "a", Detail: fmt.Sprintf(textRunHeld, a.Title(), "Sun 2 Jan 00:00"),
		}
		if diff := cmp.Diff([]audit.Entry{want}, s.entries(t)); diff != "" {
			t.Errorf("recorded (-want +got)\n%s", diff)
		}
		firm, until := s.Reserve(a, s.now(), true)
		if held, wait := s.begin(t, firm); firm == "" || !until.IsZero() || !held.IsZero() || wait || len(s.entries(t)) != 1 {
			t.Errorf("a firm run is held until %v", until)
		}
		s.Settle(first)
		if left := s.purse.State(s.now()).Reserved; left != 0.75 {
			t.Errorf("after one of two was settled, %v is reserved", left)
		}
	})
}

func TestAReservationThatCannotBeSavedCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1, none)
		s.had(t, run("a", 0.75))
		s.breakFile(t)
		ticket, until := s.Reserve(routine("a"), s.now(), false)
		if _, _, err := s.purse.Start(s.now(), money.Ticket(ticket), "0000000a"); err == nil || ticket == "" || !until.IsZero() || s.purse.State(s.now()).Reserved != 0.75 {
			t.Errorf("%q until %v, reserved %v", ticket, until, s.purse.State(s.now()).Reserved)
		}
		s.Settle(ticket)
		s.Book(money.Screening, agent.Charge{Model: "haiku", Used: agent.Usage{InputTokens: 1_000_000}})
		if got := strings.Count(s.logged.String(), "level=ERROR"); got != 3 {
			t.Errorf("%d errors logged, want one each for the reservation, the settlement and the usage:\n%s", got, &s.logged)
		}
	})
}

func TestADeliveryWaitsForMoneyUntilTheCapsAreLifted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1, none)
		s.spend(t, 2)
		begun := time.Now()
		go func() {
			time.Sleep(7 * time.Minute)
			_, err := s.purse.Lift(s.now(), true)
			testkit.Must(t, err)
		}()
		ticket, ok := s.Afford(t.Context(), routine("a"))
		if waited := time.Since(begun); !ok || ticket == "" || waited < 7*time.Minute || waited > 7*time.Minute+affordEvery {
			t.Errorf("%q %v after %v", ticket, ok, waited)
		}
		if len(s.entries(t)) != 0 {
			t.Errorf("each check is recorded: %v", s.entries(t))
		}
	})
}

func TestADeliveryStartsAtMidnightSharp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1, none)
		time.Sleep(22*time.Hour - affordEvery/3)
		s.spend(t, 2)
		begun := time.Now()
		if _, ok := s.Afford(t.Context(), routine("a")); !ok || time.Since(begun) != affordEvery/3 {
			t.Errorf("%v after %v", ok, time.Since(begun))
		}
	})
}

func TestACriticalDeliveryDoesNotWaitAndACancelledOneGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1, none)
		s.spend(t, 2)
		begun := time.Now()
		critical := routine("a")
		critical.Critical = true
		if ticket, ok := s.Afford(t.Context(), critical); !ok || ticket == "" || time.Since(begun) != 0 {
			t.Errorf("critical: %q %v after %v", ticket, ok, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if ticket, ok := s.Afford(ctx, routine("a")); ok || ticket != "" || time.Since(begun) != time.Hour {
			t.Errorf("cancelled: %q %v after %v", ticket, ok, time.Since(begun))
		}
	})
}

func TestTheConversationAsksOnceADayAboveACap(t *testing.T) {
	for _, c := range []struct {
		verdict policy.Verdict
		want    string // the error for the spent amount
		again   bool   // the next turn asks again
	}{
		{policy.Allow, "", false},
		{policy.Deny, textCapNo, false},
		{policy.Expired, textCapUnanswered, true},
		{policy.Cancelled, textCapUnanswered, true},
	} {
		t.Run(string(c.verdict), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, 1, none)
				s.verdict = c.verdict
				testkit.Must(t, s.MayTalk(t.Context()))
				s.spend(t, 1)
				spent := "$1.00 of your $1.00 cap for today is used"
				for range 2 {
					err := s.MayTalk(t.Context())
					if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != fmt.Sprintf(c.want, spent)) {
						t.Errorf("answered with %q: %v", c.verdict, err)
					}
				}
				asked := policy.Request{Question: textCapAsk, Text: fmt.Sprintf(textCapAskMore, spent), Session: "conversation"}
				if diff := cmp.Diff(slices.Repeat([]policy.Request{asked}, map[bool]int{true: 2, false: 1}[c.again]), s.asked); diff != "" {
					t.Errorf("asked within a day (-want +got)\n%s", diff)
				}
				s.asked = nil
				time.Sleep(24 * time.Hour)
				s.spend(t, 1)
				_ = s.MayTalk(t.Context())
				if len(s.asked) != 1 {
					t.Errorf("asked %d times on the next day", len(s.asked))
				}
			})
		})
	}
}

func TestTheCapThatIsReachedIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1, 2)
		s.had(t, run("a", 0.5))
		s.verdict = policy.Deny
		s.spend(t, 1.5)
		refused := func(when, spent string) {
			t.Helper()
			if err := s.MayTalk(t.Context()); err == nil || err.Error() != fmt.Sprintf(textCapNo, spent) {
				t.Errorf("%s: %v", when, err)
			}
		}
		refused("above the cap of the day", "$1.50 of your $1.00 cap for today is used")
		ticket, _ := s.Reserve(routine("a"), s.now(), true)
		s.begin(t, ticket) // what is set aside is not spent
		refused("with money set aside", "$1.50 of your $1.00 cap for today is used")
		s.spend(t, 0.5)
		refused("above the cap of the month", "$2.00 of your $2.00 cap for this month is used")
	})
}

func TestAConversationAboveTheCapTalksAfterALiftButNotIfAskingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1, none)
		s.spend(t, 1)
		s.failure = errors.New("no one to ask")
		s.verdict = policy.Allow
		if err := s.MayTalk(t.Context()); !errors.Is(err, s.failure) {
			t.Errorf("the failed question: %v", err)
		}
		_, err := s.Lift(t.Context(), command.LiftCaps{})
		testkit.Must(t, err)
		if err := s.MayTalk(t.Context()); err != nil || len(s.asked) != 1 {
			t.Errorf("with lifted caps: %v, asked %d times", err, len(s.asked))
		}
	})
}

func TestAnAnswerThatCannotBeSavedIsLoggedAndCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1, none)
		s.spend(t, 1)
		s.breakFile(t)
		s.verdict = policy.Always
		if err := s.MayTalk(t.Context()); err != nil || !strings.Contains(s.logged.String(), "level=ERROR") {
			t.Errorf("%v; logged %s", err, &s.logged)
		}
	})
}

func TestLiftingTheCapsIsUndoneAndRecordedOnlyIfItChangesSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, none, none)
		if out, err := s.do(t, command.LiftCaps{}); err != nil || out.Message != textNoCaps || out.Undo != nil {
			t.Errorf("without caps: %+v, %v", out, err)
		}
		s.config.MonthlyCap = 1
		for _, step := range []struct {
			undo    bool
			message string
			changed bool
		}{{true, textCapsBack, false}, {false, textLifted, true}, {false, textLifted, false}, {true, textCapsBack, true}} {
			out, err := s.do(t, command.LiftCaps{Undo: step.undo})
			if err != nil || out.Message != step.message || (out.Undo != nil) != step.changed || (out.Decision.Action == audit.CapsChanged) != step.changed {
				t.Errorf("%+v: %+v, %v", step, out, err)
			}
			if step.changed && out.Undo != (command.LiftCaps{Undo: !step.undo}) {
				t.Errorf("%+v is undone by %+v", step, out.Undo)
			}
			if lifted := s.purse.State(s.now()).Lifted; lifted == step.undo {
				t.Errorf("%+v: lifted is %v", step, lifted)
			}
		}
		s.config.DailyCap, s.config.MonthlyCap = 1, none
		s.breakFile(t)
		if out, err := s.do(t, command.LiftCaps{}); err == nil || out.Message != "" {
			t.Errorf("a lift that cannot be saved: %+v, %v", out, err)
		}
	})
}

func TestASettingWarnsOfACapBelowWhatIsSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 5, 5)
		s.spend(t, 2)
		today := fmt.Sprintf(textCapBelow, textToday, "$2.00", "$2.00", "Sun 2 Jan 00:00")
		month := fmt.Sprintf(textCapBelow, textThisMonth, "$2.00", "$2.00", "1 February")
		for _, c := range []struct{ key, value, want string }{
			{"daily_cap", "2", today},
			{"daily_cap", "2.01", ""},
			{"daily_cap", "off", ""},
			{"monthly_cap", "2", month},
			{"monthly_cap", "2.01", ""},
			{"daily_cap", "nonsense", ""},
			{"auto_update_hour", "7", ""},
		} {
			if got := s.Follows(c.key, c.value); got != c.want {
				t.Errorf("%s %s: %q, want %q", c.key, c.value, got, c.want)
			}
		}
		s.config.DailyCap, s.config.MonthlyCap = 1, 1 // already exceeded, and unchanged
		for _, c := range [][2]string{{"daily_cap", "1"}, {"monthly_cap", "1"}, {"auto_update_hour", "7"}} {
			if got := s.Follows(c[0], c[1]); got != "" {
				t.Errorf("%s, unchanged: %q", c, got)
			}
		}
		if s.config.DailyCap != 1 {
			t.Error("trying a value changed the settings")
		}
	})
}

const ledger = "state/fork_runs.jsonl"

func line(id, task, state string, tokens int, cost float64) string {
	const then = "2000-01-01T00:00:00Z"
	return fmt.Sprintf(`{"id":%q,"kind":"routine","task":%q,"title":"t","state":%q,"started":%q,"ended":%q,"tokens":%d,"cost_usd":%v}`+"\n",
		id, task, state, then, then, tokens, cost)
}

func TestAnUnreadableLedgerHasNoPastRunsAndNoCosts(t *testing.T) {
	s := open(t, none, none)
	testkit.Must(t, os.MkdirAll(s.dir.Path(ledger), 0o700))
	if r, err := s.Costs(7); err == nil {
		t.Errorf("%+v", r)
	}
}

func TestTheCostsAreOfTheLedgerTheDaysAndTheFiresUntilMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 9, none)
		storetest.Put(t, s.dir, ledger, line("00000001", "a", "done", 5, 0.5))
		testkit.Must(t, s.purse.Book(s.now(), money.Account{For: money.OfRun, Task: money.Task{Kind: routines.KindRoutine, ID: "a"}, Run: "00000001"},
			agent.Charge{Model: "haiku", Used: agent.Usage{InputTokens: 1_000_000, OutputTokens: 100}}))
		priced := s.purse.Prices().Cost("haiku", agent.Usage{InputTokens: 1_000_000, OutputTokens: 100})
		midnight := time.Date(2000, 1, 1, 22, 0, 0, 0, time.UTC)
		s.day = []schedule.Entry{
			{FireTime: s.now(), Cost: 1}, {FireTime: s.now().Add(1), Cost: 2}, {FireTime: midnight.Add(-1), Cost: 4}, {FireTime: midnight, Cost: 8},
		}
		r, err := s.Costs(7)
		testkit.Must(t, err)
		if r.Expected != 6 || r.Money.Today.Cap != 9 || r.Money.Today.Spent.Dollars() != priced || priced == 0 || len(r.Tasks) != 1 {
			t.Errorf("report: %+v", r)
		}
		if len(s.day) != 4 || s.day[0].Cost != 1 {
			t.Error("the list of the day was changed")
		}
	})
}

func TestBetweenKeepsWhatIsAfterTheOneAndBeforeTheOther(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		moment := rapid.Map(rapid.Int64Range(0, 9), func(n int64) time.Time { return time.Unix(n, 0) })
		from, to := moment.Draw(t, "from"), moment.Draw(t, "to")
		var list, want []time.Time
		var entries []schedule.Entry
		for _, at := range rapid.SliceOf(moment).Draw(t, "list") {
			list = append(list, at)
			entries = append(entries, schedule.Entry{FireTime: at})
			if from.Before(at) && at.Before(to) {
				want = append(want, at)
			}
		}
		var got []time.Time
		for _, e := range between(entries, from, to) {
			got = append(got, e.FireTime)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("of %v between %v and %v: %v", list, from, to, got)
		}
	})
}

func TestATurnAsksWhenItHasCostItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, none, none)
		s.config.TurnCap = 2
		tokens := agent.Usage{OutputTokens: 100_000} // 5 cents of haiku
		free := agent.Usage{OutputTokens: 1, Free: true}
		of := func(dollars float64) agent.Usage { return agent.Usage{OutputTokens: 1, CostUSD: dollars} }
		for _, c := range []struct {
			name             string
			limit, allowed   float64
			used             agent.Usage
			verdict          policy.Verdict
			fails            error
			until            float64
			asks, cost, stop string // how much more it asks for, what it has cost, and why the turn ends
		}{
			{name: "below the limit", limit: 2, used: of(1.9)},
			{name: "at the limit", limit: 2, used: of(2), verdict: policy.Allow, until: 4, asks: "$2.00", cost: "$2.00"},
			{name: "above it", limit: 2, used: of(2.5), verdict: policy.Allow, until: 4.5, asks: "$2.00", cost: "$2.50"},
			{name: "below what was allowed", limit: 2, allowed: 4.5, used: of(4.4), until: 4.5},
			{name: "denied", limit: 2, allowed: 4.5, used: of(5), verdict: policy.Deny, until: 4.5, asks: "$2.00", cost: "$5.00", stop: textTurnDenied},
			{name: "no answer", limit: 2, used: of(5), verdict: policy.Expired, asks: "$2.00", cost: "$5.00", stop: textTurnUnanswered},
			{name: "no one to ask", limit: 2, used: of(5), fails: errors.New("no one"), asks: "$2.00", cost: "$5.00", stop: textTurnNotAsked},
			{name: "a limit of nothing", used: of(1), verdict: policy.Allow, until: 1.5, asks: "$0.50", cost: "$1.00"},
			{name: "priced by its model", used: tokens, verdict: policy.Allow, until: 0.55, asks: "$0.50", cost: "$0.05"},
			{name: "a free turn", used: free},
		} {
			s.asked, s.verdict, s.failure, s.config.TurnCap = nil, c.verdict, c.fails, c.limit
			allowed, stop := s.MayGoOn(t.Context(), agent.Spending{Model: "haiku", Used: c.used, Allowed: c.allowed})
			cost := fmt.Sprintf(textTurnSpent, c.cost, words.Dollars(c.limit))
			if c.fails != nil {
				c.stop = fmt.Sprintf(c.stop, cost, c.fails)
			} else if c.stop != "" {
				c.stop = fmt.Sprintf(c.stop, cost)
			}
			var asked []policy.Request
			if c.asks != "" {
				asked = []policy.Request{{Question: textTurnAsk, Text: fmt.Sprintf(textTurnAskMore, cost, c.asks), Session: "conversation"}}
			}
			if diff := cmp.Diff(asked, s.asked); diff != "" || math.Abs(allowed-c.until) > 1e-9 || stop != c.stop {
				t.Errorf("%s: allowed %v, want %v; stop %q, want %q; asked %s", c.name, allowed, c.until, stop, c.stop, diff)
			}
		}
	})
}

func TestATurnIsBookedOnTheConversationOrTheFork(t *testing.T) {
	for fork, want := range map[bool]money.Purpose{false: money.Conversation, true: money.Fork} {
		s := open(t, none, none)
		ended := s.Began(fork)
		s.Booked(fork, agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: 1}})
		begun := storetest.Text(t, s.dir, "state/usage.json")
		ended()
		_, rows := s.purse.Books(s.now())
		if left := storetest.Text(t, s.dir, "state/usage.json"); !strings.Contains(begun, fmt.Sprintf(`{"for":%q,`, want)) || strings.Contains(left, "for") ||
			len(rows) != 1 || rows[0].For != want {
			t.Errorf("in a fork %v: %s is under way, then %s; booked %+v", fork, begun, left, rows)
		}
	}
}
