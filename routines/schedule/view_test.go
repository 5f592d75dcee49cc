package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
)

// wantEntries compares entries, as brief describes them.
func (n *night) wantEntries(what, want string, got []Entry) {
	n.t.Helper()
	n.wantText(what, want, strings.Join(brief(got), ", "))
}

func TestAgentsDoNotSeeHeldFiresAndPeopleSeeThemMarked(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/f.md", "---\nid: f\ncron: \"20 * * * *\"\n---\ntalk\n")
		n.play("a */30 * * * *|b 15 * * * *|c @ 12:10|d @ 12:12", "sleep 12h, start, sleep 1m, snooze a 13:00, snooze c 13:00, pause b, pause d, pause f")
		p := n.loop.Plan(n.clock())
		n.wantEntries("agents", "12:00 a just fired, 13:00 a, 13:00 c", p.Forward("").Entries)
		const held = "12:12 d paused held, 12:15 b paused held, 12:20 f paused held, 12:30 a snoozed until 13:00 held, 13:00 a, 13:00 c snoozed until 13:00"
		n.wantEntries("people", "12:00 a just fired, "+held, p.View().Entries)
		n.wantEntries("day", held+", 13:15 b paused held", p.calendar(p.Now.Add(75*time.Minute), 100))
		next := map[string]time.Time{}
		for _, task := range p.View().Tasks {
			next[task.ID] = task.Next
		}
		if !next["a"].Equal(n.at("13:00")) || !next["b"].IsZero() || !next["d"].IsZero() {
			t.Errorf("next: %v", next)
		}
	})
}

func TestTheNextFiresOfATaskAreListedAlsoBesideTheBot(t *testing.T) {
	inBubble(t, func(n *night) {
		n.play("a */30 * * * *|b @ 00:10", "start, snooze a 01:00, pause b")
		for name, s := range map[string]*Schedule{"the bot": n.loop, "a command": n.schedule()} {
			n.wantEntries(name, "00:30 a snoozed until 01:00 held, 01:00 a, 01:30 a", s.NextOf("a", n.at("00:00"), 3))
			n.wantEntries(name, "01:00 a, 01:30 a, 02:00 a", s.NextOf("a", n.at("00:30"), 3))
			n.wantEntries(name, "00:10 b paused held", s.NextOf("b", n.at("00:00"), 3))
			n.wantEntries(name, "", s.NextOf("nobody", n.at("00:00"), 3))
		}
	})
}

// The schedule shows each moment, and no agent takes it for the task itself.
func TestMomentsAheadAreInTheSchedule(t *testing.T) {
	inBubble(t, func(n *night) {
		n.play(`a @ 03 09:00; body: dentist; ahead: ["1 day: tomorrow", "1 hour"]`, "start")
		v := n.loop.View(n.at("21:00"))
		if e := v.Day[0]; len(v.Day) != 1 || hour(e.FireTime) != "02 09:00" || e.Title != "dentist (1 day before)" || e.Label != "Reminder (1 day before)" || e.Description != "tomorrow" {
			t.Errorf("the day has %+v", v.Day)
		}
		if task := v.Tasks[0]; len(v.Tasks) != 1 || task.When != "1 day and 1 hour before" || hour(task.Next) != "03 09:00" {
			t.Errorf("%+v", v.Tasks)
		}
		var ahead []string
		for _, e := range n.loop.NextOf("a", n.clock(), 5) {
			ahead = append(ahead, hour(e.FireTime))
		}
		n.wantText("next", "02 09:00, 03 08:00, 03 09:00", strings.Join(ahead, ", "))
		n.play("", "sleep 33h1m")
		f := n.loop.Forward(n.clock(), "")
		if len(f.Entries) != 1 || f.Entries[0].Tag != tagJustFired || f.Entries[0].Title != "dentist (1 day before)" {
			t.Errorf("%+v", f.Entries)
		}
		if d, ok := n.loop.DueAt("a", n.clock()); !ok || d.Early != nil {
			t.Errorf("by hand it fires %+v", d)
		}
	})
}

// A routine that has ended says so, is never missed, and fires again once its end is later.
func TestARoutineThatHasEndedSaysSoAndCanBeExtended(t *testing.T) {
	inBubble(t, func(n *night) {
		n.play("a 0 9 * * *; missed: run; until: 2000-01-02", "start, sleep 3d, stop, sleep 3d, start, sleep 1h, notes")
		if v := n.loop.View(n.clock()).Tasks[0]; v.Ended != "ended on 2 January 2000" || !v.Next.IsZero() || v.When != "at 9:00, every day, until 2 January 2000" {
			t.Errorf("%+v", v)
		}
		n.wantEntries("agents", "", n.loop.Forward(n.clock(), "").Entries)
		n.play("", "edit a 0 9 * * *; missed: run; until: 2000-01-08, sleep 1d")
		n.want("09:00 a, 02 09:00 a, 07 09:00 a")
	})
}

