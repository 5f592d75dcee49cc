package core

import (
	"fmt"
	"slices"
	"time"

	"ollimbot/core/work/proposals"
	"ollimbot/core/work/week"
	duetimes "ollimbot/routines/account"
)

// readWeek reads the data for the report of a week.
func readWeek(b *Bot, ago int) (week.Report, error) {
	if ago < 0 || ago > week.Most {
		return week.Report{}, fmt.Errorf(textNoWeek, week.Most)
	}
	now := b.now()
	due, err := duetimes.New(b.dir).Read(now)
	if err != nil {
		return week.Report{}, err
	}
	pings, err := b.journal.All()
	if err != nil {
		return week.Report{}, err
	}
	costs, err := b.money.Costs(week.CostDays(ago))
	if err != nil {
		return week.Report{}, err
	}
	open := slices.DeleteFunc(b.offers.Open(now), func(p proposals.Proposal) bool { return p.Kind == KindPromise })
	return week.Of(now, ago, week.Sources{
		Pings: pings, Due: due.Since(week.Begins(now, ago)), Costs: costs, Open: open,
		Promises: func(from, until time.Time) proposals.Counts { return b.offers.Counts(KindPromise, from, until) },
	}), nil
}
