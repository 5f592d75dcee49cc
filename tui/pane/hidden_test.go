package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/policy"
	"ollimbot/core/tail"
	"ollimbot/core/updates"
	"ollimbot/tui/action"
)

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
	has(t, s.screen(80, 12), "312 lines hidden: debug and info.", "l twice shows every level.")
	s.do(action.TailLevel)
	has(t, s.screen(80, 12), "312 lines hidden: debug, info and warnings.", "l shows every level.")
	s.do(action.TailFilter)
	s.keys(t, "nowhere", "enter")
	has(t, s.screen(80, 12), "312 lines hidden: debug, info and warnings; what does not hold “nowhere”.", "esc takes the filter away. l shows every level.")
	s.do(action.Back, action.TailLevel)
	if screen := s.screen(80, 12); strings.Contains(screen, "hidden") {
		t.Errorf("every line is shown:\n%s", screen)
	}
	s.do(action.TailLevel)
	s.c.Keys, _ = action.Keys{}.Change([]action.Change{{Pane: action.Logs, ID: action.TailLevel, Keys: []string{"ctrl+y"}}})
	s.do(action.TailLevel)
	has(t, s.screen(80, 12), "ctrl+y twice shows every level.")
}

func TestAFilterThatHidesEverythingSaysSoInEveryTail(t *testing.T) {
	for _, name := range []string{"logs", "forks"} {
		s := open(name)
		s.screen(80, 20)
		s.do(action.TailFilter)
		s.keys(t, "!e") // each line has one
		has(t, s.screen(80, 20), "lines hidden: what holds “e”.", "esc takes the filter away.")
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
	has(t, screen, "earlier (292 earlier update(s) omitted — cap reached)")
	if strings.Contains(screen, "\n now ") {
		t.Errorf("the oldest are as new as now:\n%s", screen)
	}
	s.do(action.UpdatesBottom)
	page := s.do(action.UpdatesRead).Show
	if page == nil || strings.Contains(page.Title+page.Body, "just left") || strings.Contains(page.Body, "Left ") {
		t.Errorf("the page says when: %+v", page)
	}
	has(t, page.Body, "It stands for 292 earlier updates")
}

func TestACallIsReadWithItsOwnLines(t *testing.T) {
	s := open("chat")
	text := "git status\n\nif true; then\n\trm -rf build\nfi"
	label := "Bash(git status ⏎ ⏎ if true; then ⏎ rm -rf build ⏎ fi)"
	s.next(func(c *core.Snapshot) {
		c.Approvals = []policy.Approval{{ID: "b", Tool: "Bash", Label: label, Text: text, Until: noon.Add(time.Minute)}}
	})
	if screen := s.screen(80, 14); strings.Contains(screen, "read all") {
		t.Errorf("the card says all of it:\n%s", screen)
	}
	has(t, s.do(action.ApprovalRead).Show.Body, "asks to run this:\n\n"+text+"\n", "y allows it and n denies it")
	s.next(func(c *core.Snapshot) {
		c.Approvals = []policy.Approval{{ID: "b", Tool: "Bash", Label: "Bash(git status …)", Text: text, Until: noon.Add(time.Minute)}}
	})
	has(t, s.screen(80, 14), "Bash(git status …)", "v read all")
}

// A card is drawn with each snapshot; a text of the most that is kept costs it
// no more than a label.
func BenchmarkACardWithALongText(b *testing.B) {
	s := open("chat")
	for b.Loop() {
		s.next(func(c *core.Snapshot) {
			c.Approvals = []policy.Approval{{ID: "b", Tool: "Bash", Label: "Bash(echo …)", Text: strings.Repeat("echo one more\n", 256<<10/14), Until: noon.Add(time.Minute)}}
		})
		s.screen(80, 14)
	}
}
