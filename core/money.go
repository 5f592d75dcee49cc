package core

import (
	"math"
	"slices"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/fork"
	"ollimbot/core/money"
	"ollimbot/core/notice"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// makePurse opens what was spent and may be.
func (b *Bot) makePurse() {
	b.purse = money.New(money.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Past: b.pastRuns,
		Caps: func() money.Caps {
			r := b.runtime.Load()
			return money.Caps{Day: r.DailyCap, Month: r.MonthlyCap}
		},
		Notice: func(text string) { b.notices.Add(notice.Warn, text) },
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

// schedulePurse is the purse as the schedule sees it.
type schedulePurse struct{ *money.Purse }

var _ schedule.Purse = schedulePurse{}

// Price is what a run of the task is expected to cost.
func (p schedulePurse) Price(t *routines.Task) float64 {
	return p.Expected(money.Task{Kind: t.Kind, ID: t.ID})
}

// costs reports what was spent and what is about to be.
func (b *Bot) costs(c command.Costs) (command.Outcome, error) {
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
