// Package spending decides on money: which runs and turns may start under the caps, what
// is reserved for them, and what the user is asked and told about it. It must not know
// how a run works, or prices, which belong to the purse (core/work/money).
package spending

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// minStep is the minimum cost in dollars before a turn asks again, so that a limit of 0
// does not ask before each request.
const minStep = 0.5

// affordEvery is how often a waiting delivery checks for money.
const affordEvery = 15 * time.Second

// Options configure a Desk; all are required.
type Options struct {
	Dir    *store.Dir
	Zone   *time.Location
	Log    *slog.Logger
	Purse  *money.Purse
	Audit  *audit.Log
	Config func() *config.Runtime
	// Ask asks the user and waits for the answer.
	Ask func(context.Context, policy.Request) (policy.Verdict, error)
	// Day returns the fires of the next 24 hours with their costs.
	Day func(now time.Time) []schedule.Entry
	// Routines returns the routines in force.
	Routines func() []*routines.Routine
}

// Desk decides on money. Its methods are safe for concurrent use.
type Desk struct{ o Options }

// New returns a Desk.
func New(o Options) *Desk { return &Desk{o} }

var _ schedule.Purse = (*Desk)(nil)

// Handlers returns the handlers for the Desk's commands.
func (d *Desk) Handlers() []command.Handler {
	return []command.Handler{
		command.On(command.Unowned, d.Lift),
	}
}

func (d *Desk) now() time.Time { return time.Now().In(d.o.Zone) }

// At returns the cost of runs at a moment, and whether there is money for them.
func (d *Desk) At(now time.Time) func(*routines.Task) schedule.Price {
	o := d.o.Purse.Outlook(now)
	return func(t *routines.Task) schedule.Price {
		if t.Says {
			return schedule.Price{} // it asks no model
		}
		dollars, until := o.Of(money.Task{Kind: t.Kind, ID: t.ID})
		return schedule.Price{Dollars: dollars, Until: until}
	}
}

// Reserve reserves the cost of a run, or records that it is held for lack of money.
func (d *Desk) Reserve(t routines.Task, now time.Time, firm bool) (string, time.Time) {
	if t.Says { // it asks no model
		return "", time.Time{}
	}
	ticket, until := d.reserve(t, now, firm)
	if !until.IsZero() {
		d.o.Audit.Record(now, audit.Entry{
			Actor: audit.Bot, Action: audit.RunHeld, Subject: t.ID, Detail: fmt.Sprintf(textRunHeld, t.Title(), cron.DayClock(until, now)),
		})
	}
	return ticket, until
}

// reserve reserves the cost of a run. If that cannot be saved, it counts until the
// program ends.
func (d *Desk) reserve(t routines.Task, now time.Time, firm bool) (string, time.Time) {
	ticket, until, err := d.o.Purse.Reserve(now, money.Task{Kind: t.Kind, ID: t.ID}, firm)
	if err != nil {
		d.o.Log.Error("what is set aside for a run could not be written down", "task", t.ID, "error", err)
	}
	return string(ticket), until
}

// Settle releases a run's reservation.
func (d *Desk) Settle(ticket string) {
	if err := d.o.Purse.Settle(money.Ticket(ticket)); err != nil {
		d.o.Log.Error("what was set aside for a run could not be settled", "error", err)
	}
}

// Afford waits until there is money for a delivery's run and reserves it. It returns
// false if ctx ends first.
func (d *Desk) Afford(ctx context.Context, t routines.Task) (ticket string, ok bool) {
	for {
		now := d.now()
		ticket, until := d.reserve(t, now, t.Critical)
		if until.IsZero() {
			return ticket, true
		}
		select {
		case <-time.After(min(affordEvery, until.Sub(now))):
		case <-ctx.Done():
			return "", false
		}
	}
}

// MayTalk asks the user, once a day, whether to keep going past a cap. The error is the
// reason why no turn may start.
func (d *Desk) MayTalk(ctx context.Context) error {
	s := d.o.Purse.State(d.now())
	if s.Until(0).IsZero() || s.Talk == money.GoOn {
		return nil
	}
	spent := s.Reached()
	if s.Talk == money.Wait {
		return fmt.Errorf(textCapNo, spent)
	}
	verdict, err := d.o.Ask(ctx, policy.Request{Question: textCapAsk, Text: fmt.Sprintf(textCapAskMore, spent), Session: "conversation"})
	if err != nil {
		return err
	}
	talk := money.Wait
	switch {
	case verdict.Allows():
		talk = money.GoOn
	case verdict != policy.Deny:
		return fmt.Errorf(textCapUnanswered, spent)
	}
	if err := d.o.Purse.Answer(d.now(), talk); err != nil {
		d.o.Log.Error("the answer about the cap could not be written down", "error", err)
	}
	if talk == money.GoOn {
		return nil
	}
	return fmt.Errorf(textCapNo, spent)
}

