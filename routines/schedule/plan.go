package schedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// key names a task: a routine and a reminder may share an id.
type key struct {
	kind routines.Kind
	id   string
}

func routineKey(id string) key  { return key{routines.KindRoutine, id} }
func reminderKey(id string) key { return key{routines.KindReminder, id} }

// spot is what there can be one of in the plan: the next fire of a task, or with
// catchUp the late run of a missed routine, beside its next fire.
type spot struct {
	key
	catchUp bool
}

// item is one thing to come.
type item struct {
	spot
	at     time.Time // the scheduled instant
	when   time.Time // when to act: at, or later where it queues up
	late   bool      // of a reminder: it was overdue when it was planned
	missed int
	broke  bool // of a reminder: it waits for money until when
}

// plan holds what is to come.
type plan map[spot]item

// compare orders by when, then by scheduled instant, then by task, so that the order
// is the same every time.
func (it item) compare(o item) int {
	return cmp.Or(it.when.Compare(o.when), it.at.Compare(o.at), cmp.Compare(it.kind, o.kind), cmp.Compare(it.id, o.id))
}

func (p plan) put(it item) { p[it.spot] = it }

// next is when the first item wants to be acted on; zero where there is none.
func (p plan) next() (first time.Time) {
	for _, it := range p {
		if first.IsZero() || it.when.Before(first) {
			first = it.when
		}
	}
	return first
}

// which are the items of a kind, in their order.
func (p plan) which(wanted func(item) bool) (list []item) {
	for _, it := range p {
		if wanted(it) {
			list = append(list, it)
		}
	}
	slices.SortFunc(list, item.compare)
	return list
}

const (
	// maxRewind is how far ahead of the clock a last fire may lie and still be
	// waited for.
	maxRewind = 3 * time.Hour
	// maxLeap is a leap of the clock that cannot be a suspension.
	maxLeap = 366 * 24 * time.Hour
	// firstYearSet is the first year of a clock that somebody has set.
	firstYearSet = 1990
	// grace makes a routine count that is saved in the second it is due.
	grace = time.Second
	// mostMissed is where the counting of missed fires ends.
	mostMissed = 100
)

// begin plans everything from the book, as at a start.
func (s *Schedule) begin(now time.Time) {
	s.wall = now
	if s.unset = now.Year() < firstYearSet; s.unset {
		s.notes = append(s.notes, fmt.Sprintf(msgClockUnset, now.Format(clockDate+", 15:04")))
		s.o.Log.Warn("the clock has not been set; nothing fires until it is", "clock", now)
		s.noteProblems()
		return
	}
	s.book = readBook(s.o.Dir, s.o.Log)
	if err := s.holds.read(s.o.Dir); err != nil {
		s.o.Log.Error("which tasks are paused or snoozed could not be read; all of them fire", "error", err)
	}
	set := s.Set()
	for id, b := range s.book.Routines {
		if _, ok := set.RoutineByID(id); !ok && b.Removed.IsZero() {
			b.Removed = now
		}
		if !b.Removed.IsZero() && now.Sub(b.Removed) > keepRemoved {
			delete(s.book.Routines, id)
		}
	}
	s.noteContested(now)
	s.replan(now)
	s.noteProblems()
}

// replan plans everything anew from what the book says.
func (s *Schedule) replan(now time.Time) {
	s.plan, s.slot = plan{}, time.Time{}
	set := s.Set()
	for _, r := range set.Routines {
		s.syncRoutine(r.ID, now)
	}
	for _, r := range set.Reminders {
		s.syncReminder(r.ID, now)
	}
	s.touched = true
}

// judgeClock compares the clock with the one of the last step.
func (s *Schedule) judgeClock(now time.Time) {
	was := s.wall
	s.wall = now
	switch {
	case s.unset:
		if now.Year() >= firstYearSet {
			s.o.Log.Info("the clock has been set", "from", was, "to", now)
			s.begin(now)
		}
	case now.Year() < firstYearSet:
		s.save()
		s.begin(now)
	case now.Before(was.Add(-grace)):
		s.o.Log.Warn("the clock was set back", "from", was, "to", now)
		s.replan(now)
	case now.Sub(was) > maxLeap:
		s.o.Log.Warn("the clock leapt ahead", "from", was, "to", now)
		s.notes = append(s.notes, fmt.Sprintf(msgClockLeapt, was.Format(clockDate), now.Format(clockDate)))
		for _, b := range s.book.Routines {
			b.notOwed(now)
		}
		s.laterSave(now)
		s.replan(now)
	}
}

// sync brings the plan in line with the files of one id.
func (s *Schedule) sync(id string, now time.Time) {
	if s.unset {
		return // begin will look at all of them
	}
	s.touched = true
	s.syncRoutine(id, now)
	s.syncReminder(id, now)
}

// noteContested keeps in mind which of the files with one id is in force.
func (s *Schedule) noteContested(now time.Time) {
	if list := s.Set().Contested; !s.unset && !slices.Equal(list, s.book.InForce) {
		s.book.InForce = list
		s.saveAt = now // commands beside the bot go by it
	}
}

