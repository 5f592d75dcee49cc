package leeway

import (
	"math/rand/v2"
	"testing"
	"time"
)

// user is a synthetic user: the sessions at their desk on a day, in minutes since midnight.
type user struct {
	name string
	seed uint64
	day  func(r *rand.Rand, day time.Weekday) [][2]int
}

// around is a session of some minutes that begins near a minute.
func around(r *rand.Rand, minute, spread, long int) [2]int {
	at := max(0, minute+int(r.NormFloat64()*float64(spread)))
	return [2]int{at, min(at+long/2+r.IntN(long), 24*60)}
}

// The seeds are fixed, so that the figures in docs/routines-howto.md can be repeated.
var users = []user{
	{"early bird", 1, func(r *rand.Rand, _ time.Weekday) [][2]int {
		return [][2]int{around(r, 6*60, 15, 60), around(r, 9*60+15, 15, 45), around(r, 14*60, 40, 60)}
	}},
	{"night owl", 2, func(r *rand.Rand, _ time.Weekday) [][2]int {
		return [][2]int{around(r, 10*60+50, 20, 50), around(r, 15*60, 40, 90), around(r, 22*60, 40, 90)}
	}},
	{"irregular", 3, func(r *rand.Rand, day time.Weekday) [][2]int {
		if day == time.Saturday || day == time.Sunday {
			return [][2]int{around(r, 11*60+30, 90, 60)}
		}
		return [][2]int{around(r, 9*60+30, 60, 40), around(r, 8*60+r.IntN(600), 1, 60), around(r, 19*60, 90, 60)}
	}},
}

// answerWithin is how soon a ping has to be seen to be answered.
const answerWithin = 15 * time.Minute

// live lives 90 days with a ping each, and returns how many were answered. The bot learns from the
// answers, and from what the user writes to it in one of three sessions.
func (u user) live(windows bool) (answered int) {
	begin := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	w := Window{From: 9 * 60, To: 12 * 60}
	var active []time.Time
	for n := range 90 {
		day := begin.AddDate(0, 0, n)
		r := rand.New(rand.NewPCG(u.seed, uint64(n))) // the same days, whatever was answered
		sessions := u.day(r, day.Weekday())
		ping := w.Start(day)
		if windows {
			f := Fire{ID: "a", Rule: Rule{Window: w}, Start: ping, End: w.on(day, w.To), Now: ping}
			ping = Choose(f, Facts{Habit: NewHabit(active, ping, time.UTC)}, nil).At
		}
		for _, s := range sessions {
			from, to := day.Add(time.Duration(s[0])*time.Minute), day.Add(time.Duration(s[1])*time.Minute)
			if writes := r.IntN(3) == 0; writes {
				active = append(active, from)
			}
			if seen := later(ping, from); seen.Before(to) && seen.Sub(ping) <= answerWithin {
				answered++
				active = append(active, seen)
				break
			}
		}
	}
	return answered
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func TestAWindowIsAnsweredMoreOftenThanAFixedTime(t *testing.T) {
	var fixed, chosen int
	for _, u := range users {
		f, c := u.live(false), u.live(true)
		t.Logf("%s: %d of 90 pings answered at 9:00, %d within 9:00-12:00", u.name, f, c)
		fixed, chosen = fixed+f, chosen+c
		if c < f {
			t.Errorf("%s answers less often: %d at a fixed time, %d in a window", u.name, f, c)
		}
	}
	if chosen <= fixed {
		t.Errorf("%d answers in windows, %d at fixed times", chosen, fixed)
	}
}
