package tui

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
)

// dayAhead is busyDay with the fires of 24 hours.
func dayAhead(at time.Time) core.Snapshot {
	s := busyDay(at)
	s.Schedule.Day = append(s.Schedule.Day, s.Schedule.Entries...)
	for h := 3; h < 24; h++ {
		s.Schedule.Day = append(s.Schedule.Day, schedule.Entry{ID: "aaaa1111", Description: "Email sweep", FireTime: at.Add(time.Duration(h) * time.Hour)})
	}
	s.Schedule.Tasks = []schedule.TaskView{
		{ID: "aaaa1111", Title: "Email sweep", Kind: routines.KindRoutine, Next: s.Schedule.Entries[0].FireTime},
		{ID: "cccc3333", Title: "Check the oven", Kind: routines.KindReminder, Next: s.Schedule.Entries[2].FireTime},
	}
	return s
}

func TestMutingSaysWhatWouldGoSilentBeforeItIsDone(t *testing.T) {
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("1", "m")
		s.sees("Mute pings that are not critical until", "▸ 30 minutes", "1 fire without a ping", "Email sweep")
		s.press("down", "down")
		s.press("enter")
		c, ok := s.bot.done()[0].(command.MuteUntil)
		if !ok || !c.Until.After(time.Now()) {
			t.Errorf("did %#v", s.bot.done())
		}
		s.misses("Mute pings that are not critical until")
	})
}

func TestATimeCanBeTypedAtOnce(t *testing.T) {
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("1", "m", "2", "5", "enter")
		s.sees("a time is written as 18:30")
		s.press("backspace", "backspace", "2", "3", ":", "4", "5", "enter")
		c := s.bot.done()[0].(command.MuteUntil)
		if got := c.Until.UTC().Format("15:04"); got != "23:45" {
			t.Errorf("until %s", got)
		}
	})
}

func TestSnoozingSaysWhichFiresAreSkipped(t *testing.T) {
	now := time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)
	s := dayAhead(now)
	for _, c := range []struct {
		id   string
		when time.Duration
		want string
	}{
		{"aaaa1111", 10 * time.Minute, "it would not have fired before then; fires next at 14:30"},
		{"aaaa1111", time.Hour, "skips the fire at 14:30; fires next at 17:02"},
		{"aaaa1111", 4*time.Hour + time.Minute, "skips 3 fires, the first at 14:30; fires next at 19:02"},
		{"cccc3333", 3 * time.Hour, "it fires at 17:02"},
		{"cccc3333", time.Hour, "changes nothing: it fires at 16:02"},
	} {
		if got := consequence(&s, command.Snooze{ID: c.id}, now.Add(c.when)); got != c.want {
			t.Errorf("%s for %s: %q, want %q", c.id, c.when, got, c.want)
		}
	}
	if got := consequence(&s, command.Snooze{ID: "aaaa1111"}, time.Time{}); got != textSnoozeEnds {
		t.Errorf("got %q", got)
	}
}

func TestAnEndIsOfferedOnlyWhereSomethingHolds(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot {
		s := dayAhead(at)
		s.Budget.Muted = at.Add(time.Hour)
		return s
	}}, func(s *stage) {
		s.press("1", "m")
		s.sees("no longer; it holds until")
		s.press("up", "up")
		s.sees("pings come through again at once")
		s.press("enter")
		if c := s.bot.done()[0]; c != (command.MuteUntil{}) {
			t.Errorf("did %#v", c)
		}
	})
}

func TestTheDialogsOfTheseTasksLookAsTheyDid(t *testing.T) {
	at := day
	muted := pane.Until{Title: "Mute pings that are not critical until", For: command.MuteUntil{}, Now: at.Add(time.Hour)}
	wrong := func(r *root) dialog {
		f := newForm(r.snap)
		f.when.Insert("0 25 * * *")
		f.name.Insert("日本語 👍🏽 \x1b[31mred")
		f.fault, f.at = "the disk is full", fieldPrompt
		return f
	}
	for _, c := range []struct {
		name string
		w, h int
		o    theme.Options
		open func(r *root) dialog
	}{
		{"dialog-until", 100, 30, theme.Options{Plain: true}, func(r *root) dialog { return newUntil(muted, r.snap) }},
		{"dialog-until-40x10", 40, 10, theme.Options{Plain: true}, func(r *root) dialog { return newUntil(muted, r.snap) }},
		{"dialog-form", 100, 30, theme.Options{Plain: true}, func(r *root) dialog { return newForm(r.snap) }},
		{"dialog-form-wrong", 80, 24, theme.Options{Plain: true}, wrong},
		{"dialog-form-40x10", 40, 10, theme.Options{Plain: true}, wrong},
		{"dialog-form-ascii", 80, 24, theme.Options{Plain: true, ASCII: true}, wrong},
		{"dialog-form-nocolor", 80, 24, theme.Options{NoColor: true, Profile: 1 << 24}, wrong},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoot(t.Context(), still{dayAhead(at), fullTail}, Options{})
			r.theme, r.w, r.h = theme.New(c.o), c.w, c.h
			r.refresh()
			r.speech = speech{}
			r.open(c.open(r))
			golden(t, c.name, r.frame())
		})
	}
}

