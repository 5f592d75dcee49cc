package tui

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/core/tail"
	"ollimbot/core/transcript"
	"ollimbot/core/updates"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/settings"
)

// foreign is what others write: wide and joined signs, right-to-left text, tabs
// and escapes, as it is after cleaning or, worse, before.
const foreign = "世界 👩‍👩‍👧 שלום 👍🏽 naïve é \tx \u202eabc"

// foreignDay is fullDay with foreign words in every field that others write.
func foreignDay() core.Snapshot {
	s := talkDay()
	s.Updates = []updates.Update{{Key: "u", At: day, Message: foreign}}
	s.Schedule.Entries = append(s.Schedule.Entries, schedule.Entry{ID: "x", FireTime: day, Label: foreign, Description: foreign, FilePath: foreign})
	s.Forks = append([]fork.View{{ID: "z", Title: foreign, State: fork.Running, Started: day, Activity: foreign}}, s.Forks...)
	s.Chat = append(s.Chat, transcript.Entry{ID: "z", At: day, Role: transcript.Ping, Source: foreign, Text: foreign})
	s.Engine.State, s.Surface.State = foreign, foreign
	return s
}

func TestAStormOfSizesTearsNothing(t *testing.T) {
	dice := rand.New(rand.NewPCG(6, 200))
	r := newRoot(context.Background(), still{snap: foreignDay(), read: func(id string, from tail.Cursor) tail.Page {
		p := fullTail(id, from)
		p.Lines = append(p.Lines, tail.Line{At: day, Kind: tail.Text, Text: foreign})
		return p
	}}, Options{Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TTY_FORCE=1", "LANG=C.UTF-8"}})
	r.refresh()
	for i := range 200 {
		r.w, r.h = 1+dice.IntN(220), 1+dice.IntN(70)
		r.setFocus(action.Panes[dice.IntN(len(action.Panes))])
		r.zoom = dice.IntN(4) == 0
		r.chosen.Layout = layout.Presets[dice.IntN(len(layout.Presets))]
		r.chosen.Sizes = map[string]settings.Size{r.chosen.Layout: {
			Columns: dice.IntN(120) - 60, Rows: map[action.Pane]int{r.focus: dice.IntN(40) - 20},
		}}
		r.dialogs = nil
		switch dice.IntN(4) {
		case 0:
			r.open(newPalette(r))
		case 1:
			r.open(helpPage(r.keys, r.focus, false))
		case 2:
			r.open(r.newWelcome())
		}
		lines := r.frame()
		if len(lines) != r.h {
			t.Fatalf("storm %d: %d lines on %d×%d", i, len(lines), r.w, r.h)
		}
		for y, l := range lines {
			if n := cells(l); n != r.w {
				t.Fatalf("storm %d, %d×%d, line %d is %d cells: %q", i, r.w, r.h, y, n, ansi.Strip(l))
			}
		}
		whole(t, r, lines)
	}
}

// whole expects the corners of every box where the plan has them.
func whole(t *testing.T, r *root, lines []string) {
	t.Helper()
	plan := r.plan()
	if len(r.dialogs) > 0 || plan.Mode == layout.TooSmall {
		return
	}
	for _, c := range plan.Columns {
		for _, b := range c.Boxes {
			for y := b.Y; y < b.Y+b.H; y++ {
				for _, x := range []int{b.X - 1, b.X + b.W} {
					cell := ansi.Strip(ansi.Cut(lines[y], x, x+1))
					if !strings.ContainsAny(cell, "│├┤") && len(r.speech.toasts(time.Now())) == 0 {
						t.Fatalf("the border of %s is torn at %d,%d on %d×%d: %q", b.Pane, x, y, r.w, r.h, ansi.Strip(lines[y]))
					}
				}
			}
		}
	}
}

func TestARealStormOfSizesEndsWithTheRightScreen(t *testing.T) {
	dice := rand.New(rand.NewPCG(6, 6))
	play(t, setup{}, func(s *stage) {
		for range 40 {
			s.resize(1+dice.IntN(200), 1+dice.IntN(60))
			s.press("tab")
		}
		s.resize(100, 30)
		s.press("4")
		s.sees("▸ 4 Forks", "1 Ping budget", "ctrl+p actions")
	})
}
