package leeway

import (
	"math"
	"strings"
	"time"
)

const (
	// apart is the distance to keep between pings if possible.
	apart = 20 * time.Minute
	// crowded is the factor for a minute right next to another ping.
	crowded = 0.3
	// mostMinutes is the maximum number of minutes compared; long windows are sampled.
	mostMinutes = 240
	// known is the weight from which a habit is assumed: activity at that time on the same
	// weekday, or on two other days of the same kind.
	known = 0.5
)

// Busy is a period in which the user should not be disturbed.
type Busy struct {
	From, To time.Time
	Why      string // the reason, "meeting" or "conversation", which ends at To
}

// Facts describe the user's time around a window.
type Facts struct {
	Habit *Habit
	Busy  []Busy
}

// Fire is a fire to be placed in its window.
type Fire struct {
	ID    string
	Rule  Rule
	Start time.Time // the task's time, in the user's zone
	End   time.Time // the latest moment: the rule's, or earlier
	Now   time.Time // the earliest moment; Start if that is later
}

// Open reports whether the fire can still happen in its window.
func (f Fire) Open(now time.Time) bool { return f.Rule != Rule{} && !now.After(f.End) }

// Choice is a moment with the reason for it, worded for the user.
type Choice struct {
	At  time.Time
	Why string
}

// The reasons for a choice.
const (
	whyHabit  = "you are usually here then"
	whyNone   = "no habit is known at this time"
	whyApart  = "apart from other pings"
	whyEnd    = "the window ends"
	whyJitter = "a different minute each day"
	untilWord = " until "
)

// Choose places a fire at the remaining minute of its window at which the user is most
// likely to be active and not busy, at a distance from other pings. At the end of the
// window it fires whatever the facts are. Of equally good minutes the first one wins, so
// as the window shrinks the choice stays the same or moves later.
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
	// Choose again without each of the facts: one is a reason only if it made a difference.
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

// best returns the first minute with the highest worth above 0. It considers the minutes
// of the whole window, so that they do not depend on how much of it is left.
func best(f Fire, delay time.Duration, worth func(time.Time) float64) (at time.Time, found bool) {
	most := math.Inf(-1) // a minute without worth is never chosen
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

// coarse rounds to steps of a tenth, so that small differences do not delay a ping for a
// user who is always active.
func coarse(worth float64) float64 { return math.Round(math.Log2(worth) * 7) }

// within clamps a moment to the rest of the window.
func within(at time.Time, f Fire) time.Time {
	if at.Before(f.Now) {
		at = f.Now
	}
	if at.After(f.End) {
		return f.End
	}
	return at
}

// blocked returns the busy period at a moment, or nil.
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

// distance is 1 for a minute without other pings around, and smaller the closer the
// nearest is.
func distance(at time.Time, others []time.Time) float64 {
	least := 1.0
	for _, o := range others {
		if gap := at.Sub(o).Abs(); gap < apart {
			least = min(least, crowded+(1-crowded)*float64(gap)/float64(apart))
		}
	}
	return least
}

// reasons adds what the fire waited for: the last busy period in the skipped part of the
// window.
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
