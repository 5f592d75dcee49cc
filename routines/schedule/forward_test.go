package schedule

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // a zone with a summer time, wherever the tests run

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
)

func zoneOf(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	testkit.Must(t, err)
	return zone
}

// planOf returns the plan of some tasks at a moment.
func planOf(now time.Time, tasks ...any) *Plan {
	p := &Plan{Now: now, Set: &routines.Set{}}
	for _, task := range tasks {
		switch one := task.(type) {
		case routines.Routine:
			p.Set.Routines = append(p.Set.Routines, &one)
		case routines.Reminder:
			p.Set.Reminders = append(p.Set.Reminders, &one)
		}
	}
	return p
}

// seenAt returns the plan as seen at another moment.
func (p *Plan) seenAt(now time.Time) *Plan {
	next := *p
	next.Now = now
	return &next
}

func routineOf(t testing.TB, id, expr string, change func(*routines.Routine)) routines.Routine {
	t.Helper()
	schedule, err := cron.Parse(expr)
	testkit.Must(t, err)
	r := routines.Routine{Task: routines.Task{Kind: routines.KindRoutine, ID: id, Path: "routines/" + id + ".md", Body: "body of " + id, Background: true, AllowPing: true, Thinking: true, Mode: routines.OnPing}, Cron: expr, Schedule: recur.Of(schedule), Late: routines.UsualLate}
	if change != nil {
		change(&r)
	}
	return r
}

func reminderOf(id string, at time.Time, change func(*routines.Reminder)) routines.Reminder {
	r := routines.Reminder{Task: routines.Task{Kind: routines.KindReminder, ID: id, Path: "reminders/" + id + ".md", Body: "body of " + id, Background: true, AllowPing: true, Thinking: true, Mode: routines.OnPing}, RunAt: at}
	if change != nil {
		change(&r)
	}
	return r
}

// literal is a naive implementation of the forward schedule: for each task its last fire
// within the grace period, and its first one after now.
func literal(p *Plan, current string) []string {
	now := p.Now
	type found struct {
		at time.Time
		id string
	}
	var list []found
	baseCutoff, maxCutoff, graceStart := now.Add(3*time.Hour), now.Add(12*time.Hour), now.Add(-15*time.Minute)
	for _, r := range p.Set.Routines {
		if !r.Background {
			continue
		}
		n := r.Schedule.Next(graceStart)
		for last := (time.Time{}); !n.IsZero(); last, n = n, r.Schedule.Next(n.Add(time.Second)) {
			if !n.After(now) {
				continue
			}
			if !last.IsZero() {
				list = append(list, found{at: last, id: r.ID})
			}
			if !n.After(maxCutoff) {
				list = append(list, found{at: n, id: r.ID})
			}
			break
		}
	}
	for _, r := range p.Set.Reminders {
		if r.Background && !r.RunAt.Before(graceStart) && !r.RunAt.After(maxCutoff) {
			list = append(list, found{at: r.RunAt, id: r.ID})
		}
	}
	slices.SortStableFunc(list, func(a, b found) int { return a.at.Compare(b.at) })
	var recent, forward, near []found
	for _, f := range list {
		switch {
		case !f.at.After(now):
			recent = append(recent, f)
			continue
		case !f.at.After(baseCutoff):
			near = append(near, f)
		}
		forward = append(forward, f)
	}
	taken := forward
	if len(forward) >= 3 {
		if taken = near; len(near) < 3 {
			taken = forward[:3]
		}
	}
	var out []string
	for _, f := range append(recent, taken...) {
		tag := ""
		if f.id == current {
			tag = "this task"
		} else if !f.at.After(now) {
			tag = "just fired"
		}
		out = append(out, fmt.Sprintf("%s %s %s", f.at.In(now.Location()).Format(time.RFC3339Nano), f.id, tag))
	}
	return out
}

func summary(f Forward) []string {
	var out []string
	for _, e := range f.Entries {
		out = append(out, fmt.Sprintf("%s %s %s", e.FireTime.Format(time.RFC3339Nano), e.ID, e.Tag))
	}
	return out
}

