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
	got := meetings([]google.Item{
		hour(0, google.Item{Title: "Dana"}), hour(1, google.Item{Title: "Focus", Free: true}), hour(2, google.Item{Title: "Holiday", AllDay: true}),
		hour(3, google.Item{Tasks: []google.Task{{Title: "Bread"}}}),
	})
	if want := []leeway.Busy{{From: at, To: at.Add(time.Hour), Why: busyMeeting}}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A choice takes the conversation, a mute, quiet hours and the habit into account, each
// as long as it lasts.
func TestAChoiceKnowsWhatTheUserIsDoing(t *testing.T) {
	running(t, func(h home) { movedFor(h, "aaaa0001", 60) }, func(h home, b *Bot) {
		u := newUserFacts(b)
		why := func() (list []string) {
			now := b.now()
			for _, busy := range u.between(now, now.Add(3*time.Hour)).Busy {
				list = append(list, busy.Why)
			}
			return list
		}
		if got := why(); len(got) != 0 {
			t.Errorf("at the beginning: %v", got)
		}
		b.book.Add(transcript.User, "hello")
		time.Sleep(4 * time.Minute)
		if got := fmt.Sprint(why()); got != "[conversation]" {
			t.Errorf("after four minutes: %s", got)
		}
		time.Sleep(2 * time.Minute)
		if got := why(); len(got) != 0 {
			t.Errorf("after six minutes: %v", got)
		}
		do(t, b, command.MuteUntil{Until: b.now().Add(time.Hour)})
		do(t, b, command.SetConfig{Key: "quiet_hours", Value: "03:00-04:00"})
		if got := strings.Join(why(), " "); !strings.Contains(got, busyMuted) || !strings.Contains(got, busyQuiet) {
			t.Errorf("muted, with quiet hours ahead: %s", got)
		}
		day := time.Date(2000, 1, 3, 8, 0, 0, 0, h.zone)
		f := leeway.Fire{Rule: leeway.Rule{Window: leeway.Window{From: 8 * 60, To: 12 * 60}}, Start: day, End: day.Add(4 * time.Hour), Now: day}
		c := leeway.Choose(f, leeway.Facts{Habit: u.between(b.now(), f.End).Habit}, nil)
		if got := c.At.In(h.zone).Format("15:04"); got < "09:15" || got > "09:45" || !strings.Contains(c.Why, "usually here") {
			t.Errorf("with answers at 9:30 it chooses %s: %s", got, c.Why)
		}
	})
}

// The habit is recomputed after a message or an answer, and after an hour.
func TestAHabitIsKeptUntilSomethingChanges(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		u := newUserFacts(b)
		first, _ := u.habit(b.now())
		if again, _ := u.habit(b.now().Add(time.Minute)); again != first {
			t.Error("without a change it is made again")
		}
		if again, _ := u.habit(b.now().Add(2 * time.Hour)); again == first {
			t.Error("two hours later it is the same")
		}
		first, _ = u.habit(b.now())
		b.book.Add(transcript.User, "hello")
		if again, last := u.habit(b.now()); again == first || !last.Equal(b.now()) {
			t.Errorf("after a message it is the same; the last is of %s", last)
		}
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
		if got := windowNear([]schedule.Entry{c.e}, now); got != c.want {
			t.Errorf("%+v: %v", c.e, got)
		}
	}
}

func TestAFireIsARangeUntilItsMinuteIsChosen(t *testing.T) {
	at := time.Date(2026, 11, 27, 13, 5, 0, 0, time.UTC)
	s := Snapshot{At: at, Zone: time.UTC}
	e := schedule.Entry{FireTime: at}
	if got := s.FireClock(e); got != "13:05" {
		t.Error(got)
	}
	e.Until = at.Add(2 * time.Hour)
	if got := s.FireClock(e); got != "13:05–15:05" {
		t.Error(got)
	}
	s.TwelveHours = true
	if got := s.FireClock(e); got != "1:05pm–3:05pm" {
		t.Error(got)
	}
	for _, c := range []struct {
		from, until time.Duration
		day, half   string
	}{
		{9 * time.Hour, 11 * time.Hour, "09–11", "9–11am"},
		{9*time.Hour + 30*time.Minute, 11 * time.Hour, "09:30–11", "9:30–11am"},
		{11 * time.Hour, 13 * time.Hour, "11–13", "11am–1pm"},
		{22 * time.Hour, 24*time.Hour + 10*time.Minute, "22–00:10", "10pm–12:10am"},
		{10*time.Hour + time.Minute, 0, "10:01", "10:01am"},
	} {
		e := schedule.Entry{FireTime: at.Truncate(24 * time.Hour).Add(c.from)}
		if c.until > 0 {
			e.Until = at.Truncate(24 * time.Hour).Add(c.until)
		}
		for twelve, want := range map[bool]string{false: c.day, true: c.half} {
			s.TwelveHours = twelve
			if got := s.FireClockShort(e); got != want {
				t.Errorf("in short %q, want %q", got, want)
			}
		}
	}
}