// MayGoOn asks the user whether a turn of the conversation may exceed the limit of a
// turn. allowed is the new limit in dollars; stop is the reason why the turn must end.
func (d *Desk) MayGoOn(ctx context.Context, s agent.Spending) (allowed float64, stop string) {
	used, _ := d.o.Purse.Prices().Priced(s.Model, s.Used)
	limit, spent := d.o.Config().TurnCap, used.CostUSD
	if spent <= 0 || spent < max(limit, s.Allowed) {
		return s.Allowed, ""
	}
	cost := fmt.Sprintf(textTurnSpent, words.Dollars(spent), words.Dollars(limit))
	verdict, err := d.o.Ask(ctx, policy.Request{
		Question: textTurnAsk, Text: fmt.Sprintf(textTurnAskMore, cost, words.Dollars(max(limit, minStep))), Session: "conversation",
	})
	switch {
	case err != nil:
		return s.Allowed, fmt.Sprintf(textTurnNotAsked, cost, err)
	case verdict.Allows():
		return spent + max(limit, minStep), ""
	case verdict == policy.Deny:
		return s.Allowed, fmt.Sprintf(textTurnDenied, cost)
	}
	return s.Allowed, fmt.Sprintf(textTurnUnanswered, cost)
}

// Lift lifts the caps for today, or applies them again.
func (d *Desk) Lift(_ context.Context, c command.LiftCaps) (command.Outcome, error) {
	if s := d.o.Purse.State(d.now()); !s.Today.Capped() && !s.Month.Capped() {
		return command.Outcome{Message: textNoCaps}, nil
	}
	before, err := d.o.Purse.Lift(d.now(), !c.Undo)
	if err != nil {
		return command.Outcome{}, err
	}
	out := command.Outcome{Message: textLifted}
	if c.Undo {
		out.Message = textCapsBack
	}
	if before == c.Undo { // it had an effect
		out.Undo, out.Decision = command.LiftCaps{Undo: !c.Undo}, audit.Entry{Action: audit.CapsChanged}
	}
	return out, nil
}

// Follows returns a warning about a cap below what is already spent, and "" for every
// other setting.
func (d *Desk) Follows(key, value string) string {
	r := *d.o.Config()
	now := d.o.Purse.State(d.now())
	if config.Try(&r, key, value) != nil {
		return "" // setting it reports the error
	}
	switch {
	case r.DailyCap != d.o.Config().DailyCap && now.Today.Spent.Dollars() >= r.DailyCap:
		return fmt.Sprintf(textCapBelow, textToday, words.Dollars(now.Today.Spent.Dollars()), words.Dollars(r.DailyCap), cron.DayClock(now.Today.Ends, d.now()))
	case r.MonthlyCap != d.o.Config().MonthlyCap && now.Month.Spent.Dollars() >= r.MonthlyCap:
		return fmt.Sprintf(textCapBelow, textThisMonth, words.Dollars(now.Month.Spent.Dollars()), words.Dollars(r.MonthlyCap), now.Month.Ends.Format("2 January"))
	}
	return ""
}

// Costs reports past and expected spending over a number of days including today.
func (d *Desk) Costs(days int) (command.CostReport, error) {
	runs, err := fork.Ledger(d.o.Dir, math.MaxInt)
	if err != nil {
		return command.CostReport{}, err
	}
	now := d.now()
	state, rows := d.o.Purse.Books(now)
	s := command.Spending{Runs: runs, Rows: rows, State: state, Ahead: between(d.o.Day(now), now, state.Today.Ends), Routines: d.o.Routines()}
	return s.Report(days, now), nil
}

// between returns the entries between two moments.
func between(list []schedule.Entry, from, to time.Time) []schedule.Entry {
	return slices.DeleteFunc(slices.Clone(list), func(e schedule.Entry) bool {
		return !e.FireTime.After(from) || !e.FireTime.Before(to)
	})
}

// Began notes that a turn of the main session or of a fork is under way, until ended is called.
func (d *Desk) Began(inFork bool) (ended func()) { return d.Begin(talked(inFork)) }

// Booked books a request of the main session or of a fork.
func (d *Desk) Booked(inFork bool, c agent.Charge) { d.Book(talked(inFork), c) }

func talked(inFork bool) money.Purpose {
	if inFork {
		return money.Fork
	}
	return money.Conversation
}

// Begin notes that something else than a run may have a request under way, until end is called. If
// the program is killed before, the cost of that request is unknown.
func (d *Desk) Begin(what money.Purpose) (end func()) {
	ticket, err := d.o.Purse.Begin(d.now(), what)
	if err != nil {
		d.o.Log.Error("what is under way could not be written down", "purpose", what, "error", err)
	}
	return func() { d.Settle(string(ticket)) }
}

// Book books a request of something else than a run.
func (d *Desk) Book(what money.Purpose, c agent.Charge) {
	if err := d.o.Purse.Book(d.now(), money.Account{For: what}, c); err != nil {
		d.o.Log.Error("what a request has used could not be written down", "error", err)
	}
}