func TestForwardIsTheAlgorithmOfTheSpec(t *testing.T) {
	zone := zoneOf(t, "Europe/Berlin")
	exprs := []string{"*/5 * * * *", "0 * * * *", "17 * * * *", "0 9 * * *", "30 2 * * *", "0 0,12 * * 1-5", "15 10-17/2 * * mon-fri", "0 3 29 2 *", "59 23 * * *", "* * * * *", "*/4 1-3 * * *"}
	start := time.Date(2026, 10, 24, 18, 0, 0, 0, zone)
	testkit.Check(t, func(rt *rapid.T) {
		var tasks []any
		for i := range rapid.IntRange(0, 12).Draw(rt, "routines") {
			tasks = append(tasks, routineOf(t, fmt.Sprintf("r%02d", i), rapid.SampledFrom(exprs).Draw(rt, "cron"), func(r *routines.Routine) {
				r.Background = rapid.IntRange(0, 4).Draw(rt, "background") > 0
			}))
		}
		for i := range rapid.IntRange(0, 6).Draw(rt, "reminders") {
			at := start.Add(time.Duration(rapid.IntRange(0, 36*60*4).Draw(rt, "run at")) * 15 * time.Second)
			tasks = append(tasks, reminderOf(fmt.Sprintf("m%02d", i), at.UTC(), func(r *routines.Reminder) {
				r.Background = rapid.IntRange(0, 4).Draw(rt, "background") > 0
			}))
		}
		for range 6 {
			now := start.Add(time.Duration(rapid.IntRange(0, 30*60).Draw(rt, "minute")) * time.Minute)
			if rapid.Bool().Draw(rt, "between") {
				now = now.Add(time.Duration(rapid.IntRange(1, 59_999).Draw(rt, "ms")) * time.Millisecond)
			}
			p := planOf(now, tasks...)
			if diff := cmp.Diff(literal(p, "r01"), summary(p.Forward("r01"))); diff != "" {
				rt.Fatalf("at %v (-spec +got):\n%s", now, diff)
			}
		}
	})
}

func TestForwardEntriesSayWhatTheTaskIs(t *testing.T) {
	zone := zoneOf(t, "America/Los_Angeles")
	now := time.Date(2026, 11, 23, 9, 0, 5, 0, zone)
	x := planOf(now,
		routineOf(t, "r1", "0 9 * * *", func(r *routines.Routine) { r.Description = "Review tasks" }),
		routineOf(t, "r2", "30 9 * * *", func(r *routines.Routine) { r.AllowPing = false; r.Body = "Check\nthe mail" }),
		routineOf(t, "r3", "45 9 * * *", func(r *routines.Routine) { r.Body = strings.Repeat("é", 61) }),
		routineOf(t, "r4", "50 9 * * *", func(r *routines.Routine) { r.Body = strings.Repeat("é", 60) }),
		routineOf(t, "r5", "55 9 * * *", func(r *routines.Routine) { r.Body = strings.Repeat(" x\n", 1_000_000) }),
		reminderOf("m1", time.Date(2026, 11, 23, 18, 10, 0, 0, time.UTC), func(r *routines.Reminder) { r.MaxChain, r.ChainDepth = 3, 1 }),
		reminderOf("m2", time.Date(2026, 11, 23, 18, 20, 0, 0, time.UTC), func(r *routines.Reminder) { r.Description = "Dentist" }),
	)
	at := func(h, m int) time.Time { return time.Date(2026, 11, 23, h, m, 0, 0, zone) }
	want := []Entry{
		{ID: "r1", FireTime: at(9, 0), Label: "Review tasks", Description: "Review tasks", Title: "Review tasks", Prompt: "body of r1", FilePath: "routines/r1.md", Tag: tagThisTask, Kind: routines.KindRoutine},
		{ID: "r2", FireTime: at(9, 30), Label: "Routine", Description: "Check the mail", Title: "Check the mail", FilePath: "routines/r2.md", Silent: true, Kind: routines.KindRoutine},
		{ID: "r3", FireTime: at(9, 45), Label: "Routine", Description: strings.Repeat("é", 60) + "...", Title: strings.Repeat("é", 59) + "…", FilePath: "routines/r3.md", Kind: routines.KindRoutine},
		{ID: "r4", FireTime: at(9, 50), Label: "Routine", Description: strings.Repeat("é", 60), Title: strings.Repeat("é", 60), FilePath: "routines/r4.md", Kind: routines.KindRoutine},
		{ID: "r5", FireTime: at(9, 55), Label: "Routine", Description: strings.Repeat("x  ", 20) + "...", Title: strings.Repeat("x ", 28) + "x…", FilePath: "routines/r5.md", Kind: routines.KindRoutine},
		{ID: "m1", FireTime: at(10, 10), Label: "Chain reminder (2/4)", Description: "body of m1", Title: "body of m1", FilePath: "reminders/m1.md", Kind: routines.KindReminder},
		{ID: "m2", FireTime: at(10, 20), Label: "Reminder", Description: "Dentist", Title: "Dentist", FilePath: "reminders/m2.md", Kind: routines.KindReminder},
	}
	f := x.Forward("r1")
	if diff := cmp.Diff(want, f.Entries); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if f.Entries[5].FireTime.Location() != zone {
		t.Error("a reminder's time is not in the configured zone")
	}
}

