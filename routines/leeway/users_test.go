package leeway

import (
	"testing"
	"time"

	"ollimbot/routines/leeway/usertest"
)

// answerWithin is how soon a ping must be seen to be answered.
const answerWithin = 15 * time.Minute

// live simulates 90 days with a ping each, and returns the number of answers. The bot
// learns from the answers, and from the user's messages in one of three sessions.
func live(u usertest.User, windows bool) (answered int) {
	begin := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	w := Window{From: 9 * 60, To: 12 * 60}
	var active []time.Time
	for n := range 90 {
		day, sessions, r := u.Day(begin, n) // the same days, whatever was answered
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
	for _, u := range usertest.All {
		f, c := live(u, false), live(u, true)
		t.Logf("%s: %d of 90 pings answered at 9:00, %d within 9:00-12:00", u.Name, f, c)
		fixed, chosen = fixed+f, chosen+c
		if c < f {
			t.Errorf("%s answers less often: %d at a fixed time, %d in a window", u.Name, f, c)
		}
	}
	if chosen <= fixed {
		t.Errorf("%d answers in windows, %d at fixed times", chosen, fixed)
	}
}
