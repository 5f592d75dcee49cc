package pane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
)

func TestViewsOfTheScheduleLookAsTheyDid(t *testing.T) {
	for turns, name := range []string{"window", "all"} {
		for _, th := range []struct {
			name  string
			theme *theme.Theme
			sizes [][2]int
		}{
			{"", plainTheme(), [][2]int{{28, 9}, {40, 8}, {80, 12}, {120, 20}}},
			{"-ascii", theme.New(theme.Options{Plain: true, ASCII: true}), [][2]int{{80, 12}}},
		} {
			s := open("schedule")
			s.c.Theme = th.theme
			for range turns {
				s.do(action.ScheduleView)
			}
			for _, size := range th.sizes {
				compare(t, fmt.Sprintf("schedule-%s%s-%dx%d", name, th.name, size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
			}
		}
	}
}

func TestADayThatIsNotListedToItsEndSaysSo(t *testing.T) {
	s := open("schedule")
	s.next(crowded)
	for _, size := range [][2]int{{28, 9}, {43, 12}, {80, 12}, {120, 20}} {
		compare(t, fmt.Sprintf("schedule-crowded-%dx%d", size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
	}
}

func TestALinkOfAChainIsOneInEveryView(t *testing.T) {
	s := open("schedule")
	for range 3 {
		screen := s.screen(80, 20)
		for _, l := range strings.Split(screen, "\n") {
			if strings.Contains(l, "landlord") && !strings.Contains(l, "answered?, check 2 of 5") {
				t.Errorf("the link of a chain reads %q", l)
			}
		}
		s.do(action.ScheduleView)
	}
}

func TestAFileWithAHintOnlyIsInForce(t *testing.T) {
	s := open("schedule")
	s.next(func(c *core.Snapshot) {
		c.Schedule.Problems = []routines.Problem{
			{File: "routines/weekly-review.md", Severity: routines.Warning, Message: "two routines share a title"},
			{File: "webhooks/post.md", Severity: routines.Warning, Message: "nobody can reach it"},
			{File: "routines/weekly-review.md", Line: 2, Severity: routines.Error, Message: "no cron"},
		}
	})
	needs := []action.ID{action.ScheduleFire, action.SchedulePreview, action.ScheduleSnooze, action.SchedulePause}
	off := func(want string) {
		t.Helper()
		for _, id := range needs {
			why := s.Pane.(interface {
				Off(c pane.Context, id action.ID) string
			}).Off(s.c, id)
			if !strings.Contains(why, want) || want == "" && why != "" {
				t.Errorf("%s is off because %q, want %q", id, why, want)
			}
			if a := s.do(id); want != "" && a.Toast != why {
				t.Errorf("%s answers %#v", id, a)
			}
		}
	}
	s.find(t, "is:error")
	s.do(action.Schedule.ID("bottom"))
	off("fix this file first: enter shows how")
	s.do(action.Schedule.ID("up"))
	off("not a task")
	s.do(action.Schedule.ID("up")) // the hint for a file that has an error too
	off("fix this file first")
	s.next(func(c *core.Snapshot) { c.Schedule.Problems = c.Schedule.Problems[:2] })
	s.do(action.Schedule.ID("top"))
	off("")
	if a := s.do(action.ScheduleFire); a.Do != (command.FireNow{ID: "e5f6a7b8", Stays: true}) {
		t.Errorf("fires %#v", a.Do)
	}
	has(t, read(s.do(action.ScheduleDetails)), "two routines share a title")
}

// The edit of a task, of a task with a hint, and of a webhook, which has no row but that of a
// problem.
func TestAnEditThatWaitsIsMarkedAndShownByAKey(t *testing.T) {
	s := open("schedule")
	edit := routines.Proposal{Version: "v1", Why: "it may use Bash; the agent that wrote it may not", Diff: "@@ -1 +1 @@\n-old\n+new"}
	s.next(func(c *core.Snapshot) {
		c.Schedule.Tasks = slices.Clone(c.Schedule.Tasks)
		c.Schedule.Entries = slices.Clone(c.Schedule.Entries)
		c.Schedule.Entries[2].Tag, c.Schedule.Tasks[0].Proposed, c.Schedule.Tasks[1].Proposed = schedule.TagProposed, edit, edit
		c.Schedule.Problems = []routines.Problem{
			{File: "webhooks/ci.md", Severity: routines.Warning, Message: "an edit waits: " + edit.Why, Waits: true, Version: "v1", Proposed: edit},
			{File: c.Schedule.Tasks[0].Path, Severity: routines.Warning, Message: "a hint"},
		}
	})
	task := s.c.Snap.Schedule.Entries[2].ID
	for _, c := range []struct {
		title, id, query string
	}{
		{"Edit of ", task, "landlord"},
		{"Edit of " + s.c.Snap.Schedule.Tasks[0].Path, s.c.Snap.Schedule.Tasks[0].Path, `is:error "a hint"`},
		{"Edit of webhooks/ci.md", "webhooks/ci.md", "is:error webhooks"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s.find(t, c.query)
			if screen := s.screen(36, 20); !strings.Contains(screen, "an edit waits") || !strings.Contains(screen, "y shows it: it may use Bash") {
				t.Errorf("%s: the window shows\n%s", c.id, screen)
			}
			d := s.do(action.ScheduleAllow).Open
			if d == nil || !strings.HasPrefix(d.Title(), c.title) {
				t.Fatalf("%s: opens %+v", c.id, d)
			}
			time.Sleep(time.Second)
			if a := d.Update(s.c, tea.KeyPressMsg{Code: 'r', Text: "r"}); a.Do != (command.RefuseEdit{ID: c.id, Version: "v1"}) {
				t.Errorf("%s: refused by %+v", c.id, a)
			}
		})
	}
	s.Pane.(ender).End(s.c)
	if screen := s.screen(160, 20); strings.Count(screen, schedule.TagProposed) < 2 {
		t.Errorf("the window shows\n%s", screen)
	}
}

func TestThousandsOfTasksAreDrawnAsFastAsAFew(t *testing.T) {
	s := open("schedule")
	s.next(func(c *core.Snapshot) {
		c.Schedule.Tasks = make([]schedule.TaskView, 10_000)
		for i := range c.Schedule.Tasks {
			c.Schedule.Tasks[i] = schedule.TaskView{ID: fmt.Sprint(i), Title: fmt.Sprintf("Task %d", i), When: "9:00, every day", Next: noon.Add(time.Hour)}
		}
	})
	s.do(action.ScheduleView, action.Schedule.ID("bottom"))
	allocs := testing.AllocsPerRun(5, func() {
		s.next(func(*core.Snapshot) {})
		s.screen(80, 20)
	})
	if allocs > 1500 {
		t.Errorf("%.0f allocations to draw 20 of 10,000 rows", allocs)
	}
	has(t, s.screen(80, 20), "Task 9999")
}

func TestThePageOfATaskThatLacksSomethingSaysSo(t *testing.T) {
	const why = "it runs without your Google calendar: log in with /google-auth"
	page := open("task")
	page.next(func(c *core.Snapshot) {
		c.Schedule.Problems = []routines.Problem{{File: c.Schedule.Tasks[0].Path, Severity: routines.Warning, Message: why, Lacks: "no login"}}
	})
	has(t, strings.Join(strings.Fields(page.screen(100, 20)), " "), why)
}
