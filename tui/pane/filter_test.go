package pane_test

import (
	"fmt"
	"strings"
	"testing"

	"ollimbot/core"
	"ollimbot/core/base/tail"
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