func (s *Schedule) syncRoutine(id string, now time.Time) {
	at, catchUp := spot{key: routineKey(id)}, spot{key: routineKey(id), catchUp: true}
	r, ok := s.Set().RoutineByID(id)
	if !ok {
		delete(s.plan, at)
		delete(s.plan, catchUp)
		if b, known := s.book.Routines[id]; known && b.Removed.IsZero() {
			b.Removed = now
			s.laterSave(now)
		}
		return
	}
	b, waits := s.book.entry(id), r.Waits != ""
	was := *b
	// A routine that is new, that has new times, that was away, or that may go on
	// does not owe the fires from before. A file that is renamed is away for a moment.
	away := !b.Removed.IsZero() && now.Sub(b.Removed) > onTime
	if b.Cron != r.Cron || away || b.Waits && !waits {
		b.notOwed(now.Add(-grace).Truncate(time.Second))
		delete(s.plan, catchUp)
	}
	b.Cron, b.Removed, b.Waits = r.Cron, time.Time{}, waits
	if _, planned := s.plan[catchUp]; !b.Late.IsZero() {
		age := now.Sub(b.Late)
		switch {
		case s.heldAt(&r.Task, now):
			b.Late = time.Time{}
			delete(s.plan, catchUp)
		case planned:
		case !r.RunMissed || age > runMissedFor || age < 0:
			b.Late = time.Time{}
		default:
			s.plan.put(item{spot: catchUp, at: b.Late, when: s.nextSlot(now)})
		}
	}
	if *b != was {
		s.laterSave(now)
	}
	s.planRoutine(r, now)
}

// planRoutine puts the routine's next fire into the plan: the first after
// everything that was fired, missed or held before.
func (s *Schedule) planRoutine(r *routines.Routine, now time.Time) {
	b := s.book.entry(r.ID)
	after := b.After
	if after.After(now) {
		after = now.Add(-grace) // missed under a clock that ran ahead: not really
	}
	hold := s.Holds().Of(&r.Task)
	if !hold.Until.IsZero() && after.Before(hold.after()) {
		after = hold.after()
	}
	ahead := b.LastFire.Sub(now)
	if b.LastFire.After(after) && ahead <= maxRewind {
		after = b.LastFire
	}
	next := nextFire(r.Schedule, after.Unix()+1, s.o.Zone)
	if next != never && ahead > maxRewind && next == b.LastFire.Unix() {
		next = nextFire(r.Schedule, next+1, s.o.Zone)
	}
	it := item{spot: spot{key: routineKey(r.ID)}}
	if next == never || hold.open() {
		delete(s.plan, it.spot)
		return
	}
	it.at = s.time(next)
	it.when = it.at
	s.plan.put(it)
}

func (s *Schedule) syncReminder(id string, now time.Time) {
	it := item{spot: spot{key: reminderKey(id)}}
	r, ok := s.Set().ReminderByID(id)
	if !ok {
		delete(s.spent, id)
		delete(s.plan, it.spot)
		return
	}
	s.mu.Lock()
	_, busy := s.running[it.key]
	s.mu.Unlock()
	// A running one is looked at again when it has ended.
	if spent, had := s.spent[id]; busy || had && spent.Equal(r.RunAt) {
		return
	}
	at, free := s.Holds().dueAt(r)
	if !free {
		delete(s.plan, it.spot)
		return
	}
	if old, planned := s.plan[it.spot]; planned && old.at.Equal(at) {
		return // it keeps its place among the late ones
	}
	it.at, it.when = at.Round(0), at.Round(0)
	if it.at.Before(now) {
		it.late, it.when = true, s.nextSlot(now)
	}
	s.plan.put(it)
}

// nextSlot is when the next late task may start.
func (s *Schedule) nextSlot(now time.Time) time.Time {
	at := now.Add(lateDelay)
	if next := s.slot.Add(lateSpacing); !s.slot.IsZero() && next.After(at) {
		at = next
	}
	s.slot = at
	return at
}

// time is a moment in unix seconds; never is the zero time.
func (s *Schedule) time(sec int64) time.Time {
	if sec == never {
		return time.Time{}
	}
	return time.Unix(sec, 0).In(s.o.Zone)
}

// never is the fire of a schedule that has none.
const never = math.MaxInt64

// nextFire is the schedule's Next in unix seconds, never when there is none.
func nextFire(s cron.Schedule, sec int64, zone *time.Location) int64 {
	next := s.Next(time.Unix(sec, 0).In(zone))
	if next.IsZero() {
		return never
	}
	return next.Unix()
}

// ceilSecond is the first whole second at or after t.
func ceilSecond(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// after is the first whole second behind t.
func after(t time.Time) time.Time { return time.Unix(t.Unix()+1, 0) }

// lastFires counts the fires from first, which is one, to now: the last, the one
// before it, and how many there are, at most mostMissed.
func lastFires(s cron.Schedule, first, now int64, zone *time.Location) (last, before int64, n int) {
	last, before, n = first, first, 1
	walk := func(most int) bool {
		for ; n < most; n++ {
			next := nextFire(s, last+1, zone)
			if next > now {
				return true
			}
			before, last = last, next
		}
		return false
	}
	if walk(mostMissed) {
		return last, before, n
	}
	// Too many to count. The last one is found from behind, looking back ever further.
	for back := int64(3600); ; back *= 4 {
		from := max(last, now-back)
		if at := nextFire(s, from, zone); at <= now {
			last, before = at, at
			walk(math.MaxInt)
			return last, before, mostMissed
		}
	}
}
