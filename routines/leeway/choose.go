package leeway

import (
	"math"
	"strings"
	"time"
)

const (
	// apart is the distance that pings keep from each other if they can.
	apart = 20 * time.Minute
	// crowded is what is left of the weight of a minute right beside another ping.
	crowded = 0.3
	// mostMinutes is how many minutes are compared: in a long window not all of them.
	mostMinutes = 240
	// known is the weight from which on there is a habit: of the user's activity at that time on
	// the same day of the week, or on two other days like it.
	known = 0.5
)

// Busy is a time at which the user is not to be disturbed.
type Busy struct {
	From, To time.Time
	Why      string // "meeting", "conversation": what ends at To
}

// Facts are what is known of the user around a window.
type Facts struct {
	Habit *Habit
	Busy  []Busy
}

// Fire is a fire that is to be placed.
type Fire struct {
	ID    string
	Rule  Rule
	Start time.Time // its own time, in the user's zone
	End   time.Time // the last moment for it: that of the rule, or earlier
	Now   time.Time // it comes now or later; before Start, that is Start
}

// Open reports whether the fire can still come in time.
func (f Fire) Open(now time.Time) bool { return f.Rule != Rule{} && !now.After(f.End) }

// Choice is a moment and the reason for it, in words for the user.
type Choice struct {
	At  time.Time
	Why string
}

// The reasons.
const (
	whyHabit  = "you are usually here then"
	whyNone   = "no habit is known at this time"
	whyApart  = "apart from other pings"
	whyEnd    = "the window ends"
	whyJitter = "a different minute each day"
	untilWord = " until "
)

// Choose places a fire: at the minute that is left of its window at which the user is most likely
// to be active, that is not busy and keeps its distance from the other pings. At the end of the
// window it fires, whatever the facts say. Of equally good minutes the first one wins, so with
// less of the window left the choice is the same or a later one.
func Choose(f Fire, facts Facts, others []time.Time) Choice {
	delay := f.Rule.delay(f.ID, f.Start)
	if f.Rule.Window.IsZero() {
		return Choice{At: within(f.Start.Add(delay), f), Why: whyJitter}
	}
	p := facts.Habit.profile(f.Start.Weekday())
	weigh := func(at time.Time) float64 { return p.at(at.Hour()*60+at.Minute()) + 1e-9 }
	free, found := best(f, delay, func(at time.Time) float64 {
		if blocked(facts.Busy, at) != nil {
			return 0
		}
		return weigh(at) * distance(at, others)
	})
	if !found {
		return Choice{At: within(f.End, f), Why: reasons(f, facts.Busy, f.End, whyEnd)}
	}
	// Both are asked again without one of the facts: it is a reason only if it made a difference.
	crowd, _ := best(f, delay, func(at time.Time) float64 {
		if blocked(facts.Busy, at) != nil {
			return 0
		}
		return weigh(at)
	})
	why := whyNone
	if weigh(free) >= known {
		why = whyHabit
	}
	if !crowd.Equal(free) {
		why += "; " + whyApart
	}
	return Choice{At: free, Why: reasons(f, facts.Busy, free, why)}
}

// best is the first of the minutes with the greatest worth above 0. The minutes are those of the
// whole window, so that they do not depend on how much of it is left.
func best(f Fire, delay time.Duration, worth func(time.Time) float64) (at time.Time, found bool) {
	most := math.Inf(-1) // what is worth nothing is no better
	step := time.Minute * max(1, f.End.Sub(f.Start)/(mostMinutes*time.Minute))
	for m := f.Start.Add(delay); m.Before(f.End); m = m.Add(step) {
		if m.Before(f.Now) {
			continue
		}
		if w := coarse(worth(m)); w > most {
			at, found, most = m, true, w
		}
	}
	return at, found
}

// coarse rounds to steps of a tenth, so that a user who is always here is not kept waiting for a
// difference that means nothing.
func coarse(worth float64) float64 { return math.Round(math.Log2(worth) * 7) }

// within keeps a moment inside of what is left of the window.
func within(at time.Time, f Fire) time.Time {
	if at.Before(f.Now) {
		at = f.Now
	}
	if at.After(f.End) {
		at = f.End
	}
	if at.Before(f.Start) {
		at = f.Start
	}
	return at
}

// blocked is what makes the user busy at a moment.
func blocked(busy []Busy, at time.Time) *Busy {
	for i, b := range busy {
		if !at.Before(b.From) && at.Before(b.To) {
			return &busy[i]
		}
	}
	return nil
}

// BusyAt reports whether the user is busy at a moment.
func (f Facts) BusyAt(at time.Time) bool { return blocked(f.Busy, at) != nil }

// distance is 1 for a minute with no other ping around, and less the nearer one is.
func distance(at time.Time, others []time.Time) float64 {
	least := 1.0
	for _, o := range others {
		if gap := at.Sub(o).Abs(); gap < apart {
			least = min(least, crowded+(1-crowded)*float64(gap)/float64(apart))
		}
	}
	return least
}

// reasons adds what had to end first: the last busy time in the part of the window that passes.
func reasons(f Fire, busy []Busy, at time.Time, why string) string {
	var last *Busy
	for i, b := range busy {
		if b.To.After(f.Start) && b.From.Before(at) && (last == nil || b.To.After(last.To)) {
			last = &busy[i]
		}
	}
	if last == nil {
		return why
	}
	return strings.Join([]string{why, last.Why + untilWord + last.To.In(f.Start.Location()).Format("15:04")}, "; ")
}
