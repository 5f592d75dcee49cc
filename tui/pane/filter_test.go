package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/fork"
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
	s.do(action.TailFilter)
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
	s.do(action.TailFilter)
	s.keys(t, "ping", "enter")
	s.next(start("99999999", noon.Add(time.Second)))
	has(t, s.screen(80, 12), "tail: Email sweep")
	s.do(action.Back)
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
	if d := cmp.Diff(command.FireNow{ID: "9a8b7c6d"}, s.do(action.ForksAgain).Do); d != "" {
		t.Error(d)
	}
	s.do(action.ForksDown)
	if a := s.do(action.ForksAgain); a.Do != nil || a.Toast == "" {
		t.Errorf("it has no task: %#v", a)
	}
	s.c.ReadOnly = true
	if a := s.do(action.ForksAgain); a.Do != nil || a.Toast == "" {
		t.Errorf("read-only: %#v", a)
	}
}

func TestCostsAreComparedOverAWeek(t *testing.T) {
	a := open("forks").do(action.ForksCosts)
	if a.Show == nil || a.Show.Load != (command.Costs{Days: 7}) {
		t.Errorf("%#v", a)
	}
}

func TestTheTitleSaysFirstWhatIsLeftOut(t *testing.T) {
	s := open("logs")
	s.screen(80, 12)
	s.do(action.TailLevel, action.TailLevel)
	if _, state := s.Title(s.c); state != "debug and info hidden · following" {
		t.Errorf("state %q", state)
	}
}