// The times of a task with its own zone are shown in the user's.
func TestATaskWithItsOwnZoneIsShownInTheUsers(t *testing.T) {
	inBubble(t, func(n *night) {
		n.play("a 0 9 * * *; zone: Asia/Tokyo; window: 9:00-11:00; from: 2000-01-02", "start, sleep 10h")
		v := n.loop.View(n.clock()).Tasks[0]
		const layout = "02 15:04 MST"
		if v.Next.Format(layout) != "02 00:00 UTC" || v.Until.Format(layout) != "02 02:00 UTC" || !strings.HasSuffix(v.When, "in Asia/Tokyo time, 9:00-11:00") {
			t.Errorf("%+v", v)
		}
	})
}

// The forward schedule of the agent, the lists and the account use the same times.
func TestEveryViewShowsTheTimesThatFire(t *testing.T) {
	inBubble(t, func(n *night) {
		n.play("a 0 * * * *; from: 2000-01-02; every: 2 days; until: 2000-01-04", "start, sleep 22h")
		plan := n.loop.Plan(n.clock())
		want := n.at("02 00:00")
		v := plan.View()
		if f := plan.Forward(""); len(f.Entries) != 1 || !f.Entries[0].FireTime.Equal(want) {
			t.Errorf("forward: %+v", f.Entries)
		}
		if len(v.Day) != 23 || !v.Day[0].FireTime.Equal(want) || !v.Tasks[0].Next.Equal(want) {
			t.Errorf("view: %d, %+v", len(v.Day), v.Tasks)
		}
		if next := plan.NextOf("a", 30); len(next) != 30 || hour(next[24].FireTime) != "04 00:00" {
			t.Errorf("next: %+v", next)
		}
		n.play("", "stop, sleep 3d5h, start")
		if n := strings.Count(n.told(), ", ") + 1; n != 48 {
			t.Errorf("%d due times are in the account, want 48", n)
		}
	})
}

func TestAFireThatNobodyWasThereForIsMissedAndNotFired(t *testing.T) {
	inBubble(t, func(n *night) {
		const missed, fired = "00:10 a missed, 00:10 b missed", "00:00 a just fired"
		const people = "people 00:00 a just fired / 00:10 a missed / 00:10 b missed"
		n.play("a */5 * * * *|b 10 * * * *", "start, sleep 4m, stop, sleep 8m, as command "+people+", as command agents "+fired+", start, "+people+", agents "+fired+
			", sleep 4m, people 00:10 b missed / 00:15 a just fired, agents 00:15 a just fired, put b @ 09 00:00, look") // a reminder of the same id
		for at, want := range map[time.Time]string{
			n.clock(): missed, n.at("00:10"): missed, n.at("00:10").Add(-1): "", // the clock was set back
			n.at("02 00:10").Add(-1): missed, n.at("02 00:10"): "",
		} {
			n.wantEntries("missed at "+at.String(), want, n.loop.View(at).Missed)
		}
	})
}

