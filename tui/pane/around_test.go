package pane_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

// halfADay is the fixture with runs that have ended, one of them hours ago.
func halfADay(c *core.Snapshot) {
	ended := func(id, task, title string, ago time.Duration, state fork.State) fork.View {
		return fork.View{ID: id, TaskID: task, Title: title, State: state, Started: noon.Add(-ago), Ended: noon.Add(time.Second - ago)}
	}
	c.Ended = []fork.View{
		ended("r0", "ab", "Breakfast", 6*time.Hour, fork.Done),
		ended("r1", "aa", "Morning walk", 14*time.Minute, fork.Failed),
		ended("r2", "bb", "Inbox sweep", 13*time.Minute, fork.Done),
		ended("r3", "cc", "Move around", 12*time.Minute, fork.Done),
		ended("r4", "9a8b7c6d", "Medication", 7*time.Minute, fork.Done),
	}
	c.Ended[2].Reports, c.Ended[3].Refused, c.Ended[4].Pings = 1, 1, 1
	c.Budget.Pings = []budget.Ping{{At: noon.Add(-6 * time.Minute), Run: "r4", Answered: noon.Add(-2 * time.Minute)}}
	c.Schedule.Missed = []schedule.Entry{{ID: "dd", Description: "Stretch", FireTime: noon.Add(-time.Hour), Tag: "missed"}}
}

func TestTheScheduleIsOneListAroundNow(t *testing.T) {
	s := open("schedule")
	s.next(halfADay)
	lines := strings.Split(s.screen(44, 30), "\n")
	var rows []string
	for _, l := range lines {
		rows = append(rows, strings.Join(strings.Fields(strings.Trim(l, "▸ ")), " "))
	}
	want := []string{
		"─ today", "13:02 Stretch missed", "13:48 ✗ Morning walk failed", "13:49 ✓ Inbox sweep 1 report", "13:50 ✓ Move around ping refused", "13:55 ✓ Medication answered, 4m", "─ files to fix", "✗ gym.md: the cron", "─ today", "◐ Weekly review waiting", "14:00 ◉ Move a little running 1:35",
		"14:01 ◉ Email sweep running 0:12", "─ now 14:02", "14:05 Check email silent, 3m", "14:30 Has the landlord a… in 28m",
	}
	for i, w := range want {
		if !strings.HasPrefix(rows[i], w) {
			t.Errorf("row %d is %q, want %q", i, rows[i], w)
		}
	}
	lacks(t, "poster 6: what has run earlier is in the list of runs", strings.Join(rows, "\n"), "Breakfast")
	has(t, strings.Join(rows, "\n"), "─ tomorrow", "08:05 Check email silent, 18h", "─ Tuesday 1 Dec")
}

// What has waited since an earlier day, or was missed on it, stands there, in the order of time.
func TestWhatHasWaitedSinceAnEarlierDayStandsUnderThatDay(t *testing.T) {
	s := open("schedule")
	s.next(halfADay)
	s.next(func(c *core.Snapshot) {
		c.Schedule.Missed = append(c.Schedule.Missed, schedule.Entry{ID: "ee", Description: "Bins", FireTime: noon.Add(-23 * time.Hour), Tag: "missed"})
		c.Schedule.Tasks = append(slices.Clone(c.Schedule.Tasks),
			schedule.TaskView{ID: "ff", Title: "The library book", Kind: routines.KindReminder, Next: noon.Add(-22 * time.Hour), Waits: "it may use Bash"},
			schedule.TaskView{ID: "f1", Title: "The keys", Kind: routines.KindReminder, Next: noon.Add(-time.Hour), Waits: "it may use Bash"})
	})
	s.do(action.Schedule.ID("top"))
	rest := s.screen(60, 40)
	for _, want := range []string{"─ yesterday", "15:02   Bins", "16:02 ! The library book", "─ today", "13:02   Stretch", "files to fix", "─ today", "13:02 ! The keys", "─ now"} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q does not follow in\n%s", want, s.screen(60, 40))
		}
		rest = after
	}
}

func TestNowStandsAThirdFromTheTopUntilOneScrolls(t *testing.T) {
	s := open("schedule")
	s.next(halfADay)
	s.next(func(c *core.Snapshot) { c.Schedule.Problems = nil })
	line := func(w string) int {
		return slices.IndexFunc(strings.Split(s.screen(44, 15), "\n"), func(l string) bool { return strings.Contains(l, w) })
	}
	if y := line("now 14:02"); y != 4 {
		t.Errorf("now stands on line %d of 15", y)
	}
	if strings.TrimSpace(strings.Split(s.screen(44, 15), "\n")[14]) == "" {
		t.Error("there is room left, and more to come")
	}
	s.next(func(c *core.Snapshot) { c.Ended = c.Ended[2:] }) // a quarter of an hour has gone by since the first
	has(t, s.screen(44, 15), "▸ 14:05")
	s.next(halfADay)
	s.do(action.Schedule.ID("top"))
	if line("today") != 0 || line("Morning walk") != 2 || line("now 14:02") != 9 {
		t.Errorf("it does not begin with what has just fired:\n%s", s.screen(44, 15))
	}
	if a := s.do(action.Schedule.ID("down"), action.ScheduleDetails); a.Focus != action.Forks || a.Item != "r1" {
		t.Errorf("enter on a run opens %+v", a)
	}
	if a := s.do(action.ScheduleFire); a.Do != nil || !strings.Contains(a.Toast, "no longer scheduled") {
		t.Errorf("its task is gone: %+v", a)
	}
	s.Pane.(ender).End(s.c) // esc
	if y := line("now 14:02"); y != 4 {
		t.Errorf("esc leads back to now: line %d", y)
	}
}

func TestWhatWasJustMadeIsSelected(t *testing.T) {
	s := open("schedule")
	made := schedule.TaskView{ID: "new1", Title: "Just made", Path: "routines/just-made.md", Kind: "routine", Next: noon.Add(30 * time.Hour)}
	s.Pane.(shower).Show(s.c, made.ID) // before the snapshot has it
	s.next(func(c *core.Snapshot) { c.Schedule.Tasks = append(slices.Clone(c.Schedule.Tasks), made) })
	s.next(func(*core.Snapshot) {}) // and stays so
	if got := readFor(t, s.do(action.SchedulePreview)); got != "new1" {
		t.Errorf("another task is selected: %s", got)
	}
	has(t, s.screen(60, 20), "▸ 20:02   Just made")
}

type ender interface{ End(c pane.Context) bool }

type shower interface {
	Show(c pane.Context, id string)
}
