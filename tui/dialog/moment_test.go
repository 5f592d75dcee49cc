package dialog

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/routines/when"
	"ollimbot/tui/pane"

	"pgregory.net/rapid"
)

func TestSnoozingSaysWhichFiresAreSkipped(t *testing.T) {
	now := time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)
	s := core.Snapshot{At: now, Zone: time.UTC}
	at := func(h, m int) time.Time { return time.Date(2026, 3, 10, h, m, 0, 0, time.UTC) }
	sweep := func(t time.Time) schedule.Entry {
		return schedule.Entry{ID: "aaaa1111", Description: "Email sweep", FireTime: t}
	}
	s.Schedule.Day = []schedule.Entry{sweep(at(14, 30)), {ID: "cccc3333", FireTime: at(16, 2)}, sweep(at(17, 2)), sweep(at(18, 2)), sweep(at(19, 2))}
	s.Schedule.Tasks = []schedule.TaskView{
		{ID: "aaaa1111", Title: "Email sweep", Kind: routines.KindRoutine, Next: at(14, 30)},
		{ID: "cccc3333", Title: "Check the oven", Kind: routines.KindReminder, Next: at(16, 2)},
	}
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
		if got := consequence(&s, command.Snooze{ID: c.id, Until: now.Add(c.when)}); got != c.want {
			t.Errorf("%s for %s: %q, want %q", c.id, c.when, got, c.want)
		}
	}
	if got := consequence(&s, command.Snooze{ID: "aaaa1111"}); got != textSnoozeEnds {
		t.Errorf("got %q", got)
	}
}

func TestEveryMomentOfTheDialogLiesAhead(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	testkit.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, zone).Add(time.Duration(rapid.IntRange(0, 365*86400).Draw(t, "s")) * time.Second)
		for _, c := range moments(when.Reader{Now: now}) {
			if d := c.when.Sub(now); d <= 0 || d > 33*time.Hour {
				t.Fatalf("%s is %s away at %s", c.name, d, now)
			}
		}
		text := rapid.StringMatching(`[0-9:]{0,5}`).Draw(t, "text")
		if at, err := clockTime(text, when.Reader{Now: now}); err == nil && (!at.After(now) || at.Sub(now) > 25*time.Hour+time.Minute) {
			t.Fatalf("%q at %s is %s", text, now, at)
		}
	})
}

func TestAMomentThatPassesWhileTheFormIsOpenCannotBeChosen(t *testing.T) {
	c := plainContext()
	f := NewUntil(c, "", time.Time{}, func(until time.Time) command.Value { return command.MuteUntil{Until: until} })
	later, hour := *c.Snap, c.Snap.At.Add(time.Hour)
	later.At = later.At.Add(30 * time.Minute)
	c.Snap = &later
	if text, ok := f.effect(c); ok || text != textPastMoment {
		t.Errorf("30 minutes, half an hour later: %q, %v", text, ok)
	}
	if a := f.Update(c, press("enter")); a.Send != nil {
		t.Errorf("it sends %+v", a.Send)
	}
	f.Update(c, press("down"))
	if a := f.Update(c, press("enter")); a.Send != (command.MuteUntil{Until: hour}) {
		t.Errorf("1 hour, half an hour later: it sends %+v", a.Send)
	}
}

func TestTimesAreReadAsPeopleWriteThem(t *testing.T) {
	now := time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"18:30": "10 18:30", "1830": "10 18:30", "18": "10 18:00", "8:30": "11 08:30", "8": "11 08:00", "tomorrow 9": "11 09:00", "tomorrow at 930": "", "fri 0930": "13 09:30", "6:30pm": "10 18:30", "14:02": "11 14:02", "00:00": "11 00:00",
		"": "", "24": "", "18:60": "", "183": "", ":30": "", "abc": "",
	} {
		got := ""
		if at, err := clockTime(text, when.Reader{Now: now}); err == nil {
			got = at.Format("02 15:04")
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestAMomentOfSeveralWordsCanBeTyped(t *testing.T) {
	c := plainContext()
	f := NewUntil(c, "", time.Time{}, func(until time.Time) command.Value { return command.MuteUntil{Until: until} })
	for _, r := range "sunday 9:00" {
		f.Update(c, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	a := f.Update(c, press("enter"))
	if want := (command.MuteUntil{Until: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}); a.Send != want {
		t.Errorf("it sends %+v, want %+v", a.Send, want)
	}
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
		if got := consequence(&s, command.Snooze{ID: id, Until: now.Add(15 * time.Hour)}); got != want {
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
		want    string
	}{
		{command.MuteUntil{Until: now.Add(time.Hour)}, "59 fires without pings: 14:03 Tick, 14:04 Tick, 14:05 Tick and more. Critical pings are still delivered."},
		{command.MuteUntil{Until: now.Add(18 * time.Hour)}, "at least 500 fires without pings: 14:03 Tick, 14:04 Tick, 14:05 Tick and more. Critical pings are still delivered."},
		{command.Snooze{ID: "aaaa1111", Until: now.Add(18 * time.Hour)}, "skips at least 500 fires, the first at 14:03"},
		{command.Snooze{ID: "bbbb2222", Until: now.Add(18 * time.Hour)}, "it would not have fired before 22:23; the schedule is not known further ahead"},
	} {
		if got := consequence(&s, c.command); got != c.want {
			t.Errorf("%+v: %q, want %q", c.command, got, c.want)
		}
	}
	for i := range s.Schedule.Day {
		s.Schedule.Day[i].Silent = true
	}
	if got, want := consequence(&s, command.MuteUntil{Until: now.Add(18 * time.Hour)}), "no task that may ping fires until 22:23; the schedule is not known further ahead"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMomentsOfAReminderAreReadOrRefused(t *testing.T) {
	now := time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"18:30": "today at 18:30 (in 4h28)", "tomorrow 9:00": "Wednesday 11 March at 09:00 (in 18h)", "Tomorrow 15:00": "Wednesday 11 March at 15:00 (in 24h)",
		"in 45m": "today at 14:47 (in 45m)", "2026-03-12 08:00": "Thursday 12 March at 08:00 (in 41h)",
		"2026-03-09 08:00": "Mon 9 Mar 08:00 has passed; say a time such as 18:30, tomorrow 9:00, in 2 hours or 24 dec 9am", "tonight": "today at 21:00 (in 6h58)",
		"today 14:00": "14:00 today has passed; say tomorrow 14:00", "in 20 minutes": "today at 14:22 (in 20m)", "9999h": textFarMoment, "soon": `I do not understand "soon"; say a time such as 18:30, tomorrow 9:00, in 2 hours or 24 dec 9am`, "2026-02-30 08:00": "February has no 30th; the last day is 28 February",
	} {
		if got, _ := checkMoment(pane.Context{Snap: &core.Snapshot{At: now, Zone: time.UTC}}, text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got, ok := CheckCron(pane.Context{Snap: &core.Snapshot{At: now, Zone: time.UTC}}, "0 0 30 2 *"); ok || got != textNeverFires {
		t.Errorf("30 February: %q", got)
	}
}
