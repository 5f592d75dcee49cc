package core

import (
	"context"
	"sync"
	"time"

	"ollimbot/core/storage/live"
	"ollimbot/core/storage/store"
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
	kept      *usual
}

func newUserFacts(b *Bot) userFacts {
	return userFacts{
		zone: b.zone, journal: b.journal, book: b.book, attention: b.attention, settings: b.settings, google: b.google, kept: &usual{},
	}
}

// usual keeps the user's habit until a ping, an answer or a message has come, or an hour has passed:
// a choice costs nothing otherwise.
type usual struct {
	mu    sync.Mutex
	pings []budget.Ping
	said  []transcript.Entry
	at    time.Time
	habit *leeway.Habit
	last  time.Time // when the user wrote last
}

// usualFor is how old a habit may be.
const usualFor = time.Hour

// between are the facts from a moment until the end of a window.
func (u userFacts) between(now, until time.Time) leeway.Facts {
	habit, last := u.habit(now)
	return leeway.Facts{Habit: habit, Busy: u.busy(now.In(u.zone), until, last)}
}

// habit is when the user is usually active, and when they wrote last.
func (u userFacts) habit(now time.Time) (*leeway.Habit, time.Time) {
	pings, said := u.journal.Recent(), u.book.Entries()
	k := u.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	if age := now.Sub(k.at); k.habit == nil || !store.Same(k.pings, pings) || !store.Same(k.said, said) || age < 0 || age > usualFor {
		var active []time.Time
		active, k.last = activeAt(pings, said)
		k.pings, k.said, k.at, k.habit = pings, said, now, leeway.NewHabit(active, now, u.zone)
	}
	return k.habit, k.last
}

// activeAt are the moments at which the user answered a ping or wrote something, and the last one at
// which they wrote.
func activeAt(pings []budget.Ping, said []transcript.Entry) (list []time.Time, last time.Time) {
	for _, p := range pings {
		if !p.Answered.IsZero() {
			list = append(list, p.Answered)
		}
	}
	for _, e := range said {
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
	return append(list, meetings(u.google.DayAhead(now))...)
}

// meetings are the appointments of a day at which the user is busy: neither whole days and tasks,
// nor what the calendar shows as free.
func meetings(day []google.Item) (list []leeway.Busy) {
	for _, d := range day {
		if !d.AllDay && !d.Free && d.Tasks == nil {
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