// The outcome of a fire, by its due time.
func TestTheOutcomeOfAFireIsKnownByItsTime(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	e := &routineEntry{Seen: ago(20), LastFire: ago(15), Outcome: outcomeFailed, Passed: ago(12), Why: outcomeHeld, After: ago(10)}
	old := &routineEntry{Seen: ago(30), LastFire: ago(30), Passed: ago(30), After: ago(30)}
	r := record{Routines: map[string]*routineEntry{"a": e, "old": old}, Reminders: map[string]time.Time{"runs": ago(1)}, Ahead: map[string]*aheadEntry{"runs": {Running: ago(1)}}}
	recent, all := r.outcomesSince(now, ago(30)), r.outcomesSince(now, time.Time{})
	for _, c := range []struct {
		k    *outcomes
		id   string
		at   time.Time
		want outcome
	}{
		{recent, "a", ago(20), outcomeNone},
		{recent, "a", ago(20).Add(1), outcomeUnknown},
		{recent, "a", ago(15), outcomeFailed},
		{recent, "a", ago(12), outcomeHeld},
		{recent, "a", ago(10), outcomeUnknown},
		{recent, "a", ago(10).Add(1), outcomeMissed},
		{recent, "a", now, outcomeMissed},
		{recent, "a", now.Add(1), outcomeUnknown},
		{recent, "old", ago(25), outcomeUnknown}, // without news it is not listed
		{all, "old", ago(25), outcomeMissed},
		{recent, "new", ago(1), outcomeUnknown},
		{all, "new", now, outcomeNone},
		{all, "new", now.Add(1), outcomeUnknown},
		{nil, "a", ago(15), outcomeUnknown},
	} {
		if got, before := c.k.routine(c.id, c.at); got != c.want || c.k != nil && c.id == "a" && !before.Equal(e.LastFire) {
			t.Errorf("%s at %v: %q, run before at %v, want %q", c.id, c.at, got, before, c.want)
		}
	}
	for at, want := range map[time.Time]outcome{ago(5): outcomeDone, ago(1): outcomeRunning, now: outcomeDone, now.Add(1): outcomeUnknown} {
		if got, none := recent.early("runs", at), (*outcomes)(nil).early("runs", at); got != want || none != outcomeUnknown {
			t.Errorf("ahead at %v: %q, without a record %q", at, got, none)
		}
	}
	if got := recent.early("waits", now); got != outcomeNone {
		t.Errorf("ahead of a reminder that was never seen: %q", got)
	}
	for id, want := range map[string]outcome{"runs": outcomeRunning, "waits": outcomeOverdue} {
		if got := recent.reminder(id, now); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
		if got := recent.reminder(id, now.Add(1)); got != outcomeUnknown {
			t.Errorf("%s, after the last look: %q", id, got)
		}
	}
}

func TestTimesAreToldAsPeopleSayThem(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) // a Monday
	for at, want := range map[string]string{
		"2026-11-23T00:00:00Z": "00:00", "2026-11-22T23:59:00Z": "Sunday 23:59", "2026-11-17T12:00:00Z": "Tuesday 12:00",
		"2026-11-16T12:00:00Z": "November 16, 12:00", "2026-11-24T12:00:00Z": "November 24, 12:00", "2025-12-31T12:00:00Z": "December 31 2025, 12:00",
		"2026-11-23T01:30:00+02:00": "Sunday 23:30",
	} {
		when, err := time.Parse(time.RFC3339, at)
		testkit.Must(t, err)
		if got := dueWords(when, now); got != want {
			t.Errorf("%s is %q, want %q", at, got, want)
		}
	}
}

func TestANoteNamesFiveFilesAndCountsTheRest(t *testing.T) {
	list := []string{"a", "b", "c", "d", "e", "f", "g"}
	for n, want := range map[int]string{
		1: "This routine file has an error:\na",
		2: "These routine files have errors:\na\nb",
		5: "These routine files have errors:\na\nb\nc\nd\ne",
		6: "These routine files have errors:\na\nb\nc\nd\ne\nand 1 more: `ollim-bot check` lists them",
		7: "These routine files have errors:\na\nb\nc\nd\ne\nand 2 more: `ollim-bot check` lists them",
	} {
		for unread, tr := range map[bool]trouble{true: {routines.KindRoutine, list[:n], nil}, false: {routines.KindRoutine, nil, list[:n]}} {
			if got := tr.words(unread); got != want {
				t.Errorf("%d: %q, want %q", n, got, want)
			}
			if got := tr.words(!unread); got != "" {
				t.Errorf("%d: there is nothing to say, and it says %q", n, got)
			}
		}
	}
}

func TestAFileIsReportedOnceByItsFirstErrorAndNeverForAWarning(t *testing.T) {
	var r report
	set := &routines.Set{Problems: []routines.Problem{
		{File: "routines/a.md", Line: 3, Column: 7, Severity: routines.Error, Message: "first"},
		{File: "routines/a.md", Line: 9, Severity: routines.Error, Message: "second"},
		{File: "reminders/b.md", Line: 2, Severity: routines.Error, Message: "third"},
		{File: "routines/c.md", Line: 1, Severity: routines.Warning, Message: "fourth"},
	}}
	want := [][]string{{"routines/a.md:3:7: first"}, {"reminders/b.md:2: third"}}
	fresh := want
	for range 2 {
		r.problems(set)
		for i, got := range r.troubles {
			if diff := cmp.Diff(want[i], got.all); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(fresh[i], got.fresh); diff != "" {
				t.Error(diff)
			}
		}
		r.troubles, fresh = nil, [][]string{nil, nil}
	}
}