func TestEveryMomentOfTheDialogLiesAhead(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, zone).Add(time.Duration(rapid.IntRange(0, 365*86400).Draw(t, "s")) * time.Second)
		for _, c := range moments(now) {
			if d := c.when.Sub(now); d <= 0 || d > 33*time.Hour {
				t.Fatalf("%s is %s away at %s", c.name, d, now)
			}
		}
		text := rapid.StringMatching(`[0-9:]{0,5}`).Draw(t, "text")
		if at, ok := clockTime(text, now); ok && (!at.After(now) || at.Sub(now) > 25*time.Hour+time.Minute) {
			t.Fatalf("%q at %s is %s", text, now, at)
		}
	})
}

func TestTimesAreReadAsPeopleWriteThem(t *testing.T) {
	now := time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"18:30": "10 18:30", "1830": "10 18:30", "18": "10 18:00", "8:30": "11 08:30", "8": "11 08:00", "14:02": "11 14:02", "00:00": "11 00:00",
		"": "", "24": "", "18:60": "", "183": "", ":30": "", "abc": "",
	} {
		got := ""
		if at, ok := clockTime(text, now); ok {
			got = at.Format("02 15:04")
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestWhatIsNoTimeIsRefusedAndNeverTheMarkedMoment(t *testing.T) {
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("1", "m")
		s.types("soon")
		s.sees("at a time      soon", "a time is written as 18:30")
		s.press("enter")
		s.sees("Mute pings that are not critical until", "soon")
		if n := len(s.bot.done()); n != 0 {
			t.Errorf("%d commands", n)
		}
		s.press("backspace", "backspace", "backspace", "backspace")
		s.types("jk") // letters there, too
		s.sees("at a time      jk")
	})
}

func TestARefusalComesBackIntoTheDialogThatAskedForIt(t *testing.T) {
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("2", "s")
		s.types("23:45")
		s.press("enter") // this bot refuses it
		s.sees("Snooze", "23:45", "the disk is full")
		if n := strings.Count(s.screen(), "the disk is full"); n != 1 {
			t.Errorf("said %d times", n)
		}
		s.press("backspace")
		s.misses("the disk is full")
		s.sees("at a time      23:4 ")
	})
}

func TestAMomentBeyondTheWeekHasItsDate(t *testing.T) {
	now := time.Date(2026, 11, 21, 17, 2, 0, 0, time.UTC)
	s := core.Snapshot{At: now, Zone: time.UTC, Schedule: schedule.View{
		DayUntil: now.Add(24 * time.Hour),
		Tasks: []schedule.TaskView{
			{ID: "aaaa1111", Kind: routines.KindRoutine, Next: time.Date(2027, 1, 1, 3, 0, 0, 0, time.UTC)},
			{ID: "bbbb2222", Kind: routines.KindRoutine, Next: now.Add(4 * 24 * time.Hour)},
			{ID: "cccc3333", Kind: routines.KindRoutine, Next: now.Add(9 * 24 * time.Hour)},
		},
	}}
	for id, want := range map[string]string{
		"aaaa1111": "it would not have fired before then; fires next at Fri 1 January 2027 03:00",
		"bbbb2222": "it would not have fired before then; fires next at Wed 17:02",
		"cccc3333": "it would not have fired before then; fires next at Mon 30 November 17:02",
	} {
		if got := consequence(&s, command.Snooze{ID: id}, now.Add(15*time.Hour)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWhereTheDayIsCutTheFiresAreAtLeastSoMany(t *testing.T) {
	now := time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)
	var s core.Snapshot
	s.At, s.Zone = now, time.UTC
	for i := range 500 {
		s.Schedule.Day = append(s.Schedule.Day, schedule.Entry{ID: "aaaa1111", Description: "Tick", FireTime: now.Add(time.Duration(i+1) * time.Minute)})
	}
	s.Schedule.DayUntil = now.Add(501 * time.Minute)
	for _, c := range []struct {
		command command.Value
		when    time.Duration
		want    string
	}{
		{command.MuteUntil{}, time.Hour, "59 fires without a ping: 14:03 Tick, 14:04 Tick, 14:05 Tick and 56 more. Critical ones come through."},
		{command.MuteUntil{}, 18 * time.Hour, "at least 500 fires without a ping: 14:03 Tick, 14:04 Tick, 14:05 Tick and more. Critical ones come through."},
		{command.Snooze{ID: "aaaa1111"}, 18 * time.Hour, "skips at least 500 fires, the first at 14:03"},
		{command.Snooze{ID: "bbbb2222"}, 18 * time.Hour, "it would not have fired before 22:23; the schedule is not known further ahead"},
	} {
		if got := consequence(&s, c.command, now.Add(c.when)); got != c.want {
			t.Errorf("%T for %s: %q, want %q", c.command, c.when, got, c.want)
		}
	}
	for i := range s.Schedule.Day {
		s.Schedule.Day[i].Silent = true
	}
	if got, want := consequence(&s, command.MuteUntil{}, now.Add(18*time.Hour)), "no task that may ping fires until 22:23; the schedule is not known further ahead"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
