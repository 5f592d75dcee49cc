package core

import (
	"slices"
	"time"

	"ollimbot/routines/schedule"
)

// Snapshot describes the bot now. It may be called from anywhere and writes
// nothing. It waits for no run and no turn, but may wait for a file that is being
// written: the locks that order some of them guard what it reads.
func (b *Bot) Snapshot() Snapshot { return b.SnapshotAt(b.now()) }

// SnapshotAt describes the bot as it will look at t if nothing happens until
// then; runs and messages are those of now.
func (b *Bot) SnapshotAt(t time.Time) Snapshot {
	now := t.In(b.zone)
	set := b.index.Set()
	view := b.schedule.View(now)
	s := Snapshot{
		At: now, Zone: b.zone, Dir: b.dir.Display(), Root: b.dir.Root(),
		Routines: len(set.Routines), Reminders: len(set.Reminders),
		Engine: b.engineStatus(), Surface: b.surfaceStatus(),
		Budget: b.budgetView(now, view), Schedule: view,
		Updates: b.updates.Peek(), Forks: b.forks.Views(), MaxForks: b.runtime.Load().MaxBackgroundForks,
		Chat: b.book.Entries(), ChatMore: b.book.More(), Notices: b.notices.all(),
		Fork: b.main.banner(), Approvals: b.desk.Pending(), Attached: b.attached.shown(),
	}
	if at := b.started.Load(); at != nil {
		s.Started = *at
	}
	s.Busy, s.BusySince = b.main.busy()
	s.Webhooks = len(b.hooks.Specs(false))
	s.Schedule.Problems = append(s.Schedule.Problems[:len(s.Schedule.Problems):len(s.Schedule.Problems)], b.hooks.Problems()...)
	if skills := b.heldSkills.Load(); skills != nil {
		s.Schedule.Problems = append(s.Schedule.Problems, *skills...)
	}
	if b.triggers != nil {
		s.Deliveries = b.triggers.Deliveries()
	}
	if b.o.Book != nil {
		s.LogLines = b.o.Book.Lines()
	}
	if _, problems := b.policy.Load(); len(problems) > 0 {
		s.Schedule.Problems = append(slices.Clone(problems), s.Schedule.Problems...)
	}
	line := schedule.Forward{Last: s.Schedule.Last}.RefillLine(now, s.Budget.State.RefillRateMinutes)
	s.Schedule.Refills = line
	return s
}

func (b *Bot) budgetView(now time.Time, view schedule.View) BudgetView {
	state, reserved := b.budget.State(now)
	levels, dry := state.Forecast(mayPing(view.Day, view.Until, b.quietUntil), now)
	return BudgetView{
		State: state, Status: state.Status(now), Reserved: reserved,
		NextAt: state.NextAt(now), FullAt: state.FullAt(now),
		Hours: b.journal.Hours(now), Quiet: b.quietUntil(now), Muted: b.muted.At(now),
		Forecast: levels, Dry: dry,
	}
}
