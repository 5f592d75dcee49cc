package habits

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	// Memory is the age of the oldest pings considered.
	Memory = 84 * 24 * time.Hour
	// most is the maximum number of pings considered, the newest first. It bounds the
	// running time however long the journal is.
	most = 1000
	// leastAll and leastPart are the minimum numbers of pings: in all, and at an hour or on
	// a weekday.
	leastAll, leastPart = 30, 8
	// certain is the width of the Wilson interval, in standard deviations.
	certain = 2.58
	// often and seldom are the answer rates from which an hour can be good, and up to which
	// it can be bad.
	often, seldom = 0.5, 0.25
	// inTime is how soon a ping must be answered to count as answered.
	inTime = time.Hour
)

// Ask is a ping that was sent, or a fire that the user snoozed in advance.
type Ask struct {
	Task    string
	At      time.Time // when it was sent or due
	Acted   time.Time // when the user answered, or the end of the snooze; zero for never
	Snoozed bool
}

// Rate counts pings and those answered within an hour.
type Rate struct{ Sent, Answered int }

// Share returns the answered fraction, from 0 to 1; zero without pings.
func (r Rate) Share() float64 {
	if r.Sent == 0 {
		return 0
	}
	return float64(r.Answered) / float64(r.Sent)
}

// bounds returns the Wilson interval of the rate.
func (r Rate) bounds() (low, high float64) {
	n, p, z := float64(r.Sent), r.Share(), certain
	middle := p + z*z/(2*n)
	wide := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return (middle - wide) / (1 + z*z/n), (middle + wide) / (1 + z*z/n)
}

func (r *Rate) count(answered bool) {
	r.Sent++
	if answered {
		r.Answered++
	}
}

// Task is the record of a task's pings.
type Task struct {
	Rate
	Median  time.Duration // median time until an answer; zero without answers
	Snoozed int
}

// Facts describe how the user answers pings.
type Facts struct {
	All      Rate
	Hours    [24]Rate
	Weekdays [7]Rate
	Tasks    map[string]Task
}

// Learn evaluates pings in any order. It ignores those that are too old or in the future.
// zone is the user's time zone.
func Learn(asks []Ask, now time.Time, zone *time.Location) Facts {
	f := Facts{Tasks: map[string]Task{}}
	took := map[string][]time.Duration{}
	for _, a := range tidy(asks, now, Memory) {
		t := f.Tasks[a.Task]
		if a.Snoozed {
			t.Snoozed++
			f.Tasks[a.Task] = t
			continue
		}
		answered := !a.Acted.IsZero() && a.Acted.Sub(a.At) <= inTime
		at := a.At.In(zone)
		f.All.count(answered)
		f.Hours[at.Hour()].count(answered)
		f.Weekdays[at.Weekday()].count(answered)
		t.count(answered)
		f.Tasks[a.Task] = t
		if !a.Acted.IsZero() {
			took[a.Task] = append(took[a.Task], a.Acted.Sub(a.At))
		}
	}
	for id, list := range took {
		slices.Sort(list)
		t := f.Tasks[id]
		t.Median = list[len(list)/2]
		f.Tasks[id] = t
	}
	return f
}

// tidy returns the newest asks that say something, by their times, whatever the order of the
// list: callers append snoozes behind pings, and joined journals have pings twice. What is there
// twice counts once, with the first time at which the user acted.
func tidy(asks []Ask, now time.Time, memory time.Duration) []Ask {
	var kept []Ask
	for _, a := range asks {
		if age := now.Sub(a.At); age < 0 || age > memory {
			continue
		}
		if a.Acted.Before(a.At) || a.Acted.After(now) {
			a.Acted = time.Time{}
		}
		kept = append(kept, a)
	}
	slices.SortStableFunc(kept, func(a, b Ask) int {
		return cmp.Or(cmp.Compare(a.At.Unix(), b.At.Unix()), cmp.Compare(a.Task, b.Task), ignoredLast(a, b), a.Acted.Compare(b.Acted))
	})
	kept = slices.CompactFunc(kept, func(a, b Ask) bool { return a.At.Unix() == b.At.Unix() && a.Task == b.Task })
	return kept[max(0, len(kept)-most):]
}

// ignoredLast orders asks that the user never acted on behind all others.
func ignoredLast(a, b Ask) int {
	switch {
	case a.Acted.IsZero() == b.Acted.IsZero():
		return 0
	case a.Acted.IsZero():
		return 1
	}
	return -1
}

// better and worse report whether a rate differs significantly from that of all pings.
func (f Facts) better(r Rate) bool {
	low, _ := r.bounds()
	return f.enough(r) && r.Share() >= often && low > f.All.Share()
}

func (f Facts) worse(r Rate) bool {
	_, high := r.bounds()
	return f.enough(r) && r.Share() <= seldom && high < f.All.Share()
}

func (f Facts) enough(r Rate) bool { return r.Sent >= leastPart && f.All.Sent >= leastAll }
