package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	forkspane "ollimbot/tui/pane/forks"
	"ollimbot/tui/theme"
)

// What runs or has failed unseen is what the user must not miss, even far down in the past.
func TestRunningAndFailedRunsStayVisibleWhateverIsSelected(t *testing.T) {
	s := open("forks")
	s.next(longDay)
	for _, size := range [][2]int{{70, 18}, {78, 16}, {44, 12}} {
		s.do(action.TailFollow)
		above, below, _ := strings.Cut(s.screen(size[0], size[1]), "\n──")
		has(t, above, "Weekly review", "Email sweep", "Rent")
		lacks(t, "it is not the first column that marks the selection", above, "▸")
		has(t, below, "▸", "Check the rent")
	}
}

func TestTheRunThatTheUserFiredIsSelectedOnceItStarts(t *testing.T) {
	s := open("forks")
	s.do(action.TailFollow, action.ForksTail) // deep in an old run
	p := s.Pane.(*forkspane.Pane)
	p.Await(s.c, "0f1e2d3c")
	s.next(start("99999999", noon.Add(time.Second))) // another one
	has(t, s.screen(80, 18), "tail: Check the rent")
	s.next(func(c *core.Snapshot) {
		start("aaaaaaaa", noon.Add(2*time.Second))(c)
		c.Forks[0].TaskID = "0f1e2d3c"
	})
	has(t, s.screen(80, 18), "─ tail: Run aaaaaaaa")
	s.next(start("bbbbbbbb", noon.Add(3*time.Second)))
	has(t, s.screen(80, 18), "─ tail: Run aaaaaaaa")
	p.Await(s.c, "c0ffee00") // it waits for a token
	s.next(func(c *core.Snapshot) {
		c.At = c.At.Add(2 * time.Minute)
		start("cccccccc", c.At)(c)
		c.Forks[0].TaskID = "c0ffee00"
		start("dddddddd", c.At.Add(time.Second))(c)
	})
	has(t, s.screen(80, 18), "─ tail: Run dddddddd")
}

func TestOneKeyMarksAllFailuresAsSeen(t *testing.T) {
	s := open("forks")
	s.next(longDay)
	s.next(func(c *core.Snapshot) {
		for i := range 3 {
			at := noon.Add(time.Duration(i-9) * time.Minute)
			c.Failures = append(c.Failures, fork.View{ID: fmt.Sprint("e", i), Title: fmt.Sprint("Broken ", i), State: fork.Failed, Started: at, Ended: at})
		}
	})
	has(t, s.State(s.c), "4 failed")
	above, _, _ := strings.Cut(s.screen(80, 24), "\n──")
	last := 0
	for _, title := range []string{"Weekly review", "Email sweep", "Broken 2", "Broken 1", "Broken 0", "Rent"} {
		at := strings.Index(above, title)
		if at < last {
			t.Errorf("%s is out of order:\n%s", title, above)
		}
		last = at
	}
	s.do(action.ForksSeen)
	above, _, _ = strings.Cut(s.screen(80, 24), "\n──")
	lacks(t, "it has been seen", above, "Broken")
	lacks(t, "the title", s.State(s.c), "failed")
	a := s.Pane.(pane.Loader).Wants(s.c)
	if looked, ok := a.Do.(command.MarkSeen); !ok || len(looked.Runs) != 4 {
		t.Errorf("the core learns %#v", a.Do)
	}
	if a := s.do(action.ForksSeen); !strings.Contains(a.Toast, "has been seen") {
		t.Errorf("there is no failure left: %#v", a)
	}
}

func TestARowSaysInWordsWhatCameOfTheRun(t *testing.T) {
	s := open("forks")
	run := func(id string, change func(*fork.View)) fork.View {
		f := fork.View{ID: id, Title: "Run " + id, State: fork.Done, Started: noon.Add(-time.Hour), Ended: noon.Add(-time.Minute)}
		change(&f)
		return f
	}
	s.next(func(c *core.Snapshot) {
		c.Budget.Pings = []budget.Ping{
			{Run: "answered", At: noon.Add(-9 * time.Minute), Answered: noon.Add(-5 * time.Minute)},
			{Run: "refused", Refused: "no token left"},
			{Run: "broken"},
		}
		c.Forks = []fork.View{
			run("answered", func(f *fork.View) { f.Pings = 1 }),
			run("refused", func(f *fork.View) { f.Refused = 1 }),
			run("twice", func(f *fork.View) { f.Pings, f.Reports = 2, 1 }),
			run("broken", func(f *fork.View) { f.Pings, f.State, f.Error = 1, fork.Failed, "no skill" }),
			run("silent", func(*fork.View) {}),
		}
	})
	screen := s.screen(80, 24)
	for id, want := range map[string]string{
		"answered": "ping answered in 4 min", "refused": "ping refused: no token left", "twice": "2 pings · 1 report",
		"broken": "1 ping · no skill", "silent": "done",
	} {
		_, row, _ := strings.Cut(screen, "Run "+id+" ")
		if row, _, _ = strings.Cut(row, "\n"); !strings.HasPrefix(strings.TrimSpace(row), want+" ") {
			t.Errorf("%s: %q, want %q", id, row, want)
		}
	}
}

