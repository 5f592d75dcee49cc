package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/tui/action"
)

func TestFilteredTailsLookAsTheyDid(t *testing.T) {
	for name, begin := range map[string]func(s *stage){
		"typing": func(s *stage) { s.do(action.TailFilter); s.keys(t, "fork") },
		"kept":   func(s *stage) { s.do(action.TailFilter); s.keys(t, "!fork", "enter") },
		"none":   func(s *stage) { s.do(action.TailFilter); s.keys(t, "nowhere") },
		"level":  func(s *stage) { s.do(action.TailLevel, action.TailLevel, action.TailTime) },
	} {
		s := open("logs")
		s.screen(80, 12)
		begin(s)
		for _, size := range sizes {
			compare(t, fmt.Sprintf("logs-%s-%dx%d", name, size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
		}
	}
}

// In a tail with kinds the word of a kind finds its lines.
func TestATailIsFilteredByKindAndByWord(t *testing.T) {
	s := open("forks")
	s.screen(80, 20)
	s.do(action.ForksTail, action.TailFilter)
	s.keys(t, "ping", "enter")
	screen := s.screen(80, 20)
	has(t, screen, "The plumber comes at 15:00", "2 of 8 lines", "already sent 1 ping", "filtered")
	s.do(action.TailFilter)
	s.keys(t, "esc")
	has(t, s.screen(80, 20), "I look at what is unread", "following")
}

func TestNothingTakesAFilteredTailFromItsReader(t *testing.T) {
	s := open("forks")
	s.screen(80, 12)
	s.do(action.ForksTail, action.TailFilter)
	s.keys(t, "ping", "enter")
	s.next(start("99999999", noon.Add(time.Second)))
	has(t, s.screen(80, 12), "tail: Email sweep")
	s.do(action.Back, action.Back) // out of the filter, out of the tail
	s.next(start("aaaaaaaa", noon.Add(2*time.Second)))
	has(t, s.screen(80, 12), "tail: Run aaaaaaaa")
}

func TestEscapeLeavesTheSearchThenTheFilter(t *testing.T) {
	s := open("logs")
	s.screen(80, 12)
	s.do(action.TailFilter)
	s.keys(t, "fork", "enter")
	s.do(action.TailFind)
	s.keys(t, "run=2", "enter")
	has(t, s.screen(80, 12), "1 of 1", "2 of 6 lines")
	s.do(action.Back)
	if screen := s.screen(80, 12); strings.Contains(screen, "1 of 1") || !strings.Contains(screen, "2 of 6 lines") {
		t.Errorf("the search is left first:\n%s", screen)
	}
	s.do(action.Back)
	has(t, s.screen(80, 12), "schedule loaded")
}

func TestLevelsLeaveOutMoreAndMore(t *testing.T) {
	s := open("logs")
	s.screen(80, 12)
	for _, want := range []struct {
		toast string
		lines int
	}{{"debug hidden", 5}, {"debug and info hidden", 2}, {"errors only", 1}, {"all levels", 6}} {
		a := s.do(action.TailLevel)
		if a.Toast != want.toast {
			t.Errorf("%q, want %q", a.Toast, want.toast)
		}
		if n := strings.Count(s.do(action.TailCopyAll).Copy, "\n"); n != want.lines {
			t.Errorf("%s: %d lines, want %d", want.toast, n, want.lines)
		}
	}
}

func TestTheColumnOfTimesCanBeLeftOut(t *testing.T) {
	s := open("logs")
	has(t, s.screen(80, 12), "14:01:58 info")
	s.do(action.TailTime)
	if screen := s.screen(80, 12); strings.Contains(screen, "14:0") || !strings.Contains(screen, " info   fork started") {
		t.Errorf("times are left:\n%s", screen)
	}
}

func TestATaskRunsAgainWhenItsRunHasEnded(t *testing.T) {
	s := open("forks")
	s.next(func(c *core.Snapshot) {
		c.Forks = append([]fork.View{}, c.Forks...)
		c.Forks[3].TaskID = "9a8b7c6d"
	})
	if a := s.do(action.ForksAgain); a.Do != nil || a.Toast == "" {
		t.Errorf("it runs yet: %#v", a)
	}
	s.do(action.ForksDown, action.ForksDown, action.ForksDown)
	if d := cmp.Diff(command.FireNow{ID: "9a8b7c6d", Stays: true}, s.do(action.ForksAgain).Do); d != "" {
		t.Error(d)
	}
	s.do(action.ForksDown)
	if a := s.do(action.ForksAgain); a.Do != nil || a.Toast == "" {
		t.Errorf("it has no task: %#v", a)
	}
}

func TestTheTitleSaysFirstWhatIsLeftOut(t *testing.T) {
	s := open("logs")
	s.screen(80, 12)
	s.do(action.TailLevel, action.TailLevel)
	if state := s.State(s.c); state != "debug and info hidden · following" {
		t.Errorf("state %q", state)
	}
}

// calm is a log in which nothing goes wrong.
func calm(_ string, from tail.Cursor) tail.Page {
	r := tail.New(400)
	for i := range 312 {
		r.Add(tail.Line{At: noon, Kind: []tail.Kind{tail.Debug, tail.Info}[i%2], Text: fmt.Sprint("all is well ", i)})
	}
	return r.Read(from)
}

func TestAnEmptyLogSaysWhatIsHiddenAndWhatShowsIt(t *testing.T) {
	s := open("logs")
	s.Pane, s.c.Tail = panes()["logs"], calm
	s.next(func(c *core.Snapshot) { c.LogLines = 312 })
	s.screen(80, 12)
	s.do(action.TailLevel, action.TailLevel)
	has(t, s.screen(80, 12), "312 lines hidden.", "v shows the next level.")
	s.do(action.TailLevel)
	has(t, s.screen(80, 12), "312 lines hidden.", "v shows the next level.")
	s.do(action.TailFilter)
	s.keys(t, "nowhere", "enter")
	has(t, s.screen(80, 12), "312 lines hidden.", "Esc removes the filter.", "v shows the next level.")
	s.do(action.Back, action.TailLevel)
	lacks(t, "every line is shown", s.screen(80, 12), "hidden")
	s.do(action.TailLevel)
	s.c.Keys, _ = action.Keys{}.Change([]action.Change{{Pane: action.Logs, ID: action.TailLevel, Keys: []string{"ctrl+y"}}})
	s.do(action.TailLevel)
	has(t, s.screen(80, 12), "ctrl+y shows the next level.")
}

func TestAFilterThatHidesEverythingSaysSoInEveryTail(t *testing.T) {
	for _, name := range []string{"logs", "forks"} {
		s := open(name)
		s.screen(80, 20)
		if name == "forks" {
			s.do(action.ForksTail)
		}
		s.do(action.TailFilter)
		s.keys(t, "!e") // each line has one
		has(t, s.screen(80, 20), "lines hidden.", "Esc removes the filter.")
		for _, size := range [][2]int{{12, 3}, {1, 1}, {0, 0}, {40, 2}} {
			if n := len(drawn(s, s.c, size[0], size[1], true)); n != size[1] {
				t.Errorf("%s: %d lines of %d", name, n, size[1])
			}
		}
	}
}

func TestUpdatesThatWentHaveNoAge(t *testing.T) {
	s := open("updates")
	s.next(func(c *core.Snapshot) {
		c.Updates = append([]updates.Update{{Key: "cap", At: noon, Message: "(292 earlier update(s) omitted — cap reached)", Dropped: 292}}, c.Updates...)
	})
	screen := s.screen(80, 12)
	has(t, screen, "earlier  (292 earlier update(s) omitted — cap reached)")
	lacks(t, "the oldest are as new as now", screen, "\n now ")
	s.do(action.Updates.ID("bottom"))
	a := s.do(action.UpdatesRead)
	if read(a) == "" || strings.Contains(a.Open.Title()+read(a), "just left") || strings.Contains(read(a), "Left ") {
		t.Errorf("the page says when: %s", read(a))
	}
	has(t, read(a), "It replaces 292 earlier updates")
}

func TestACallIsReadWithItsOwnLines(t *testing.T) {
	s := open("chat")
	text := "git status\n\nif true; then\n\trm -rf build\nfi"
	label := "Run this command? git status ⏎ ⏎ if true; then ⏎ rm -rf build ⏎ fi"
	s.next(func(c *core.Snapshot) {
		c.Approvals = []policy.Approval{{ID: "b", Tool: "Bash", Label: label, Question: "Run this command?", Text: text, Until: noon.Add(time.Minute)}}
	})
	lacks(t, "the card says all of it", s.screen(80, 14), "read all")
	has(t, read(s.do(action.ApprovalRead)), "asks: Run this command?\n\n"+strings.ReplaceAll(text, "\t", "    ")+"\n", "y allows it and n denies it")
	s.next(func(c *core.Snapshot) {
		c.Approvals = []policy.Approval{{ID: "b", Tool: "Bash", Label: "Run this command? git status …", Question: "Run this command?", Text: text, Until: noon.Add(time.Minute)}}
	})
	has(t, s.screen(80, 14), "git status …", "p read all")
}

// In one line there is no room for the filter's own row.
func TestALogInOneLineSaysWhatIsLeftOut(t *testing.T) {
	s := open("logs")
	line := func() string { return s.Line(s.c, 60) }
	if l := line(); !strings.Contains(l, "commit refused") || strings.Contains(l, "filtered") {
		t.Errorf("without a filter: %q", l)
	}
	s.do(action.TailFilter)
	for _, r := range "schedule" {
		s.Type(s.c, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	if l := line(); !strings.Contains(l, "filtered") || !strings.Contains(l, "schedule loaded") {
		t.Errorf("with a filter: %q", l)
	}
	for range "xx" {
		s.Type(s.c, tea.KeyPressMsg{Code: 'x', Text: "x"})
	}
	if l := line(); !strings.Contains(l, "no line is shown") {
		t.Errorf("with a filter that nothing meets: %q", l)
	}
}
