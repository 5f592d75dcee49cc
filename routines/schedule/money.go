package schedule

import (
	"time"

	"ollimbot/routines"
)

// reserve sets aside what a run costs; the zero time says that it may start.
func (s *Schedule) reserve(d Due, now time.Time, firm bool) (ticket string, until time.Time) {
	if s.o.Purse == nil {
		return "", time.Time{}
	}
	return s.o.Purse.Reserve(d.Task(), now, firm)
}

// holdForMoney passes over the fire of a routine, as a snooze would, and lets a
// reminder wait for its money.
func (s *Schedule) holdForMoney(d Due, until time.Time) {
	t := d.Task()
	s.o.Log.Info("fire held for money", "task", t.ID, "due", d.At, "until", until)
	s.touched = true
	if d.Kind == routines.KindReminder {
		s.plan.put(item{spot: spot{key: d.key()}, at: d.At, when: until, late: true, broke: true})
		return
	}
	b := s.book.entry(t.ID)
	b.Passed, b.Why = d.At, fateHeld
}

// reviewMoney lets reminders go on that there is money for again.
func (s *Schedule) reviewMoney(now time.Time) {
	s.touched = true
	stand := s.standing(now)
	for _, it := range s.plan.which(func(it item) bool {
		r, ok := s.Set().ReminderByID(it.id)
		return it.broke && ok && stand.price(&r.Task).Until.IsZero()
	}) {
		it.when, it.broke = s.nextSlot(now), false
		s.plan.put(it)
	}
}

// standing is what holds tasks at a moment: the user, and for want of money.
type standing struct {
	*Holds
	now   time.Time
	price func(*routines.Task) Price
}

func (s *Schedule) standing(now time.Time) standing {
	price := func(*routines.Task) Price { return Price{} }
	if s.o.Purse != nil {
		price = s.o.Purse.At(now)
	}
	return standing{s.Holds(), now, price}
}

// Of is the hold of a task: the user's where there is one that has not ended.
func (s standing) Of(t *routines.Task) Hold {
	one := s.Holds.Of(t)
	if t.Critical || !one.Ended(s.now) {
		return one
	}
	if until := s.price(t).Until; !until.IsZero() {
		return Hold{Since: s.now, Until: until, Money: true}
	}
	return one
}

// broke reports whether a reminder waits for money: its run is not under way.
func (s standing) broke(r *routines.Reminder, known *fates) bool {
	at, _ := s.dueAt(r)
	return s.Of(&r.Task).Money && known.reminder(r.ID, at) != fateRunning
}
