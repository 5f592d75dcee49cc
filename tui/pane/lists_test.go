package pane_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	taskpage "ollimbot/tui/pane/task"
)

// askedFor notes which task was read last.
type askedFor struct {
	pane.Reader
	id string
}

func (r *askedFor) Preview(_ context.Context, id string) (string, error) {
	r.id = id
	return "", nil
}

func (r *askedFor) Past(_ context.Context, id string) (command.TaskPast, error) {
	r.id = id
	return command.TaskPast{}, nil
}

// readFor is the task that a page is read of.
func readFor(t *testing.T, a pane.Answer) string {
	t.Helper()
	if a.Open == nil || a.Load == nil {
		t.Fatalf("it reads nothing: %#v", a)
	}
	r := &askedFor{}
	a.Load(t.Context(), r)
	return r.id
}

func TestThePageOfATaskForgetsWhatWasReadForAnother(t *testing.T) {
	p := &taskpage.Page{}
	c := everydayContext(plainTheme())
	c.Zoomed = true
	one, other := c.Snap.Schedule.Tasks[0].ID, c.Snap.Schedule.Tasks[1].ID
	p.Show(c, one)
	for range 2 { // the past, and the prompt
		late := p.Wants(c).Load(t.Context(), stored{past: command.TaskPast{Runs: make([]fork.View, 7)}, prompt: "of the first"})
		p.Show(c, other)
		late(c)
		lacks(t, "the first task is shown", strings.Join(drawn(p, c, 80, 20, true), "\n"), "of the first")
		lacks(t, "the first task is shown", strings.Join(drawn(p, c, 80, 20, true), "\n"), "7 runs")
		p.Show(c, one)
		p.Wants(c)
	}
}

func TestProblemsAreAlwaysInSight(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := open("schedule")
		s.next(func(c *core.Snapshot) {
			for i := range rapid.IntRange(0, 20).Draw(t, "entries") {
				c.Schedule.Entries = append(c.Schedule.Entries, schedule.Entry{ID: fmt.Sprint(i), FireTime: noon.Add(time.Hour)})
			}
		})
		for range rapid.IntRange(0, 25).Draw(t, "down") {
			s.do(action.Schedule.ID("down"))
		}
		screen := s.screen(rapid.IntRange(16, 90).Draw(t, "w"), rapid.IntRange(2, 30).Draw(t, "h"))
		if !strings.Contains(screen, "error") && !strings.Contains(screen, "gym") || strings.Count(screen, "▸") != 1 {
			t.Fatalf("the error or the selection is out of sight:\n%s", screen)
		}
	})
}

func TestAReminderThatIsFiredByHandStays(t *testing.T) {
	for views := range 3 {
		s := open("schedule")
		for range views {
			s.do(action.ScheduleView)
		}
		done := map[command.Value]bool{}
		s.do(action.Schedule.ID("top"))
		for range 12 {
			if a := s.do(action.ScheduleFire); a.Do != nil {
				done[a.Do] = true
			}
			s.do(action.Schedule.ID("down"))
		}
		if !done[command.FireNow{ID: "c0ffee00", Stays: true}] || len(done) < 3 {
			t.Errorf("view %d: %v", views, done)
		}
	}
}

// longDay is a day of many runs: one failed an hour ago, the others since then
// did not, one runs and one waits.
func longDay(c *core.Snapshot) {
	c.Started = noon.Add(-6 * time.Hour)
	c.Forks = []fork.View{
		{ID: "r0000000", Title: "Weekly review", State: fork.Running, Started: noon.Add(-time.Minute)},
		{ID: "w0000000", Title: "Email sweep", State: fork.Waiting, Position: 1, Queued: noon},
	}
	for i := range 15 {
		at := noon.Add(-time.Duration(i+1) * 5 * time.Minute)
		f := fork.View{ID: fmt.Sprintf("d%07d", i), Title: fmt.Sprintf("Task %d", i), State: fork.Done, Started: at, Ended: at.Add(time.Minute)}
		if i == 12 {
			f.ID, f.Title, f.State, f.Error = "f0000000", "Rent", fork.Failed, "the disk is full"
			c.Failures = []fork.View{f}
		}
		c.Forks = append(c.Forks, f)
	}
	c.Forks = append(c.Forks, fork.View{ // of another day
		ID: "f1111111", Title: "Old trouble", State: fork.Failed, Started: noon.Add(-9 * time.Hour), Ended: noon.Add(-8 * time.Hour),
	})
}

