package core

import (
	"context"
	"strings"
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

// aConversation is the silence after which a conversation is over.
const aConversation = 5 * time.Minute

// Reasons why the user is busy.
const (
	busyTalking = "conversation"
	busyMeeting = "meeting"
	busyQuiet   = "quiet hours"
	busyMuted   = "mute"
)

// userFacts knows when the user is usually active and when they are busy, for choosing a
// moment in a window. Its methods never block.
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

// usual caches the user's habit until the next ping, answer or message, or for an hour,
// so that choices are cheap.
type usual struct {
	mu    sync.Mutex
	pings []budget.Ping
	said  []transcript.Entry
	at    time.Time
	habit *leeway.Habit
	last  time.Time // when the user last wrote
}

// usualFor is the maximum age of a cached habit.
const usualFor = time.Hour

// between returns the facts from a moment until the end of a window.
func (u userFacts) between(now, until time.Time) leeway.Facts {
	habit, last := u.habit(now)
	return leeway.Facts{Habit: habit, Busy: u.busy(now.In(u.zone), until, last)}
}

// habit returns when the user is usually active, and when they last wrote.
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

// activeAt returns the moments at which the user answered a ping or wrote something, and
// the last one at which they wrote.
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

// busy returns the periods up to a moment in which the user should not be disturbed. The
// end of a conversation is unknown, so it is checked again after a while.
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

// meetings returns the appointments of a day at which the user is busy. All-day events,
// tasks and events shown as free do not count.
func meetings(day []google.Item) (list []leeway.Busy) {
	for _, d := range day {
		if !d.AllDay && !d.Free && d.Tasks == nil {
			list = append(list, leeway.Busy{From: d.Start, To: d.End, Why: busyMeeting})
		}
	}
	return list
}

// lookEvery is the interval of calendar checks while a window is open or about to open.
const lookEvery = 5 * time.Minute

// watchCalendar reads the day's meetings before and while a window is open, even when no
// dashboard is. Without a Google login it does nothing.
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

// skipEvery is how often tasks are asked which of Google's calendars they skip. Each is read once a day.
const skipEvery = time.Minute

// watchSkipped keeps a copy of the days that Google's calendars take, for the tasks that skip them.
func watchSkipped(ctx context.Context, b *Bot) error {
	ticks := time.NewTicker(skipEvery)
	defer ticks.Stop()
	for {
		b.readSkipped(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// readSkipped reads those of Google's calendars that are due to be read.
func (b *Bot) readSkipped(ctx context.Context) {
	due := b.index.Shelf().Due(b.now())
	if len(due) == 0 {
		return
	}
	days, failed := b.google.DaysOff(ctx, due)
	if ctx.Err() != nil {
		return
	}
	if err := b.index.Shelf().Keep(b.now(), days, failed); err != nil {
		b.log.Warn("the days of Google's calendars were not kept", "error", err)
	}
}

// windowNear reports whether a window is open or opens before the second next check.
func windowNear(day []schedule.Entry, now time.Time) bool {
	for _, e := range day {
		if (!e.Until.IsZero() || e.Reason != "") && e.FireTime.Before(now.Add(2*lookEvery)) {
			return true
		}
	}
	return false
}

// FireClockShort is FireClock in fewer cells: a range without the minutes of full hours, as in
// "09–11" and "9–11:30am".
func (s *Snapshot) FireClockShort(e schedule.Entry) string {
	if e.Until.IsZero() {
		return s.FireClock(e)
	}
	begin, end := strings.Replace(s.Clock(e.FireTime, "15:04"), ":00", "", 1), strings.Replace(s.Clock(e.Until, "15:04"), ":00", "", 1)
	for _, half := range []string{"am", "pm"} {
		if strings.HasSuffix(begin, half) && strings.HasSuffix(end, half) {
			begin = strings.TrimSuffix(begin, half)
		}
	}
	return begin + "–" + end
}

// FireClock formats when a fire happens: a range until its minute is chosen.
func (s *Snapshot) FireClock(e schedule.Entry) string {
	at := s.Clock(e.FireTime, "15:04")
	if e.Until.IsZero() {
		return at
	}
	return at + "–" + s.Clock(e.Until, "15:04")
}
