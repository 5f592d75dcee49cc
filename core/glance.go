package core

import (
	"cmp"
	"slices"
	"time"

	"ollimbot/routines/schedule"
)

// Glance is what the user wants to know first: what comes next, what the day has
// brought and cost, and whether the bot waits for them. The dashboard's top line shows
// it; what may still be spent is in Snapshot.Budget.
type Glance struct {
	Next    *schedule.Entry // the next fire within 24 hours that is not held; nil without one
	Runs    int             // background runs that have ended today, in the user's zone
	Failed  int             // of these, that have failed
	Pings   int             // messages that runs have sent today, critical ones too
	CostUSD float64         // of everything today
	Asks    int             // tool calls and questions that wait for the user
}

// Glance sums up the snapshot.
func (s *Snapshot) Glance() Glance {
	g := Glance{Pings: s.Budget.State.DailyUsed + s.Budget.State.CriticalUsed, CostUSD: s.Engine.Today.CostUSD, Asks: len(s.Approvals)}
	if s.Fork != nil && s.Fork.Asks {
		g.Asks++
	}
	for _, list := range [][]schedule.Entry{s.Schedule.Entries, s.Schedule.Day} {
		ahead := func(e schedule.Entry) bool { return !e.Held && e.FireTime.After(s.At) }
		if i := slices.IndexFunc(list, ahead); i >= 0 && g.Next == nil {
			g.Next = &list[i]
		}
	}
	today := s.Midnight()
	for i := range s.Ended {
		if r := &s.Ended[i]; !r.Ended.Before(today) {
			g.Runs++
			if r.State.Failed() {
				g.Failed++
			}
		}
	}
	return g
}

// Midnight is when the day of the snapshot began, in the user's zone.
func (s *Snapshot) Midnight() time.Time {
	zone := s.Zone
	zone = cmp.Or(zone, time.UTC)
	y, m, d := s.At.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, zone)
}
