package core

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/google"
	"ollimbot/routines/leeway"
	"ollimbot/routines/schedule"
)

func TestOnlyAnAppointmentThatTakesTheUserIsAMeeting(t *testing.T) {
	at := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	hour := func(n int, i google.Item) google.Item {
		i.Start, i.End = at.Add(time.Duration(n)*time.Hour), at.Add(time.Duration(n+1)*time.Hour)
		return i
	}
	is(t, "meetings", meetings([]google.Item{
		hour(0, google.Item{Title: "Dana"}), hour(1, google.Item{Title: "Focus", Free: true}), hour(2, google.Item{Title: "Holiday", AllDay: true}),
		hour(3, google.Item{Tasks: []google.Task{{Title: "Bread"}}}),
	}), []leeway.Busy{{From: at, To: at.Add(time.Hour), Why: busyMeeting}})
}

// A choice takes the conversation, a mute, quiet hours and the habit into account, each as long as it lasts.
func TestAChoiceKnowsWhatTheUserIsDoing(t *testing.T) {
	story(t, moves, func(w *world) {
		u := newUserFacts(w.Bot)
		why := func() string {
			var list []string
			for _, busy := range u.between(w.now(), w.now().Add(3*time.Hour)).Busy {
				list = append(list, busy.Why)
			}
			return strings.Join(list, " ")
		}
		w.is("at the beginning", why(), "")
		w.book.Add(transcript.User, "hello")
		w.sleep(4 * time.Minute)
		w.is("after four minutes", why(), "conversation")
		w.sleep(2 * time.Minute)
		w.is("after six minutes", why(), "")
		w.do(command.MuteUntil{Until: w.now().Add(time.Hour)})
		w.do(command.SetConfig{Key: "quiet_hours", Value: "03:00-04:00"})
		w.shows("muted, with quiet hours ahead", why(), busyMuted, busyQuiet)
		day := time.Date(2000, 1, 3, 8, 0, 0, 0, w.home.zone)
		f := leeway.Fire{Rule: leeway.Rule{Window: leeway.Window{From: 8 * 60, To: 12 * 60}}, Start: day, End: day.Add(4 * time.Hour), Now: day}
		c := leeway.Choose(f, leeway.Facts{Habit: u.between(w.now(), f.End).Habit}, nil)
		at := c.At.In(w.home.zone).Format("15:04")
		w.holds(at >= "09:15" && at <= "09:45" && strings.Contains(c.Why, "usually here"), "with answers at 9:30 it chooses", at, c.Why)
	})
}

// The habit is recomputed after a message or an answer, and after an hour.
func TestAHabitIsKeptUntilSomethingChanges(t *testing.T) {
	story(t, nil, func(w *world) {
		u := newUserFacts(w.Bot)
		first, _ := u.habit(w.now())
		again, _ := u.habit(w.now().Add(time.Minute))
		w.is("the same without a change", again == first, true)
		again, _ = u.habit(w.now().Add(2 * time.Hour))
		w.is("the same two hours later", again == first, false)
		first, _ = u.habit(w.now())
		w.book.Add(transcript.User, "hello")
		again, last := u.habit(w.now())
		w.is("the same after a message", again == first, false)
		w.holds(last.Equal(w.now()), "the last message is of", last)
	})
}

func TestAWindowIsNearBeforeItOpensAndWhileItIsOpen(t *testing.T) {
	now := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		e    schedule.Entry
		want bool
	}{
		{schedule.Entry{FireTime: now.Add(time.Minute)}, false}, // no window
		{schedule.Entry{FireTime: now.Add(9 * time.Minute), Until: now.Add(time.Hour)}, true},
		{schedule.Entry{FireTime: now.Add(11 * time.Minute), Until: now.Add(time.Hour)}, false},
		{schedule.Entry{FireTime: now.Add(time.Minute), Reason: "you are usually here then"}, true},
		{schedule.Entry{FireTime: now.Add(-time.Minute), Until: now.Add(time.Hour)}, true},
	} {
		is(t, fmt.Sprintf("%+v", c.e), windowNear([]schedule.Entry{c.e}, now), c.want)
	}
}

func TestAFireIsARangeUntilItsMinuteIsChosen(t *testing.T) {
	day := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct{ from, until, clock, clock12, short, short12 string }{
		{"13h5m", "", "13:05", "1:05pm", "13:05", "1:05pm"},
		{"13h5m", "15h5m", "13:05–15:05", "1:05pm–3:05pm", "13:05–15:05", "1:05–3:05pm"},
		{"9h", "11h", "", "", "09–11", "9–11am"},
		{"9h30m", "11h", "", "", "09:30–11", "9:30–11am"},
		{"11h", "13h", "", "", "11–13", "11am–1pm"},
		{"22h", "24h10m", "", "", "22–00:10", "10pm–12:10am"},
		{"10h1m", "", "", "", "10:01", "10:01am"},
	} {
		s, e := Snapshot{At: day, Zone: time.UTC}, schedule.Entry{}
		for text, at := range map[string]*time.Time{c.from: &e.FireTime, c.until: &e.Until} {
			if d, err := time.ParseDuration(text); err == nil {
				*at = day.Add(d)
			}
		}
		got := []string{s.FireClock(e), "", s.FireClockShort(e), ""}
		s.TwelveHours = true
		got[1], got[3] = s.FireClock(e), s.FireClockShort(e)
		if c.clock == "" {
			got = got[2:]
			is(t, c.from+" to "+c.until, got, []string{c.short, c.short12})
			continue
		}
		is(t, c.from+" to "+c.until, got, []string{c.clock, c.clock12, c.short, c.short12})
	}
}
