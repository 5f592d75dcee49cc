package schedule

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/routines"
)

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
