package pane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/work/updates"
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

func TestTheTitleOfTheScheduleSaysWhichViewItIs(t *testing.T) {
	s := open("schedule")
	s.next(func(c *core.Snapshot) { c.Schedule.Problems, c.Routines, c.Reminders = nil, 0, 0 })
	var got []string
	for range 4 {
		state := s.State(s.c)
		got = append(got, state)
		s.do(action.ScheduleView)
	}
	if d := cmp.Diff([]string{"next 3h", "all tasks 8", "next 3h", "all tasks 8"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestProblemsDoNotHideWhichViewItIs(t *testing.T) {
	s := open("schedule")
	window := s.State(s.c)
	s.do(action.ScheduleView)
	if day := s.State(s.c); window != "next 3h · 1 error · 12 routines · 4 reminders" || day != "all tasks 8 · 1 error · 12 routines · 4 reminders" {
		t.Errorf("the titles say %q and %q", window, day)
	}
}

// crowded is a day of which the list of fires shows nine hours only.
func crowded(s *core.Snapshot) {
	from := s.At.Truncate(time.Hour).Add(time.Hour)
	s.Schedule.Problems, s.Schedule.Day = nil, nil
	for i := range 500 {
		s.Schedule.Day = append(s.Schedule.Day, schedule.Entry{ID: fmt.Sprint(i), Description: fmt.Sprint("Fire ", i), FireTime: from.Add(time.Duration(i) * 65 * time.Second), Kind: routines.KindRoutine})
	}
	s.Schedule.DayUntil = s.Schedule.Day[499].FireTime
}

func TestADayThatIsNotListedToItsEndSaysSo(t *testing.T) {
	s := open("schedule")
	s.next(crowded)
	for _, size := range [][2]int{{28, 9}, {43, 12}, {80, 12}, {120, 20}} {
		compare(t, fmt.Sprintf("schedule-crowded-%dx%d", size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
	}
	has(t, s.screen(80, 20), "not every fire after Tue 00:00 is listed")
	s.next(func(c *core.Snapshot) { c.Schedule.DayUntil = c.At.Add(24 * time.Hour) })
	lacks(t, "a whole day has no more", s.screen(80, 20), "is listed")
	s.next(crowded)
	s.do(action.ScheduleView)
	lacks(t, "the list of all tasks has no more", s.screen(80, 20), "is listed")
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

func TestTheSelectionStaysWithItsTaskFromViewToView(t *testing.T) {
	s := open("schedule")
	s.do(action.Schedule.ID("down"), action.Schedule.ID("down")) // Move a little
	for range 3 {
		s.do(action.ScheduleView)
		if a := s.do(action.ScheduleFire); a.Do != (command.FireNow{ID: "11aa22bb", Stays: true}) {
			t.Errorf("another task is selected: %#v", a.Do)
		}
	}
}

// In the day a task may fire many times: each fire is a row of its own.
func TestAFireOfTheDayStaysSelectedAsTimeGoesOn(t *testing.T) {
	s := open("schedule")
	for range 6 { // 18:15
		s.do(action.Schedule.ID("down"))
	}
	marked := func() string {
		for _, l := range strings.Split(s.screen(80, 20), "\n") {
			if strings.HasPrefix(l, "▸") {
				return strings.TrimPrefix(l, "▸ ")[:5]
			}
		}
		return ""
	}
	before := marked()
	s.next(func(c *core.Snapshot) { c.Schedule.Day = c.Schedule.Day[2:] })
	if after := marked(); before != "18:15" || after != before {
		t.Errorf("%q was selected, now it is %q", before, after)
	}
}

func TestHoldsAnswerWithTheirCommands(t *testing.T) {
	s := open("schedule")
	s.do(action.ScheduleView)
	s.find(t, "plants")
	if a := s.do(action.SchedulePause); a.Do != (command.Pause{ID: "5a5a5a5a", Paused: false}) {
		t.Errorf("what is paused goes on, got %#v", a.Do)
	}
	s.find(t, "medication")
	if a := s.do(action.SchedulePause); a.Do != (command.Pause{ID: "9a8b7c6d", Paused: true}) {
		t.Errorf("got %#v", a.Do)
	}
	form := s.do(action.ScheduleSnooze).Open
	has(t, form.Title(), "Snooze Medication until")
	has(t, strings.Join(form.Draw(s.c, 80, 20), "\n"), "active until Tue 09:00")
	if a := form.Update(s.c, tea.KeyPressMsg{Code: tea.KeyEnter}); a.Send != (command.Snooze{ID: "9a8b7c6d", Until: noon.Add(30 * time.Minute)}) {
		t.Errorf("it sends %#v", a.Send)
	}
	if a := s.do(action.ScheduleOpen); a.Edit == nil || *a.Edit != (pane.Edit{File: "routines/medication.md"}) {
		t.Errorf("opens %#v", a.Edit)
	}
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

func TestWhatWaitsIsShownWithItsReasonAndLetGoByAKey(t *testing.T) {
	s := open("schedule")
	const why = "it may use Bash; the agent that wrote it may not"
	s.next(func(c *core.Snapshot) {
		c.Schedule.Tasks = slices.Clone(c.Schedule.Tasks)
		c.Schedule.Entries = slices.Clone(c.Schedule.Entries)
		c.Schedule.Entries[2].Held, c.Schedule.Entries[2].Tag, c.Schedule.Entries[2].Why = true, schedule.TagWaits, why
		c.Schedule.Tasks[0].Waits, c.Schedule.Tasks[1].Waits = why, why
		c.Schedule.Problems = []routines.Problem{{File: "skills/x/SKILL.md", Severity: routines.Warning, Message: "this skill is not used until you approve it", Waits: true}}
	})
	screen := s.screen(160, 20)
	if !strings.Contains(screen, "needs your approval") || !strings.Contains(screen, "may use Bash") {
		t.Errorf("the window shows\n%s", screen)
	}
	allow := func(a pane.Answer, id, words string) {
		t.Helper()
		if a.Ask == nil || a.Ask.Do != (command.AllowTask{ID: id}) || !strings.Contains(a.Ask.Text, words) {
			t.Errorf("asks %+v", a)
		}
	}
	allow(s.do(action.Schedule.ID("down"), action.ScheduleAllow), "c0ffee00", "may use Bash")
	if a := s.do(action.Schedule.ID("down"), action.ScheduleAllow); a.Ask != nil || !strings.Contains(a.Toast, "is not waiting") {
		t.Errorf("of a task that does not wait: %+v", a)
	}
	s.find(t, "is:error")
	allow(s.do(action.ScheduleAllow), "skills/x/SKILL.md", "this skill is not used")
	s.do(action.ScheduleView)
	s.find(t, "check email")
	allow(s.do(action.ScheduleAllow), "0f1e2d3c", why)
	if screen := s.screen(160, 20); !strings.Contains(screen, "needs your approval") {
		t.Errorf("the list of all shows\n%s", screen)
	}
}

func TestAProblemOpensAtItsPlace(t *testing.T) {
	s := open("schedule")
	s.find(t, "is:error")
	a := s.do(action.ScheduleOpen)
	if a.Edit == nil || *a.Edit != (pane.Edit{File: "routines/gym.md", Line: 3, Column: 8}) {
		t.Errorf("opens %#v", a.Edit)
	}
	for _, id := range []action.ID{action.ScheduleSnooze, action.SchedulePause, action.SchedulePreview} {
		if a := s.do(id); a.Toast == "" || a.Do != nil || a.Open != nil {
			t.Errorf("%s answers %#v", id, a)
		}
	}
}

func TestNothingScheduledStillTakesANewTask(t *testing.T) {
	s := open("schedule")
	s.next(func(c *core.Snapshot) { c.Schedule = schedule.View{} })
	for range 3 {
		if s.do(action.ScheduleNew).Open == nil {
			t.Error("no form")
		}
		s.do(action.ScheduleView)
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

func TestAComingDroughtIsSaidInWordsAndWithASign(t *testing.T) {
	s := open("budget")
	s.next(func(c *core.Snapshot) {
		c.Budget.State.Available, c.Budget.State.RefillRateMinutes = 1.2, 600
		c.Budget.Fires = slices.Clone(c.Budget.Fires)
		for i := range c.Budget.Fires {
			c.Budget.Fires[i].Rate = 0.05
		}
	})
	s.do(action.Back) // the change is seen
	has(t, s.screen(120, 8), "✓ likely enough until Tue 14:02; if every task pings, out at 15:15: Nudge me to stand up and")
	has(t, s.screen(44, 8), "✓ likely enough until Tue 14:02")
	has(t, s.Line(s.c, 66), "✓ likely enough until Tue 14:02")
	if state := s.State(s.c); state != "likely enough" {
		t.Errorf("the title says %q", state)
	}
	for _, size := range [][2]int{{40, 8}, {80, 8}} {
		compare(t, fmt.Sprintf("budget-dry-%dx%d", size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
	}
}

func TestMutedUntilATimeShowsAndAsks(t *testing.T) {
	s := open("budget")
	until := noon.Add(2 * time.Hour)
	s.next(func(c *core.Snapshot) { c.Budget.Muted, c.Budget.Quiet = until, until })
	has(t, s.screen(40, 8), "muted until 16:02", "only critical")
	if n := strings.Count(s.screen(40, 8), "until 16:02"); n != 1 {
		t.Errorf("it is said %d times", n)
	}
	form := s.do(action.Mute).Open
	has(t, form.Title(), "Mute pings that are not critical until")
	has(t, strings.Join(form.Draw(s.c, 80, 20), "\n"), "active until 16:02")
}

func TestAnUpdateNamesTheRunThatLeftIt(t *testing.T) {
	s := open("updates")
	left := noon.Add(-7 * time.Minute)
	s.next(func(c *core.Snapshot) {
		c.Updates = []updates.Update{{Key: "x", At: left, Message: "The pill was taken.", Source: updates.Source{Run: "44444444", From: "Medication"}}}
	})
	has(t, s.screen(80, 12), "Medication: The pill was taken.")
	has(t, read(s.do(action.UpdatesRead)), "by Medication.", "\nThe pill was taken.")
	s.next(func(c *core.Snapshot) { // what is not recorded is not guessed (Q4)
		c.Updates = []updates.Update{{Key: "x", At: left, Message: "The pill was taken."}}
	})
	lacks(t, "a guess is shown as a fact", s.screen(80, 12), "Medication:")
}

// A task that lacks something says so in its row, in its reason and on its page, in the same words.
func TestATaskThatLacksSomethingIsMarked(t *testing.T) {
	const why = "it runs without your Google calendar: log in with /google-auth"
	s := open("schedule")
	s.next(func(c *core.Snapshot) {
		c.Schedule.Problems = []routines.Problem{
			{File: "routines/move-a-little.md", Severity: routines.Warning, Message: "two routines share a title"},
			{File: "routines/move-a-little.md", Severity: routines.Warning, Message: why, Lacks: "no login"},
		}
	})
	for _, view := range []string{"around now", "all tasks"} {
		s.find(t, "is:lacking")
		screen := s.screen(80, 20)
		row := ""
		for l := range strings.Lines(screen) {
			if strings.Contains(l, "Nudge me") {
				row = l
			}
		}
		if !strings.Contains(row, "! Nudge") || !strings.Contains(row, "no login") || !strings.Contains(screen, "no login ─") || !strings.Contains(screen, "it runs without your Google calendar") {
			t.Errorf("%s:\n%s", view, screen)
		}
		s.do(action.ScheduleView)
	}
	page := open("task")
	page.next(func(c *core.Snapshot) {
		c.Schedule.Problems = []routines.Problem{{File: c.Schedule.Tasks[0].Path, Severity: routines.Warning, Message: why, Lacks: "no login"}}
	})
	has(t, strings.Join(strings.Fields(page.screen(100, 20)), " "), why)
}

// A window is never cut to its beginning: a narrow list has it in short.
func TestAWindowIsShownWholeOrInShort(t *testing.T) {
	s := open("schedule")
	s.next(func(c *core.Snapshot) {
		c.Schedule.Entries = slices.Clone(c.Schedule.Entries)
		c.Schedule.Entries[2].Until = c.Schedule.Entries[2].FireTime.Add(90 * time.Minute) // 14:30 to 16:00
	})
	for _, c := range []struct {
		w, h   int
		twelve bool
		want   string
	}{
		{120, 20, false, "14:30–16:00"},
		{80, 12, false, "14:30–16:00"},
		{40, 8, false, "14:30–16 "},
		{28, 6, false, "14:30–16 "},
		{80, 12, true, "2:30pm–4:00pm"},
		{40, 8, true, "2:30–4pm "},
	} {
		s.next(func(snap *core.Snapshot) { snap.TwelveHours = c.twelve })
		has(t, s.screen(c.w, c.h), c.want)
	}
}
