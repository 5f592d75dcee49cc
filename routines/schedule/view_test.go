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

func TestASnoozeOwesNothingUpToTheSecondBeforeItsEnd(t *testing.T) {
	end := time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC)
	for late, want := range map[time.Duration]time.Duration{0: -time.Second, 300 * time.Millisecond: -time.Second, time.Second: 0, 2 * time.Second: time.Second} {
		if got := (Hold{Until: end.Add(late)}).after(); !got.Equal(end.Add(want)) {
			t.Errorf("with an end %v later it is %v", late, got)
		}
	}
}

func TestTimesAreWrittenAsPeopleSayThem(t *testing.T) {
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

func TestTheLastTwoFiresAreFoundHoweverManyWereMissed(t *testing.T) {
	for expr, step := range map[string]int64{"* * * * *": 60, "0 * * * *": 3600, "0 0 * * *": 86400} {
		parsed, err := cron.Parse(expr)
		testkit.Must(t, err)
		each := recur.Of(parsed)
		for n := int64(1); n < 5000; n += 1 + n/500*97 {
			for _, late := range []int64{0, 10, step - 1} {
				last, before, counted := lastFires(&each, step, n*step+late, time.UTC)
				if last != n*step || before != max(1, n-1)*step || counted != int(min(n, mostMissed)) {
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
