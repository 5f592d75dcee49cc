package core

import (
	"testing"
	"time"

	"ollimbot/core/work/fork"
	duetimes "ollimbot/routines/account"
)

// A due time is shown with its own run, not with an earlier or later one, nor with
// another task's.
func TestADueTimeIsShownWithItsRun(t *testing.T) {
	nine := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	runs := []fork.View{
		{ID: "early", Queued: nine.Add(-time.Minute)},
		{ID: "first", Queued: nine.Add(time.Second), Started: nine.Add(time.Hour)},
		{ID: "again", Queued: nine.Add(10 * time.Minute)},
		{ID: "old", Started: nine.Add(2 * time.Hour)}, // earlier versions did not record when a run was queued
	}
	for _, c := range []struct {
		at   time.Duration
		fate duetimes.Fate
		next time.Duration // 0 for none
		want string
	}{
		{0, duetimes.Ran, time.Hour, "first"},
		{0, duetimes.Failed, time.Second / 2, ""},
		{time.Hour, duetimes.Interrupted, 0, "old"},
		{time.Hour, duetimes.Running, time.Hour + time.Minute, ""},
		{3 * time.Hour, duetimes.Ran, 0, ""},
		{0, duetimes.Missed, time.Hour, ""},
		{0, duetimes.Held, 0, ""},
	} {
		row := duetimes.Row{ID: "a", Due: nine.Add(c.at), Fate: c.fate}
		var next time.Time
		if c.next > 0 {
			next = nine.Add(c.next)
		}
		if f, ok := dueRun(row, runs, next); f.ID != c.want || ok != (c.want != "") {
			t.Errorf("%s after %s: %q, want %q", c.fate, c.at, f.ID, c.want)
		}
	}
}
