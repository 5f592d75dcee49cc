package habits

import (
	"math"
	"slices"
	"time"
)

const (
	// Memory is how far back facts reach.
	Memory = 84 * 24 * time.Hour
	// most is how many of the newest pings are looked at. It bounds the time of everything here,
	// however old a journal is.
	most = 1000
	// leastAll and leastPart are how many pings there must be, in all and at an hour or on a day.
	leastAll, leastPart = 30, 8
	// certain is how many standard deviations make a difference.
	certain = 2.58
	// often and seldom are what an answer rate must be to be called good or bad at all.
	often, seldom = 0.5, 0.25
	// inTime is how soon a ping has to be answered to count as answered.
	inTime = time.Hour
)

// Ask is a ping that was sent, or a fire that the user snoozed before it came.
type Ask struct {
	Task    string
	At      time.Time // when it came, or was to come
	Acted   time.Time // when the user answered it, or the end of the snooze; zero for never
	Snoozed bool
}

// Rate is how many pings were answered within an hour.
type Rate struct{ Sent, Answered int }

// Share is the part that was answered, from 0 to 1; zero without pings.
func (r Rate) Share() float64 {
	if r.Sent == 0 {
		return 0
	}
	return float64(r.Answered) / float64(r.Sent)
}

// bounds is the Wilson interval of the rate.
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

// Task is how the pings of a task fare.
type Task struct {
	Rate
	Median  time.Duration // of the times to the answer; zero without answers
	Snoozed int
}

// Facts are what is known of the user's answers.
type Facts struct {
	All      Rate
	Hours    [24]Rate
	Weekdays [7]Rate
	Tasks    map[string]Task
}

// Learn counts pings, in any order; what is too old or in the future says nothing. zone is where
// the user lives.
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

// tidy drops what says nothing. What is in a joined journal twice counts once, with its answer.
func tidy(asks []Ask, now time.Time, memory time.Duration) []Ask {
	type key struct {
		task string
		at   int64
	}
	asks = asks[max(0, len(asks)-most):]
	kept := make([]Ask, 0, len(asks))
	place := make(map[key]int, len(asks))
	for _, a := range asks {
		if age := now.Sub(a.At); age < 0 || age > memory {
			continue
		}
		if a.Acted.Before(a.At) || a.Acted.After(now) {
			a.Acted = time.Time{}
		}
		k := key{a.Task, a.At.Unix()}
		i, twice := place[k]
		switch {
		case !twice:
			place[k] = len(kept)
			kept = append(kept, a)
		case kept[i].Acted.IsZero():
			kept[i] = a
		}
	}
	return kept
}

// better and worse report whether a rate differs from that of all pings.
func (f Facts) better(r Rate) bool {
	low, _ := r.bounds()
	return f.enough(r) && r.Share() >= often && low > f.All.Share()
}

func (f Facts) worse(r Rate) bool {
	_, high := r.bounds()
	return f.enough(r) && r.Share() <= seldom && high < f.All.Share()
}

func (f Facts) enough(r Rate) bool { return r.Sent >= leastPart && f.All.Sent >= leastAll }
