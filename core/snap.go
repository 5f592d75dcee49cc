package core

import (
	"slices"
	"sync"
	"time"

	"ollimbot/routines"
)

// Snapshot describes the bot now. It may be called from anywhere, does not
// wait for anything that runs, and writes nothing.
func (b *Bot) Snapshot() Snapshot { return b.SnapshotAt(b.now()) }

// SnapshotAt describes the bot as it will look at t if nothing happens until
// then; runs and messages are those of now.
func (b *Bot) SnapshotAt(t time.Time) Snapshot {
	now := t.In(b.zone)
	set := b.index.Set()
	s := Snapshot{
		At: now, Zone: b.zone, Dir: b.dir.Display(), Root: b.dir.Root(),
		Routines: len(set.Routines), Reminders: len(set.Reminders),
		Engine: b.engineStatus(), Surface: b.surfaceStatus(),
		Budget: b.budgetView(now), Schedule: b.schedule.view(b.index, now),
		Updates: b.updates.Peek(), Forks: b.forks.Views(), MaxForks: b.runtime.Load().MaxBackgroundForks,
		Chat: b.book.Entries(), Notices: b.notices.all(),
		Fork: b.main.banner(), Approvals: b.desk.Pending(), Attached: b.attached.shown(),
	}
	if at := b.started.Load(); at != nil {
		s.Started = *at
	}
	s.Busy, s.BusySince = b.main.busy()
	if b.o.Book != nil {
		s.LogLines = b.o.Book.Lines()
	}
	if _, problems := b.policy.Load(); len(problems) > 0 {
		s.Schedule.Problems = append(slices.Clone(problems), s.Schedule.Problems...)
	}
	line := routines.Forward{Last: s.Schedule.Last}.RefillLine(now, s.Budget.State.RefillRateMinutes)
	s.Schedule.Refills = line
	return s
}

func (b *Bot) budgetView(now time.Time) BudgetView {
	state, reserved := b.budget.State(now)
	return BudgetView{
		State: state, Status: state.Status(now), Reserved: reserved,
		NextAt: state.NextAt(now), FullAt: state.FullAt(now),
		Hours: b.journal.Hours(now), Quiet: b.runtime.Load().QuietUntil(now),
	}
}

// scheduleCache keeps the schedule of the current minute: with 10,000 routines
// it is the only costly part of a snapshot, and it changes once a minute or
// when a file does.
type scheduleCache struct {
	mu sync.Mutex
	// set and minute are what kept was made of.
	set    *routines.Set
	minute time.Time
	kept   ScheduleView
}

func (c *scheduleCache) view(x *routines.Index, now time.Time) ScheduleView {
	c.mu.Lock()
	defer c.mu.Unlock()
	set, minute := x.Set(), now.Truncate(time.Minute)
	if c.set == set && c.minute.Equal(minute) {
		return c.kept
	}
	f := x.Forward(now, "")
	c.set, c.minute = set, minute
	c.kept = ScheduleView{
		Window: f.Window(now), Entries: withForeground(x, f, now), Problems: set.Problems, Last: f.Last,
	}
	return c.kept
}

// withForeground adds the foreground tasks of the window, for people: agents
// do not see them (spec 03.6).
func withForeground(x *routines.Index, f routines.Forward, now time.Time) []routines.Entry {
	until := now.Add(3 * time.Hour)
	if f.Last.After(until) {
		until = f.Last
	}
	mine := x.Foreground(now, until)
	if len(mine) == 0 {
		return f.Entries
	}
	all := append(slices.Clone(f.Entries), mine...)
	slices.SortStableFunc(all, func(a, b routines.Entry) int { return a.FireTime.Compare(b.FireTime) })
	return all
}