func TestAFireIsListedFromFifteenMinutesAfterItOn(t *testing.T) {
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	p := planOf(at, routineOf(t, "r1", "0 9 * * *", nil))
	for _, c := range []struct {
		after   time.Duration
		current string
		want    []string
		last    time.Time
	}{
		{0, "", []string{"09:00 r1 " + tagJustFired}, time.Time{}},
		{0, "r1", []string{"09:00 r1 " + tagThisTask}, at}, // once, for its own run
		{15 * time.Minute, "", []string{"09:00 r1 " + tagJustFired}, time.Time{}},
		{15*time.Minute + time.Second, "", nil, time.Time{}},
	} {
		f := p.seenAt(at.Add(c.after)).Forward(c.current)
		if diff := cmp.Diff(c.want, brief(f.Entries)); diff != "" || !f.Last.Equal(c.last) {
			t.Errorf("%v later for %q, last %v (-want +got):\n%s", c.after, c.current, f.Last, diff)
		}
	}
}

func TestTheWindowAndItsRefillsAreSaidInWords(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ahead          time.Duration
		rate           int
		window, refill string
	}{
		{10 * time.Minute, 90, "next 1h", ""},
		{-time.Second, 90, "next 1h", ""},
		{-time.Hour, 30, "next 1h", ""},
		{81 * time.Minute, 90, "next 2h", ""}, // more than "in 1h 21m"
		{89 * time.Minute, 90, "next 2h", ""},
		{90 * time.Minute, 90, "next 2h", "~1 refill before last task."},
		{150 * time.Minute, 90, "next 3h", "~1 refill before last task."},
		{151 * time.Minute, 90, "next 3h", "~1 refill before last task."},
		{210 * time.Minute, 200, "next 4h", "~1 refill before last task."},
		{3 * time.Hour, 90, "next 3h", "~2 refills before last task."},
		{12 * time.Hour, 0, "next 12h", ""},
		{12 * time.Hour, -5, "next 12h", ""},
	} {
		f := Forward{Last: now.Add(c.ahead)}
		if window, refill := f.Window(now), f.RefillLine(now, c.rate); window != c.window || refill != c.refill {
			t.Errorf("%v ahead at %d: %q, %q, want %+v", c.ahead, c.rate, window, refill, c)
		}
	}
	if f := (Forward{}); f.Window(now) != "recent" || f.RefillLine(now, 90) != "" {
		t.Errorf("nothing ahead: %q, %q", f.Window(now), f.RefillLine(now, 90))
	}
}

