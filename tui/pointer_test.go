package tui

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
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
	"ollimbot/tui/view"
)

func TestAClickOnTheSelectedRowOpensIt(t *testing.T) {
	for row, opens := range map[string]string{"Email sweep": "esc back", "The parcel": "esc close"} {
		play(t, setup{}, func(s *stage) {
			s.press("5")
			s.clickOn(row) // focuses and selects
			s.misses(opens)
			s.clickOn(row)
			s.sees(opens)
			s.press("esc")
			s.misses(opens)
		})
	}
	scene{keys: []string{"4"}}.play(t, func(s *stage) {
		s.clickOn("31 Dec  Email sweep")
		s.press("up") // goes to the tail now
		s.misses("following")
	})
}

func TestAClickOnAnUpdatesSecondLineIsAClickOnIt(t *testing.T) {
	play(t, setup{change: func(s *core.Snapshot) { s.Updates[0].Message = strings.Repeat("a long update ", 6) + "in the end" }}, func(s *stage) {
		s.press("3")
		s.clickOn("in the end")
		s.misses("esc close")
		s.clickOn("in the end")
		s.sees("esc close")
	})
}

func TestAClickBesideTheRowsSelectsNothing(t *testing.T) {
	scene{keys: []string{"4", "down"}}.play(t, func(s *stage) {
		before := s.still()
		_, y := s.find("tail: ")
		for _, line := range []int{y, y + 1, y + 2} {
			s.click(60, line)
		}
		s.press("enter") // back to the list
		if d := cmp.Diff(before, s.still()); d != "" {
			t.Errorf("a click on the tail selects another run:\n%s", d)
		}
		s.press("enter") // the keys go to the tail
		s.sees("enter list")
		s.clickOn("◉ 31 Dec")
		s.sees("tail: Email sweep")
	})
	play(t, setup{change: func(s *core.Snapshot) { s.Schedule.Problems = fullDay().Schedule.Problems }}, func(s *stage) {
		s.press("2")
		for _, keys := range [][]string{{"g"}} {
			s.press(keys...)
			before := s.screen()
			s.clickOn("now 00:00")
			if d := cmp.Diff(before, s.screen()); d != "" {
				t.Errorf("after %v a click on a line of no task:\n%s", keys, d)
			}
		}
		before := s.screen()
		_, y := s.find("3 Updates")
		s.click(10, y-1) // blank
		if d := cmp.Diff(before, s.screen()); d != "" {
			t.Errorf("a click on a blank line:\n%s", d)
		}
	})
}

func TestAClickOnTheLineToWriteOnBeginsAMessage(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5")
		s.click(100, 36) // above the border
		s.types("hi")
		s.sees("▸ hi")
	})
	play(t, setup{options: Options{ReadOnly: true}}, func(s *stage) {
		s.press("5")
		s.click(100, 36)
		s.sees("Write a message: the dashboard is")
	})
}

func TestAClickBesideADialogClosesItWhereNothingIsLost(t *testing.T) {
	for _, c := range []struct {
		keys   []string
		text   string
		closes bool
	}{
		{[]string{"?"}, "Everywhere", true},
		{[]string{"!"}, "Notices, newest first", true},
		{[]string{"2", "p"}, "esc close", true},
		{[]string{"ctrl+p"}, "╭─ Actions", true},
		{[]string{"1", "e"}, "Ping budget, exactly", false},
		{[]string{"1", "m"}, "Mute pings", false},
		{[]string{"2", "n"}, "A new routine or reminder", false},
		{[]string{"4", "x"}, "Sure?", false},
		{[]string{"L"}, "Log in to Claude ", false},
	} {
		play(t, setup{w: 160, h: 50, snap: everything}, func(s *stage) {
			s.press(c.keys...)
			time.Sleep(time.Second)
			s.sees(c.text)
			s.click(2, 30)
			if got := !strings.Contains(s.screen(), c.text); got != c.closes {
				t.Errorf("%v: a click beside it closes it: %t, want %t", c.keys, got, c.closes)
			}
			s.sees("▸") // the pane below has not had the click
		})
	}
}

func TestAQuestionIsAnsweredByAClick(t *testing.T) {
	for answer, want := range map[string][]command.Value{
		"n leave it running": nil, "y stop it": {command.StopFork{Run: "f1f1f1f1"}},
	} {
		play(t, setup{snap: everything}, func(s *stage) {
			s.press("4")
			s.clickOn("x stop")
			s.clickOn(answer) // on its way when the question came
			for _, h := range s.help() {
				s.click(h.at[0], 39)
			}
			s.sees("Sure?")
			s.did()
			time.Sleep(time.Second)
			s.clickOn("Sure?") // the border
			s.sees("Sure?")
			s.clickOn(answer)
			if want != nil { // the other one is marked
				s.did()
				s.sees("▸ " + answer)
				s.clickOn(answer)
			}
			s.misses("Sure?")
			s.did(want...)
		})
	}
}

func TestAClickInAFormGoesToAFieldAndSubmitsNothing(t *testing.T) {
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("2", "n")
		s.clickOn("Prompt")
		s.types("Ask.")
		s.sees("▸ Prompt         Ask.")
		s.clickOn("More options…")
		s.clickOn("in the background  ")
		s.clickOn("Runs")
		s.sees("▸ Runs")
		s.clickOn("space change")
		s.sees("in the main conversation")
		s.press("esc", "esc", "1", "e")
		s.clickOn("Refill (min)")
		s.types("45")
		s.sees("Refill (min)  45")
		s.clickOn("Capacity  ")
		s.types("8")
		s.sees("Capacity      8 ", "Refill (min)  45")
		s.press("esc", "m")
		s.clickOn("tomorrow")
		s.sees("▸ tomorrow")
		s.clickOn("at a time")
		s.types("2345")
		s.did()
		s.clickOn("30 minutes")
		s.clickOn("30 minutes")
		s.did()
		s.clickOn("enter set")
		if n := len(s.bot.done()); n != 1 {
			t.Errorf("%d commands", n)
		}
	})
}