func TestOnlyAFireMissedWithinADayIsShownAsMissed(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	r := record{Routines: map[string]*routineEntry{
		"missed": {Passed: now.Add(-time.Hour), Why: outcomeMissed},
		"old":    {Passed: now.Add(-missedFor), Why: outcomeMissed},
		"held":   {Passed: now.Add(-time.Hour), Why: outcomeHeld},
	}}
	want := map[string]time.Time{"missed": now.Add(-time.Hour)}
	if diff := cmp.Diff(want, r.outcomesSince(now, time.Time{}).missed); diff != "" {
		t.Error(diff)
	}
}

func TestAReminderThatLacksMoneyIsMarkedUnlessItsRunIsUnderWay(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	r := &routines.Reminder{Task: routines.Task{Kind: routines.KindReminder, ID: "a"}, RunAt: now.Add(-time.Hour)}
	p := &Plan{Now: now, Set: &routines.Set{}, Price: func(*routines.Task) Price { return Price{Until: now.Add(time.Hour)} }}
	for tag, want := range map[string]bool{"": true, tagOverdue: true, tagRunning: false} {
		e := p.marked(fire{task: task{Task: &r.Task, reminder: r}, at: r.RunAt, tag: tag})
		if e.Held != want || e.Money != want {
			t.Errorf("%q: held %v, for money %v, want %v", tag, e.Held, e.Money, want)
		}
	}
}

func recurrence(t testing.TB, expr string) *recur.Recurrence {
	t.Helper()
	s, err := cron.Parse(expr)
	testkit.Must(t, err)
	r := recur.Of(s)
	return &r
}

func TestTheLastFireMayBeExactlyNow(t *testing.T) {
	each := recurrence(t, "* * * * *")
	for _, c := range []struct {
		first, now, last, before int64
		n                        int
	}{
		{60, 60, 60, 60, 1},
		{60, 119, 60, 60, 1},
		{60, 120, 120, 60, 2},
		{60, 121, 120, 60, 2},
		{60, 60 * 99, 60 * 99, 60 * 98, 99},
		{60, 60 * 100, 60 * 100, 60 * 99, mostMissed},
		{60, 60 * 5000, 60 * 5000, 60 * 4999, mostMissed},
		{60, 60*5000 - 1, 60 * 4999, 60 * 4998, mostMissed},
	} {
		last, before, n := lastFires(each, c.first, c.now, time.UTC)
		if last != c.last || before != c.before || n != c.n {
			t.Errorf("from %d to %d: %d, %d, %d; want %+v", c.first, c.now, last, before, n, c)
		}
	}
}

func TestTheFireBeforeTheLastIsFoundHoweverManyWereMissed(t *testing.T) {
	for expr, step := range map[string]int64{"* * * * *": 60, "0 * * * *": 3600, "0 0 * * *": 86400} {
		each := recurrence(t, expr)
		for n := int64(90); n < 500; n++ {
			for _, late := range []int64{0, 10, step - 1} {
				last, before, counted := lastFires(each, step, n*step+late, time.UTC)
				if last != n*step || before != (n-1)*step || counted != int(min(n, mostMissed)) {
					t.Fatalf("%s, %d fires and %d s: %d, %d, %d", expr, n, late, last/step, before/step, counted)
				}
			}
		}
	}
}

func TestAPartOfASecondCountsAsTheNextOne(t *testing.T) {
	for at, want := range map[time.Time]int64{time.Unix(7, 0): 7, time.Unix(7, 1): 8, time.Unix(7, 999_999_999): 8} {
		if got := ceilSecond(at); got != want {
			t.Errorf("%v gives %d, want %d", at, got, want)
		}
	}
	if got := after(time.Unix(7, 5)); !got.Equal(time.Unix(8, 0)) {
		t.Errorf("after gives %v", got)
	}
}

func TestALongPromptOfFewWordsShowsThatItContinues(t *testing.T) {
	for body, want := range map[string]string{
		"call" + strings.Repeat("\n", 1000) + "home": "call...",
		"call\nhome":                        "call home",
		"call home\n```script\nsay ok\n```": "call home",
		strings.Repeat("x", 8):              "xxxxxxxx",
	} {
		if got := briefly(&routines.Task{Body: body}); got != want {
			t.Errorf("%.10q gives %q, want %q", body, got, want)
		}
	}
}

// S21: the cut at sixty characters split a family.
func TestTheBeginningOfAPromptSplitsNoCharacter(t *testing.T) {
	const family = "👨\u200d👩\u200d👧"
	for lead, want := range map[int]string{55: family, 56: "", 57: "", 58: "", 59: "", 60: ""} {
		text := strings.Repeat("x", lead) + family + strings.Repeat("y", 30)
		if got := beginning(text); got != strings.Repeat("x", lead)+want+"..." {
			t.Errorf("after %d characters it is %q", lead, got)
		}
	}
}