func TestCalendarListsEveryFireOfEverything(t *testing.T) {
	from := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	x := planOf(from,
		routineOf(t, "r1", "0,30 * * * *", func(r *routines.Routine) { r.Background = false }),
		routineOf(t, "r2", "15 9 * * *", nil),
		reminderOf("m1", from.Add(30*time.Minute), func(r *routines.Reminder) { r.Background = false }),
		reminderOf("m2", from.Add(-time.Second), nil),
		reminderOf("m3", from.Add(61*time.Minute), nil),
	)
	got := func(limit int) []string {
		var out []string
		for _, e := range x.calendar(from.Add(time.Hour), limit) {
			out = append(out, fmt.Sprintf("%s %s %v", e.FireTime.Format("15:04"), e.ID, e.Foreground))
		}
		return out
	}
	want := []string{"09:00 r1 true", "09:15 r2 false", "09:30 r1 true", "09:30 m1 true", "10:00 r1 true"}
	if diff := cmp.Diff(want, got(100)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(want[:2], got(2)); diff != "" {
		t.Errorf("limited, -want +got:\n%s", diff)
	}
	if out := got(0); out != nil {
		t.Errorf("limit 0 gives %v", out)
	}
}

func TestCalendarEqualsAWalkThroughTheMinutes(t *testing.T) {
	zone := zoneOf(t, "Europe/Berlin")
	from := time.Date(2026, 10, 24, 20, 0, 0, 0, zone) // across the end of summer time
	x := planOf(from,
		routineOf(t, "r1", "*/20 * * * *", nil), routineOf(t, "r2", "30 2 * * *", nil), routineOf(t, "r3", "0 0 * * 0", nil))
	to := from.Add(12 * time.Hour)
	var want []string
	for at := from; !at.After(to); at = at.Add(time.Minute) {
		for _, r := range x.Set.Routines {
			if r.Schedule.Next(at).Equal(at) {
				want = append(want, at.Format(time.RFC3339)+" "+r.ID)
			}
		}
	}
	var got []string
	for _, e := range x.calendar(to, 1000) {
		got = append(got, e.FireTime.Format(time.RFC3339)+" "+e.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPeopleSeeAForegroundTaskFromNowToTheEndOfTheWindow(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for ahead, shown := range map[time.Duration]struct{ window, day bool }{
		-1: {}, 0: {true, true}, shortestView: {true, true}, shortestView + 1: {false, true}, 24 * time.Hour: {false, true}, 24*time.Hour + 1: {},
	} {
		v := planOf(now, reminderOf("m1", now.Add(ahead), func(r *routines.Reminder) { r.Background = false })).View()
		if (len(v.Entries) > 0) != shown.window || (len(v.Day) > 0) != shown.day {
			t.Errorf("%v ahead: %+v, of the day %+v", ahead, v.Entries, v.Day)
		}
	}
}

func TestADayOfManyFiresIsCompleteUpToATime(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for n, until := range map[int]time.Duration{dayFires: 24 * time.Hour, dayFires + 1: dayFires * time.Minute} {
		var list []any
		for i := range n {
			list = append(list, reminderOf(fmt.Sprint(i), now.Add(time.Duration(i)*time.Minute), nil))
		}
		v := planOf(now, list...).View()
		if len(v.Day) != dayFires || !v.DayUntil.Equal(now.Add(until)) {
			t.Errorf("%d fires: %d listed, up to %v", n, len(v.Day), v.DayUntil)
		}
	}
}

func TestAReminderFiredByHandIsLateOnlyIfItWasOverdue(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for late, want := range map[time.Duration]Due{-time.Hour: {At: now}, 0: {At: now}, grace: {At: now}, grace + 1: {At: now.Add(-grace - 1), Late: true}} {
		d, ok := planOf(now, reminderOf("m1", now.Add(-late), nil)).Due("m1")
		if !ok || !d.At.Equal(want.At) || d.Late != want.Late {
			t.Errorf("%v late: %+v, %v", late, d, ok)
		}
	}
	if d, ok := planOf(now, routineOf(t, "r1", "0 0 * * *", nil)).Due("r1"); !ok || !d.At.Equal(now) || d.Late || d.Task().ID != "r1" {
		t.Errorf("%+v, %v", d, ok)
	}
	if _, ok := planOf(now).Due("r1"); ok {
		t.Error("an unknown task can be fired")
	}
}
