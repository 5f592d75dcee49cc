package main

import (
	"testing"
	"time"

	"ollimbot/routines/schedule"
)

func TestAnEmptyScheduleNamesTheNextTaskThatFires(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 25, 0, 0, time.UTC)
	task := func(title, held string, ahead time.Duration) schedule.TaskView {
		return schedule.TaskView{Title: title, Held: held, Next: now.Add(ahead)}
	}
	for _, c := range []struct {
		name  string
		tasks []schedule.TaskView
		want  string
	}{
		{"the first one ahead", []schedule.TaskView{task("Rent", "", 24*time.Hour), task("Tax", "", 48*time.Hour)}, "; next: Rent at Tue 2026-11-24 09:25 UTC"},
		{"not one that is held", []schedule.TaskView{task("Rent", "paused", 24*time.Hour), task("Tax", "", 48*time.Hour)}, "; next: Tax at Wed 2026-11-25 09:25 UTC"},
		{"none if all are held", []schedule.TaskView{task("Rent", "paused", 24*time.Hour)}, ""},
		{"not one that is held and late", []schedule.TaskView{task("Rent", "paused", -time.Hour)}, ""},
		{"not one that never fires", []schedule.TaskView{{Title: "Over"}}, ""},
		{"none that is late, which is counted", []schedule.TaskView{task("Rent", "", -time.Hour), task("Tax", "", 48*time.Hour)}, "; next: Tax at Wed 2026-11-25 09:25 UTC; " + overdueText(1)},
		{"late ones alone", []schedule.TaskView{task("Rent", "", -time.Hour), task("Tax", "", 0)}, "; " + overdueText(2)},
		{"how to begin", nil, ": add a routine with ollim-bot routine add"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := nothingAhead(c.tasks, now); got != textNothingAhead+c.want {
				t.Errorf("%q, want it to end with %q", got, c.want)
			}
		})
	}
}
