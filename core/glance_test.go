package core

import (
	"fmt"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	duetimes "ollimbot/routines/account"
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
	holds(t, g.Next != nil && g.Next.ID == "next", "next", g.Next)
	g.Next = nil
	is(t, "a glance", g, Glance{Runs: 3, Failed: 1, Pings: 3, Critical: 1, CostUSD: 1.09, Asks: 1})
}

// Q4: four routines at one minute left updates whose source was guessed from their times, or not known.
func TestTheSourceOfAnUpdateIsTheRunThatLeftIt(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 30, 0, time.UTC)
	s := Snapshot{Forks: []fork.View{
		{ID: "1", Title: "Red", Reports: 1, Started: at.Add(-time.Minute)}, {ID: "2", Title: "Blue", Reports: 1, Started: at.Add(-time.Minute)},
	}}
	for _, c := range []struct {
		by          updates.Source
		reporter    string
		text, reads string
	}{
		{updates.Source{Run: "2", From: "Blue"}, "2", "rep", "Blue: rep"},
		{updates.Source{Run: "9", From: "Green"}, "", "rep", "Green: rep"}, // no longer listed
		{updates.Source{From: "Taxes"}, "", "from my fork", "Taxes: from my fork"},
		{updates.Source{}, "", "rep", "rep"},
		{updates.Source{Run: "1", From: "Red"}, "1", "red: rep", "red: rep"}, // is not said twice
	} {
		u := updates.Update{At: at, Message: c.text, Source: c.by}
		by := ""
		if run := s.Reporter(u); run != nil {
			by = run.ID
		}
		is(t, fmt.Sprintf("%+v", c.by), []string{by, s.Sourced(u)}, []string{c.reporter, c.reads})
	}
}

// A due time is shown with its own run, not with an earlier or later one, nor with another task's.
func TestADueTimeIsShownWithItsRun(t *testing.T) {
	nine := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	runs := []fork.View{
		{ID: "early", Queued: nine.Add(-time.Minute)},
		{ID: "first", Queued: nine.Add(time.Second), Started: nine.Add(time.Hour)},
		{ID: "again", Queued: nine.Add(10 * time.Minute)},
		{ID: "old", Started: nine.Add(2 * time.Hour)}, // earlier versions did not record when a run was queued
	}
	for _, c := range []struct {
		at   time.Duration
		fate duetimes.Fate
		next time.Duration // 0 for none
		want string
	}{
		{0, duetimes.Ran, time.Hour, "first"},
		{0, duetimes.Failed, time.Second / 2, ""},
		{time.Hour, duetimes.Interrupted, 0, "old"},
		{time.Hour, duetimes.Running, time.Hour + time.Minute, ""},
		{3 * time.Hour, duetimes.Ran, 0, ""},
		{0, duetimes.Missed, time.Hour, ""},
		{0, duetimes.Held, 0, ""},
	} {
		var next time.Time
		if c.next > 0 {
			next = nine.Add(c.next)
		}
		f, ok := dueRun(duetimes.Row{ID: "a", Due: nine.Add(c.at), Fate: c.fate}, runs, next)
		is(t, fmt.Sprintf("%s after %s", c.fate, c.at), []any{f.ID, ok}, []any{c.want, c.want != ""})
	}
}

func TestAListOfHostsCountsAsANetwork(t *testing.T) {
	testkit.Alone(t)
	is(t, "without a sandbox", networked(nil, config.Runtime{}), true)
	box := sandboxtest.Box(t, sandbox.Options{Dir: t.TempDir()})
	for value, wants := range map[string]bool{"": false, "on": true, "api.example.org,localhost:80": true} {
		is(t, value, networked(box, config.Runtime{SandboxNetwork: value}), wants)
	}
}
