package core

import (
	"context"
	"time"

	"ollimbot/core/storage/live"
	"ollimbot/core/talk/attention"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/google"
	"ollimbot/routines/leeway"
	"ollimbot/routines/schedule"
)

// aConversation is how long nothing is said until a conversation is over.
const aConversation = 5 * time.Minute

// What the user is busy with.
const (
	busyTalking = "conversation"
	busyMeeting = "meeting"
	busyQuiet   = "quiet hours"
	busyMuted   = "mute"
)

// userFacts know when the user is usually here, and when they are busy: what a task with a window
// chooses its moment by. Nothing of it waits for anything.
type userFacts struct {
	zone      *time.Location
	journal   *budget.Journal
	book      *transcript.Chat
	attention *attention.Attention
	settings  *live.Settings
	google    *google.Account
}

// between are the facts from a moment until the end of a window.
func (u userFacts) between(now, until time.Time) leeway.Facts {
	active, last := u.active()
	return leeway.Facts{Habit: leeway.NewHabit(active, now, u.zone), Busy: u.busy(now.In(u.zone), until, last)}
}

// active are the moments at which the user answered a ping or wrote something, and the last one at
// which they wrote.
func (u userFacts) active() (list []time.Time, last time.Time) {
	for _, p := range u.journal.Recent() {
		if !p.Answered.IsZero() {
			list = append(list, p.Answered)
		}
	}
	for _, e := range u.book.Entries() {
		if e.Role == transcript.User {
			list, last = append(list, e.At), e.At
		}
	}
	return list, last
}

// busy are the times until then at which the user is not to be disturbed. Nobody knows when a
// conversation ends: it is looked at again after a while.
func (u userFacts) busy(now, until, last time.Time) (list []leeway.Busy) {
	if talking, _ := u.attention.Talking(); talking {
		last = now
	}
	if over := last.Add(aConversation); !last.After(now) && over.After(now) {
		list = append(list, leeway.Busy{From: last, To: over, Why: busyTalking})
	}
	for _, span := range u.settings.Load().QuietSpans(now, until) {
		list = append(list, leeway.Busy{From: span[0], To: span[1], Why: busyQuiet})
	}
	if end := u.attention.Mute.At(now); !end.IsZero() {
		list = append(list, leeway.Busy{From: now, To: end, Why: busyMuted})
	}
	for _, d := range u.google.DayAhead(now) {
		if !d.AllDay && d.Tasks == nil {
			list = append(list, leeway.Busy{From: d.Start, To: d.End, Why: busyMeeting})
		}
	}
	return list
}

// lookEvery is the time between two looks at the calendar while a window is open or about to open.
const lookEvery = 5 * time.Minute

// watchCalendar reads the day's meetings before a window opens and while it is open, also while no
// one looks at the dashboard. Without a login at Google it asks nobody.
func watchCalendar(ctx context.Context, b *Bot) error {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
		if b.google.State().On() && windowNear(b.schedule.View(b.now()).Day, b.now()) {
			b.google.Look(ctx)
		}
	}
}

// windowNear reports whether a window opens before the calendar is looked at twice, or is open.
func windowNear(day []schedule.Entry, now time.Time) bool {
	for _, e := range day {
		if (!e.Until.IsZero() || e.Reason != "") && e.FireTime.Before(now.Add(2*lookEvery)) {
			return true
		}
	}
	return false
}

// FireClock is when a fire comes, as the clock shows it: a range while its minute is not chosen.
func (s *Snapshot) FireClock(e schedule.Entry) string {
	at := s.Clock(e.FireTime, "15:04")
	if e.Until.IsZero() {
		return at
	}
	return at + "–" + s.Clock(e.Until, "15:04")
}
