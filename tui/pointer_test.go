package tui

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/tui/action"
	"ollimbot/tui/screen"
)

// longUpdates are six that take more than a line each.
func longUpdates(s *core.Snapshot) {
	s.Updates = nil
	for i := range 6 {
		s.Updates = append(s.Updates, updates.Update{Key: fmt.Sprint(i), At: s.At, Message: fmt.Sprint("u", i) + strings.Repeat(" and so on", 14) + fmt.Sprint(" in the end of ", i)})
	}
}

// brokenFiles are four with problems that take more than a line each.
func brokenFiles(s *core.Snapshot) {
	for _, name := range []string{"a.md", "b.md", "c.md", "d.md"} {
		s.Schedule.Problems = append(s.Schedule.Problems, routines.Problem{
			File: "routines/" + name, Line: 3, Severity: routines.Error, Message: "a reason that takes more than one line of a pane that is as narrow as this one, and goes on",
		})
	}
}

func twoFailures(s *core.Snapshot) {
	for _, id := range []string{"bad00001", "bad00002"} {
		s.Failures = append(s.Failures, fork.View{
			ID: id, Title: "Task " + id, State: fork.TimedOut, Started: s.At.Add(-time.Hour), Ended: s.At.Add(-time.Minute), Error: "it took too long",
		})
	}
	s.Forks = append(s.Forks, s.Failures...)
}

func TestTheMouseIsUsedAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"a click focuses, and M releases the mouse", setup{}, `
			         => wrote \x1b[?1000h
			<9,11>   => ▸ 2 Schedule
			<6 Logs> => ▸6 Logs
			M        => the mouse is released | wrote \x1b[?1000l`},
		{"the wheel scrolls the pane under the pointer, not the focused one", setup{snap: busyForks}, `
			(the first run talks) 5     => line 199 of the tail
			{\x1b[<64;80;14M} ~100ms => ▸5 Chat | !line 199 of the tail`},
		{"a click on the selected task opens it", setup{}, `
			5 <Email sweep> => !esc back
			<Email sweep>   => esc back
			esc             => !esc back`},
		{"and on the selected update", setup{}, `
			5 <The parcel> => !esc close
			<The parcel>   => esc close
			esc            => !esc close`},
		{"one on the selected run gives its tail the keys", setup{snap: everything, rings: longTails}, `
			4 ~1s <31 Dec  Email sweep> up => !following`},
		{"a click on an update's second line is a click on it", setup{change: longUpdates}, `
			3 <in the end of 4> => !esc close
			<in the end of 4>   => esc close`},
		{"one selects the update that stood there", setup{change: longUpdates}, `
			3 <u4> => ▸now  u4
			<u3>   => ▸now  u3
			<u5>   => ▸now  u5`},
		{"one on a pane without the focus means the rows that stand there", setup{change: brokenFiles}, `
			2 G 5 <Email sweep> <Email sweep> => │ Email sweep  daily | esc back`},
		{"one on the line to write on begins a message", setup{}, `5 <100,36> "hi" => ▸ hi`},
		{"but not where nothing can be written", setup{options: Options{ReadOnly: true}}, `5 <100,36> => Write a message: the dashboard is`},
		{"one in the tail gives it the keys, and one in the list takes them", setup{snap: busyForks}, `
			(the first run talks) <line 199 of the tail> up => paused | tail: Email sweep
			end                  => following
			<Medication>         => tail: Medication
			<31 Dec  Email sweep> => tail: Email sweep | following
			down                 => tail: Weekly review`},
	})
	for _, size := range [][2]int{{120, 40}, {80, 24}, {46, 12}} {
		tell(t, []story{{"the top line counts failures until they were looked at", setup{w: size[0], h: size[1], snap: busyForks, change: twoFailures}, `
			5 <✗ 2 runs failed> <✗ Task bad00002 timed out> => !✗ Task bad00002 timed out | !runs failed
			z => Task bad00002`}})
	}
	for _, c := range []struct{ keys, text, click string }{
		{"?", "Everywhere", "closes"},
		{"!", "Notices, newest first", "closes"},
		{"2 p", "esc close", "closes"},
		{"ctrl+p", "╭─ Actions", "closes"},
		{"1 e", "Ping budget, exactly", ""},
		{"1 m", "Mute pings", ""},
		{"2 n", "A new routine or reminder", ""},
		{"4 x", "Sure?", ""},
		{"L", "Log in to Claude ", ""},
	} {
		kept := `"` + c.text + `"`
		if c.click == "closes" {
			kept = "!" + c.text
		}
		tell(t, []story{{"a click beside a dialog closes it where nothing is lost: " + c.text, setup{w: 160, h: 50, snap: everything}, c.keys + ` ~1s => "` + c.text + `"
			<2,30> => ▸ | ` + kept}})
	}
}