// Poster 17: esc leads from a text to its run, and only then out of the page.
func TestEscLeadsFromATailToItsRunBeforeItLeavesThePage(t *testing.T) {
	s := open("forks")
	s.c.Zoomed = true
	s.screen(118, 36)
	s.do(action.ForksTail, action.TailFind)
	s.keys(t, "gmail", "enter")
	for i, tail := range []bool{true, false} {
		if !s.Pane.(ender).End(s.c) || strings.Contains(s.screen(118, 36), "▸ tail: Email sweep") != tail {
			t.Errorf("esc %d:\n%s", i+1, s.screen(118, 36))
		}
	}
	if s.Pane.(ender).End(s.c) {
		t.Error("the third esc stays on the page")
	}
}

func TestAWidePageShowsTheTailBesideTheList(t *testing.T) {
	s := open("forks")
	s.c.Zoomed = true
	lines := strings.Split(s.screen(198, 20), "\n")
	has(t, lines[0], "TASK", "│─ tail: Email sweep")
	has(t, lines[1], "▸ ◉ 14:01", "│ 14:01:58 note")
	for _, r := range s.Draw(s.c, 198, 20, true)[1:4] {
		if id := s.Press(s.c, r.At(150), true); id != action.ForksTail {
			t.Errorf("a click on the tail is %q", id)
		}
		if r.At(20) < 0 {
			t.Errorf("a click on the list is at %d", r.At(20))
		}
	}
}

func TestAWidePageOfTheScheduleShowsTheSelectedTask(t *testing.T) {
	s := open("schedule")
	s.c.Zoomed = true
	s.Sync(s.c)
	s.screen(198, 40)
	from := stored{past: command.TaskPast{Next: []command.NextFire{{At: noon.Add(time.Hour)}}}}
	from.past.File.Body = "Look through what is unread."
	for want := s.Pane.(pane.Loader).Wants(s.c).Load; want != nil; want = s.Pane.(pane.Loader).Wants(s.c).Load {
		want(t.Context(), from)(s.c)
	}
	has(t, s.screen(198, 40), "│─ Check email ─", "│ every hour", "next      15:02", "Look through what is unread.")
	s.do(action.Schedule.ID("down"))
	lacks(t, "the text of another task is shown", s.screen(198, 40), "unread.")
	has(t, s.screen(198, 40), "│─ Has the landlord answered?")
	lacks(t, "there is no room beside the list", s.screen(118, 40), "│")
	has(t, s.screen(118, 40), "─ Has the landlord answered?, check 2 of 5 ─")
}

// Poster 2: a task in the panel is its own text first, then what is known, and the rest of its prompt only as a number.
func TestThePanelOfATaskBeginsWithItsOwnText(t *testing.T) {
	s := open("schedule")
	past := command.TaskPast{Next: []command.NextFire{{At: noon.Add(time.Hour)}}, Rate: fork.Rate{Runs: 2, Pings: 1}}
	past.File.Body = "Look through what is unread.\nLeave newsletters out."
	for i := range 3 {
		at := noon.Add(time.Duration(i-5) * time.Hour)
		past.Runs = append(past.Runs, fork.View{State: fork.Done, Started: at, Ended: at.Add(time.Minute)})
	}
	from := stored{past: past, prompt: "[routine-bg]\nLook through what is unread.\nLeave newsletters out.\nYou may ping."}
	detail := func() string {
		d := s.Pane.(interface {
			Detail(c pane.Context, w, h int) pane.Detail
		}).Detail(s.c, 90, 14)
		return d.Title[0].Text + "\n" + strings.Join(textsOf(d.Rows), "\n")
	}
	detail()
	for want := s.Pane.(pane.Loader).Wants(s.c).Load; want != nil; want = s.Pane.(pane.Loader).Wants(s.c).Load {
		want(t.Context(), from)(s.c)
	}
	rest := detail()
	for _, want := range []string{"Check email\n Look through", " Leave newsletters out.", "every hour", "never pings", "next", "15:02", "pings", "also sent 2 lines, p shows", "runs", "11:02 · done", "10:02 · done", "09:02 · done"} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q does not follow in\n%s", want, detail())
		}
		rest = after
	}
	lacks(t, "the rest of the prompt", detail(), "You may ping")
}

// Poster, deliverable 4, and 10: a run that starts stands out for a moment, and rows fade with age.
func TestTheTitleOfARunFadesWithItsAge(t *testing.T) {
	s := open("forks")
	s.c.Theme = theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	s.next(func(c *core.Snapshot) {
		c.Forks = nil
		for i, ago := range []time.Duration{time.Second, 10 * time.Second, 30 * time.Minute, 3 * time.Hour, 30 * time.Hour} {
			f := fork.View{ID: fmt.Sprint(i), Title: fmt.Sprint("Run ", i), State: fork.Running, Started: noon.Add(-ago)}
			if i > 1 {
				f.State, f.Ended = fork.Done, f.Started.Add(time.Second)
			}
			c.Forks = append(c.Forks, f)
		}
	})
	screen := s.screen(118, 24)
	if here, _ := s.c.Theme.Ends(theme.Here); strings.Count(screen, here+"14:0") != 1 {
		t.Errorf("one run has just started:\n%s", screen)
	}
	for i, role := range []theme.Role{theme.Strong, theme.Strong, theme.Strong, theme.Text, theme.Dim} {
		before, _, found := strings.Cut(screen, fmt.Sprint("Run ", i, " "))
		if open, _ := s.c.Theme.Ends(role); !found || !strings.HasSuffix(before, open) || open == "" && strings.HasSuffix(before, "m") && !strings.HasSuffix(before, "[39m") {
			t.Errorf("run %d follows %q", i, before[max(0, len(before)-30):])
		}
	}
}