func TestTheChoicesOfASmallScreenAreClickedWhereTheyStand(t *testing.T) {
	play(t, setup{w: 40, h: 10, snap: dayAhead, change: func(s *core.Snapshot) { s.Budget.Muted = s.At.Add(time.Hour) }}, func(s *stage) {
		s.press("1", "m", "up")
		s.misses("30 minutes")
		for _, text := range []string{"at a time", "tomorrow"} {
			s.clickOn(text)
			s.sees("▸ " + text)
		}
	})
}

func TestAStripIsOpenedAndLeftWithTheMouseAlone(t *testing.T) {
	play(t, setup{w: 40, h: 10}, func(s *stage) {
		s.clickOn("Schedule")
		s.sees("▸2")
		s.misses("Move a little")
		s.clickOn("Schedule")
		s.sees("Move a little", "zoomed")
		s.clickOn("zoomed")
		s.sees("▸2", "Budget")
	})
}

func TestTheFirstWordsAreClicked(t *testing.T) {
	left := false
	o := Options{Config: config(t), Welcome: true, Demo: func() { left = true }}
	play(t, setup{options: o}, func(s *stage) {
		s.click(1, 1)
		s.sees("Welcome") // they are shown only once
		s.clickOn("see it live: a demo")
		s.quits()
		if !left {
			t.Error("the demo has not begun")
		}
	})
}

func TestOtherButtonsDoNothing(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		before := s.screen()
		x, y := s.find("2 Schedule")
		for _, button := range []string{"1", "2", "66"} { // middle, right, the wheel sideways
			s.send("\x1b[<" + button + ";" + strconv.Itoa(x) + ";" + strconv.Itoa(y+1) + "M")
		}
		if d := cmp.Diff(before, s.screen()); d != "" {
			t.Error(d)
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
			if r.err != nil {
				t.Fatalf("after %+v: %v", m, r.err)
			}
			lines := view.Frame(r.view())
			if len(lines) != r.h {
				t.Fatalf("%d lines of %d", len(lines), r.h)
			}
			for y, l := range lines {
				if n := ansi.StringWidth(l); n != r.w {
					t.Fatalf("after %+v line %d has %d cells of %d: %q", m, y, n, r.w, l)
				}
			}
		}
	})
}

func TestAClickSelectsTheUpdateThatStoodThere(t *testing.T) {
	long := func(at time.Time) core.Snapshot {
		s := busyDay(at)
		s.Updates = nil
		for i := range 6 {
			s.Updates = append(s.Updates, updates.Update{Key: strconv.Itoa(i), At: at, Message: "u" + strconv.Itoa(i) + strings.Repeat(" and so on", 14)})
		}
		return s
	}
	play(t, setup{snap: long}, func(s *stage) {
		s.press("3")
		for _, name := range []string{"u4", "u3", "u5"} {
			s.clickOn(name)
			s.sees("▸now  " + name)
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

func TestAClickOnAPaneWithoutTheFocusMeansTheRowsThatStandThere(t *testing.T) {
	play(t, setup{change: func(s *core.Snapshot) {
		for _, name := range []string{"a.md", "b.md", "c.md", "d.md"} {
			s.Schedule.Problems = append(s.Schedule.Problems, routines.Problem{
				File: "routines/" + name, Line: 3, Severity: routines.Error, Message: "a reason that takes more than one line of a pane that is as narrow as this one, and goes on",
			})
		}
	}}, func(s *stage) {
		s.press("2", "G", "5")
		s.clickOn("Email sweep")
		s.clickOn("Email sweep")
		s.sees("│ Email sweep  daily", "esc back")
	})
}

func TestTheTopLineCountsFailuresUntilTheyWereLookedAt(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {46, 12}} {
		play(t, setup{w: size[0], h: size[1], snap: busyForks, change: func(s *core.Snapshot) {
			for _, id := range []string{"bad00001", "bad00002"} {
				s.Failures = append(s.Failures, fork.View{
					ID: id, Title: "Task " + id, State: fork.TimedOut, Started: s.At.Add(-time.Hour), Ended: s.At.Add(-time.Minute), Error: "it took too long",
				})
			}
			s.Forks = append(s.Forks, s.Failures...)
		}}, func(s *stage) {
			s.press("5")
			s.clickOn("✗ 2 runs failed")
			s.clickOn("✗ Task bad00002 timed out")
			s.misses("✗ Task bad00002 timed out", "runs failed")
			s.press("z")
			s.sees("Task bad00002")
		})
	}
}

func TestAClickInTheTailGivesItTheKeysAndOneInTheListTakesThem(t *testing.T) {
	play(t, setup{snap: busyForks}, func(s *stage) {
		s.bot.talk("f1f1f1f1", 200)
		s.change(func(s *core.Snapshot) { s.Forks[0].Lines = 200 })
		s.clickOn("line 199 of the tail")
		s.press("up")
		s.sees("paused", "tail: Email sweep") // the tail has moved, not the selection
		s.press("end")
		s.sees("following")
		s.clickOn("Medication")
		s.sees("tail: Medication")
		s.clickOn("31 Dec  Email sweep")
		s.sees("tail: Email sweep", "following") // where it was left
		s.press("down")
		s.sees("tail: Weekly review")
	})
}
