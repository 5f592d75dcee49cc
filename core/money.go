package core

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// affordEvery is how often a delivery looks whether there is money for it.
const affordEvery = 15 * time.Second

// makePurse opens what was spent and may be.
func (b *Bot) makePurse() {
	var prices *money.Prices
	if b.o.Providers != nil {
		prices = b.o.Providers.Prices()
	}
	b.purse = money.New(money.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Prices: prices, Past: b.pastRuns,
		Caps: func() money.Caps {
			r := b.runtime.Load()
			return money.Caps{Day: r.DailyCap, Month: r.MonthlyCap}
		},
		Notice: func(text string) { b.notices.Add(notice.Warn, text) }, Changed: b.moneyChanged,
	})
}

// pastRuns is what runs have cost that the ledger knows, oldest first.
func (b *Bot) pastRuns() []money.Run {
	views, err := fork.Ledger(b.dir, math.MaxInt)
	if err != nil {
		b.log.Warn("what runs cost was not read", "error", err)
	}
	var runs []money.Run
	for _, v := range slices.Backward(views) {
		if !v.Live() && (v.Usage.Tokens() > 0 || v.Usage.CostUSD > 0) {
			runs = append(runs, money.Run{Task: money.Task{Kind: v.Kind, ID: v.TaskID}, Dollars: max(0, v.Usage.CostUSD)})
		}
	}
	return runs
}

// moneyChanged lets everybody look who depends on what may be spent.
func (b *Bot) moneyChanged() {
	if b.schedule != nil {
		b.schedule.MoneyChanged()
	}
	b.notify()
}

// schedulePurse is the purse as the schedule sees it.
type schedulePurse struct{ *Bot }

var _ schedule.Purse = schedulePurse{}

// At is what runs cost at a moment, and whether there is money for them.
func (p schedulePurse) At(now time.Time) func(*routines.Task) schedule.Price {
	o := p.purse.Outlook(now)
	return func(t *routines.Task) schedule.Price {
		dollars, until := o.Of(money.Task{Kind: t.Kind, ID: t.ID})
		return schedule.Price{Dollars: dollars, Until: until}
	}
}

// Reserve sets aside what a run costs, or writes down that it is held.
func (p schedulePurse) Reserve(t routines.Task, now time.Time, firm bool) (string, time.Time) {
	ticket, until := p.reserve(t, now, firm)
	if !until.IsZero() {
		p.audit.Record(now, audit.Entry{
			Actor: audit.Bot, Action: audit.RunHeld, Subject: t.ID, Detail: fmt.Sprintf(textRunHeld, t.Title(), cron.DayClock(until, now)),
		})
	}
	return ticket, until
}

// reserve sets aside what a run costs. Where that cannot be written down, it counts
// until the program ends.
func (p schedulePurse) reserve(t routines.Task, now time.Time, firm bool) (string, time.Time) {
	ticket, until, err := p.purse.Reserve(now, money.Task{Kind: t.Kind, ID: t.ID}, firm)
	if err != nil {
		p.log.Error("what is set aside for a run could not be written down", "task", t.ID, "error", err)
	}
	return string(ticket), until
}

// settle ends what is set aside for a run.
func (b *Bot) settle(ticket string) {
	if err := b.purse.Settle(money.Ticket(ticket)); err != nil {
		b.log.Error("what was set aside for a run could not be settled", "error", err)
	}
}

// afford waits until there is money for a delivery's run. False means that the bot
// ends first.
func (b *Bot) afford(ctx context.Context, t routines.Task) (ticket string, ok bool) {
	for {
		now := b.now()
		ticket, until := schedulePurse{b}.reserve(t, now, t.Critical)
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

// mayTalk asks the user, once a day, whether the conversation goes on above a cap.
// Its error says why it does not.
func (b *Bot) mayTalk(ctx context.Context) error {
	s := b.purse.State(b.now())
	if s.Until(0).IsZero() || s.Talk == money.GoOn {
		return nil
	}
	span, name := s.Today, textToday
	if s.Month.Spent+s.Reserved >= s.Month.Cap {
		span, name = s.Month, textThisMonth
	}
	spent := fmt.Sprintf(textCapSpent, words.Dollars(span.Spent), words.Dollars(span.Cap), name)
	if s.Talk == money.Wait {
		return fmt.Errorf(textCapNo, spent)
	}
	verdict, err := b.guard.Approvals().Ask(ctx, policy.Request{Label: textCapAsk, Text: fmt.Sprintf(textCapAskMore, spent), Session: "conversation"})
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
	if err := b.purse.Answer(b.now(), talk); err != nil {
		b.log.Error("the answer about the cap could not be written down", "error", err)
	}
	if talk == money.GoOn {
		return nil
	}
	return fmt.Errorf(textCapNo, spent)
}

// lift takes the caps away for today, or puts them back.
func (b *Bot) lift(_ context.Context, c command.LiftCaps) (command.Outcome, error) {
	if s := b.purse.State(b.now()); !s.Today.Capped() && !s.Month.Capped() {
		return command.Outcome{Message: textNoCaps}, nil
	}
	before, err := b.purse.Lift(b.now(), !c.Undo)
	if err != nil {
		return command.Outcome{}, err
	}
	out := command.Outcome{Message: textLifted}
	if c.Undo {
		out.Message = textCapsBack
	}
	if before == c.Undo { // it changed something
		out.Undo, out.Decision = command.LiftCaps{Undo: !c.Undo}, audit.Entry{Action: audit.CapsChanged}
	}
	return out, nil
}

// capFollows says what follows from a cap that is below what was spent; nothing for
// every other setting.
func (b *Bot) capFollows(key, value string) string {
	r := *b.runtime.Load()
	now := b.purse.State(b.now())
	if config.Try(&r, key, value) != nil {
		return "" // whoever sets it says why not
	}
	switch {
	case r.DailyCap != b.runtime.Load().DailyCap && now.Today.Spent >= r.DailyCap:
		return fmt.Sprintf(textCapBelow, textToday, words.Dollars(now.Today.Spent), words.Dollars(r.DailyCap), cron.DayClock(now.Today.Ends, b.now()))
	case r.MonthlyCap != b.runtime.Load().MonthlyCap && now.Month.Spent >= r.MonthlyCap:
		return fmt.Sprintf(textCapBelow, textThisMonth, words.Dollars(now.Month.Spent), words.Dollars(r.MonthlyCap), now.Month.Ends.Format("2 January"))
	}
	return ""
}

// costs reports what was spent and what is about to be.
func (b *Bot) costs(_ context.Context, c command.Costs) (command.Outcome, error) {
	runs, err := fork.Ledger(b.dir, math.MaxInt)
	if err != nil {
		return command.Outcome{}, err
	}
	now := b.now()
	state := b.purse.State(now)
	return c.Of(command.Spending{
		Runs: runs, Days: b.purse.Days(), State: state, Ahead: between(b.schedule.View(now).Day, now, state.Today.Ends),
	}, now), nil
}

// between are the entries between two moments.
func between(list []schedule.Entry, from, to time.Time) []schedule.Entry {
	return slices.DeleteFunc(slices.Clone(list), func(e schedule.Entry) bool {
		return !e.FireTime.After(from) || !e.FireTime.Before(to)
	})
}