func longTails(b *bot) { b.rings["f1f1f1f1"], b.rings[core.LogTail] = longTail(), longTail() }

// A click beside rows, on a blank line or with another button leaves the screen as it is.
func TestAClickThatMeansNothingChangesNothing(t *testing.T) {
	same := func(s *stage, what string, click func()) {
		t.Helper()
		before := s.still()
		click()
		if d := cmp.Diff(before, s.still()); d != "" {
			t.Errorf("%s:\n%s", what, d)
		}
	}
	scene{keys: []string{"4", "down"}}.play(t, func(s *stage) {
		same(s, "a click on the tail selects another run", func() {
			_, y := s.find("tail: ")
			for _, line := range []int{y, y + 1, y + 2} {
				s.click(60, line)
			}
			s.press("enter") // back to the list
		})
		s.plays(nil, `
			enter       => enter list
			<◉ 31 Dec> => tail: Email sweep`)
	})
	play(t, setup{change: func(s *core.Snapshot) { s.Schedule.Problems = fullDay().Schedule.Problems }}, func(s *stage) {
		s.press("2", "g")
		same(s, "a line of no task", func() { s.clickOn("now 00:00") })
		same(s, "a blank line", func() {
			_, y := s.find("3 Updates")
			s.click(10, y-1)
		})
		x, y := s.find("2 Schedule")
		for _, button := range []int{1, 2, 66} { // middle, right, the wheel sideways
			same(s, fmt.Sprint("button ", button), func() { s.send(fmt.Sprintf("\x1b[<%d;%d;%dM", button, x, y+1)) })
		}
	})
}

// TestNoClickBreaksTheFrame clicks, turns the wheel and presses keys anywhere.
func TestNoClickBreaksTheFrame(t *testing.T) {
	keys := keysOfAll()
	testkit.Check(t, func(t *rapid.T) {
		b := newBot(everything(day))
		r := newRoot(t.Context(), b, Options{Output: &bytes.Buffer{}, ASCII: rapid.Bool().Draw(t, "ascii")})
		r.terminal.screen = screen.New(t.Context(), &bytes.Buffer{}, nil)
		r.Init()
		r.setFocus(rapid.SampledFrom(action.Panes).Draw(t, "focus"))
		r.Update(tea.WindowSizeMsg{Width: rapid.IntRange(1, 130).Draw(t, "w"), Height: rapid.IntRange(1, 45).Draw(t, "h")})
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			m := tea.Mouse{
				X: rapid.IntRange(0, r.w).Draw(t, "x"), Y: rapid.IntRange(0, r.h).Draw(t, "y"),
				Button: rapid.SampledFrom([]tea.MouseButton{tea.MouseLeft, tea.MouseLeft, tea.MouseWheelDown, tea.MouseWheelUp}).Draw(t, "button"),
			}
			switch {
			case rapid.IntRange(0, 3).Draw(t, "key") == 0:
				r.Update(press(rapid.SampledFrom(keys).Draw(t, "k")))
			case m.Button == tea.MouseLeft:
				r.Update(tea.MouseClickMsg(m))
			default:
				r.Update(tea.MouseWheelMsg(m))
			}
			fits(t, r, m)
		}
	})
}

func TestAClickIsForTheItemUnderItWhateverItsWordsLookLike(t *testing.T) {
	marks := []string{"▸ not a row", "> quoted", "── a line ──", "────────────────", "  indented"}
	for _, words := range marks {
		play(t, setup{change: func(s *core.Snapshot) {
			s.Updates = []updates.Update{
				{Key: "old", At: s.At.Add(-time.Hour), Message: "The oldest\n" + words},
				{Key: "mid", At: s.At.Add(-time.Minute), Message: "The middle\n" + words},
				{Key: "new", At: s.At, Message: "The newest\n" + words},
			}
		}}, func(s *stage) {
			s.press("3", "G")
			for _, c := range []struct{ text, key string }{{"The newest", "new"}, {"The oldest", "old"}, {"The middle", "mid"}} {
				s.clickOn(c.text)
				s.misses("esc close")
				s.clickOn(c.text)
				s.sees("esc close")
				s.press("esc", "x")
				cmds := s.bot.done()
				if d := cmp.Diff(command.Value(command.DiscardUpdate{Key: c.key}), cmds[len(cmds)-1]); d != "" {
					t.Errorf("%q: a click on %q, then x:\n%s", words, c.text, d)
				}
			}
		})
	}
}