// rows are the first n runs of the list, without its rule.
func (s *stage) rows(n int) []string {
	lines := strings.Split(s.screen(80, 18), "\n")
	return slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "───") })[:n]
}

func TestAFailureStaysOnTopUntilSomebodyHasLookedAtIt(t *testing.T) {
	s := open("forks")
	s.next(longDay)
	unseen := func() []string { return s.Pane.(interface{ Unseen(*core.Snapshot) []string }).Unseen(s.c.Snap) }
	wants := func(n int, titles ...string) {
		t.Helper()
		if got := len(unseen()); got != n {
			t.Errorf("%d failures are unseen, want %d", got, n)
		}
		for i, l := range s.rows(len(titles)) {
			if !strings.Contains(l, titles[i]) {
				t.Errorf("row %d is %q, want %s", i, l, titles[i])
			}
		}
	}
	wants(1, "Weekly review", "Email sweep", "Rent", "Task 0")
	s.do(action.ForksDown) // from the run that goes on: nobody has looked yet
	wants(1, "Weekly review", "Email sweep", "Rent")
	s.do(action.ForksDown)
	has(t, s.screen(80, 18), "tail: Rent", "the disk is full")
	wants(0, "Weekly review", "Email sweep", "Rent") // it stays while it is looked at
	s.next(func(*core.Snapshot) {})
	wants(0, "Weekly review", "Email sweep", "Rent")
	s.do(action.ForksUp)
	s.next(func(*core.Snapshot) {})
	wants(0, "Weekly review", "Email sweep", "Task 0")
	has(t, s.screen(80, 18), "tail: Email sweep")
}

func TestTheListOfRunsHasMoreThanAThirdWhereThereIsRoom(t *testing.T) {
	s := open("forks")
	s.next(longDay)
	for h, least := range map[int]int{9: 3, 18: 8, 24: 12, 40: 18} {
		n := 0
		for _, l := range strings.Split(s.screen(80, h), "\n") {
			if strings.Contains(l, "tail: ") {
				break
			}
			n++
		}
		if n < least || n > max(h/2, h-7, 6) {
			t.Errorf("%d of %d lines", n, h)
		}
	}
}

func TestTheFiguresOfRunsStandBelowEachOther(t *testing.T) {
	s := open("forks")
	s.c.Zoomed = true // a page has heads
	s.next(func(c *core.Snapshot) {
		ended := noon.Add(-time.Minute)
		c.Forks = []fork.View{
			{ID: "1", Title: "A", State: fork.Done, Started: noon.Add(-time.Hour), Ended: ended, Pings: 1, Reports: 1, Tools: 12, Usage: agent.Usage{InputTokens: 7800, CostUSD: 0.012}},
			{ID: "2", Title: "B", State: fork.Done, Started: noon.Add(-2 * time.Minute), Ended: ended, Tools: 1},
			{ID: "3", Title: "C", State: fork.Failed, Started: noon.Add(-2 * time.Minute), Ended: ended, Refused: 1, Usage: agent.Usage{InputTokens: 120, CostUSD: 1.2}},
			{ID: "4", Title: "D", State: fork.Running, Started: noon.Add(-2 * time.Minute), Reports: 1, Pings: 2, Critical: 1},
		}
	})
	for w := 130; w >= 40; w-- {
		head := strings.Split(s.screen(w, 18), "\n")[0]
		for _, name := range []string{"PING", "REPORT", "REFUSED", "TOOLS", "TOKENS"} {
			if strings.Contains(head, name) != (w >= 116) {
				t.Errorf("%d cells: %q", w, head)
			}
		}
		if !strings.Contains(head, "TIME") || w >= 60 && !strings.Contains(head, "COST") {
			t.Errorf("%d cells: how long they take goes last: %q", w, head)
		}
	}
	has(t, s.screen(130, 18), " 2       1        ·      ·       ·      ·    2:00", " 1       1        ·     12    7.8k   0.01   59:00")
}
