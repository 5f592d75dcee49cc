package core

import (
	"testing"
	"time"

	"ollimbot/core/safety/policy"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/routines/schedule"
)

func TestAGlanceCountsTheDayOfTheUsersZone(t *testing.T) {
	zone := time.FixedZone("east", 9*3600)
	now := time.Date(2026, 11, 22, 8, 0, 0, 0, zone) // 23:00 of the previous day in UTC
	s := Snapshot{At: now, Zone: zone, Approvals: []policy.Approval{{}}, Budget: BudgetView{State: budget.State{DailyUsed: 2, CriticalUsed: 1}}}
	s.Engine.Today.CostUSD = 1.09
	s.Ended = []fork.View{
		{State: fork.Failed, Ended: now.Add(-9 * time.Hour)}, // yesterday
		{State: fork.TimedOut, Ended: now.Add(-7 * time.Hour)},
		{State: fork.Done, Ended: now.Add(-time.Hour)},
		{State: fork.Stopped, Ended: now},
	}
	s.Schedule.Day = []schedule.Entry{
		{ID: "past", FireTime: now}, {ID: "held", Held: true, FireTime: now.Add(time.Minute)}, {ID: "next", FireTime: now.Add(time.Hour)},
	}
	g := s.Glance()
	if g.Next == nil || g.Next.ID != "next" {
		t.Errorf("next is %+v", g.Next)
	}
	g.Next = nil
	if want := (Glance{Runs: 3, Failed: 1, Pings: 3, Critical: 1, CostUSD: 1.09, Asks: 1}); g != want {
		t.Errorf("%+v, want %+v", g, want)
	}
}
