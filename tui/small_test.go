package tui

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/layout"
	"ollimbot/tui/settings"
)

// Stories of small screens: what is written is seen, and what is free is used.

func TestOnAStripWhatIsWrittenIsSeen(t *testing.T) {
	lines := func(b *bot) {
		for _, id := range []string{"f1f1f1f1", core.LogTail} {
			b.talk(id, 20)
			b.rings[id].Add(tail.Line{At: day, Kind: tail.Text, Text: "the last line"})
		}
	}
	for _, c := range []struct {
		keys  []string
		sees  []string
		after string // what is seen when esc has been pressed
	}{
		{[]string{"5", "i", "hello"}, []string{"▸ hello", "and a walk", "esc"}, "▸5"},
		{[]string{"6", "&", "lin"}, []string{"&lin", "the last line"}, "▸6"},
		{[]string{"6", "/", "las"}, []string{"las", "the last line"}, "▸6"},
		{[]string{"4", "&", "lin"}, []string{"&lin", "the last line"}, "▸4"},
	} {
		for _, size := range [][2]int{{40, 10}, {55, 12}, {120, 10}, {200, 11}} {
			t.Run(fmt.Sprintf("%s on %d×%d", strings.Join(c.keys, ""), size[0], size[1]), func(t *testing.T) {
				play(t, setup{w: size[0], h: size[1], snap: busyForks, rings: lines}, func(s *stage) {
					time.Sleep(20 * time.Second) // the toasts have ended
					s.press(c.keys[0])
					s.sees(c.after)
					s.press(c.keys[1])
					s.types(c.keys[2])
					s.sees(c.sees...)
					s.press("esc")
					s.sees(c.after, " 1 ", " 2 ")
				})
			})
		}
	}
}

func TestAStripAndTheTooSmallPageAreUsedAsTheirStoriesSay(t *testing.T) {
	small := setup{w: 30, h: 8}
	for _, size := range [][2]int{{41, 40}, {200, 10}, {120, 12}, {44, 30}} {
		tell(t, []story{{fmt.Sprint("below or beside a strip stands the focused pane: ", size), sized(size[0], size[1]), `
			2             => ▸2 | " 6  Logs" | ▸ 2 Schedule | Move a little | ╰
			<Move a little> => ▸ 01:13   Move a little
			<Updates>     => ▸ 3 Updates | ▸3`}})
	}
	for i := range action.Panes {
		tell(t, []story{{"a strip says what opens a pane", sized(40, 10), fmt.Sprint(i+1) + ` <z open> => zoomed | !z open`}})
	}
	for _, k := range []string{"q", "ctrl+c"} {
		tell(t, []story{{k + " quits at once where nothing is lost", small, `
			       => the bot keeps running | q quits it
			` + k + ` => quits`}})
		for size, asks := range map[[2]int]string{{30, 8}: "1 fork still running | y quit", {12, 3}: "y quit"} {
			tell(t, []story{{fmt.Sprint(k, " asks in sight before runs are stopped: ", size), setup{w: size[0], h: size[1], snap: busyForks}, `
				y         => stays
				` + k + ` y => stays
				n ` + k + ` => ` + asks + `
				~1s x n y => stays | !y quit
				` + k + ` ~1s y => quits`}})
		}
	}
	tell(t, []story{
		{"a strip is opened and left with the mouse alone", sized(40, 10), `
			<Schedule> => ▸2 | !Move a little
			<Schedule> => Move a little | zoomed
			<zoomed>   => ▸2 | Budget`},
		{"the page that is too small keeps what is written", setup{}, `
			5 i "half a thought" @30x8 "xyz" {\x1b[200~a paste\x1b[201~} {\x1b[<65;15;4M\x1b[<65;15;4M} ~100ms q => stays | Your draft | y quit
			n @120x40 => "▸ half a thought " | !y quit`},
		{"and what was open", setup{snap: dayAhead}, `
			2 n "0 9 * * 1" @30x8 esc esc ctrl+p enter 7 q => stays | y quit
			n @120x40 => A new routine or reminder | "0 9 * * 1 " | !╭─ Actions | did nothing`},
		{"it interrupts an answer and takes no late interrupt", setup{w: 30, h: 8, change: answering}, `
			ctrl+c => stays | did Interrupt
			(the answer ends) ~1s ctrl+c => stays
			~3s ctrl+c => quits`},
		{"it takes the user's key for quitting", setup{w: 30, h: 8, options: Options{Config: config(t, "keys.yaml", "app.quit: f10\n")}}, `
			  => f10 quits it
			q => stays
			{\x1b[21~} => quits`},
	})
}

func TestTheTooSmallScreenSaysTheNumberAndTheWayOut(t *testing.T) {
	for _, size := range [][2]int{{39, 9}, {20, 5}, {12, 3}, {10, 3}, {8, 3}, {100, 2}, {14, 1}} {
		lines := Frame(still{snap: busyDay(day)}, FrameOptions{Width: size[0], Height: size[1]})
		all := strings.Join(lines, "\n")
		if !strings.HasPrefix(all, "40×10") || !strings.Contains(all, "q quits") {
			t.Errorf("%v says %q", size, all)
		}
	}
}

func busyForks(at time.Time) core.Snapshot { return withForks(busyDay(at)) }

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
		preset := layout.Presets[dice.IntN(len(layout.Presets))]
		size := layout.Size{Columns: dice.IntN(120) - 60, Rows: map[action.Pane]int{r.focus: dice.IntN(40) - 20}}
		r.prefs.chosen = settings.Dashboard{"layout": preset}.With(settings.Values(size, preset))
		r.dialogs = nil
		switch dice.IntN(4) {
		case 0:
			r.open(dialog.OpenPalette(r.context(r.focus), r.focus, r.view().Off, nil).Open)
		case 1:
			r.open(dialog.NewHelp(r.focus))
		case 2:
			r.open(dialog.NewWelcome(r.context(r.focus), "", dialog.Offers{Demo: true, SetUp: true}))
		}
		whole(t, r, fits(t, r, i))
	}
}

// whole expects the corners of every box where the plan has them.
func whole(t *testing.T, r *root, lines []string) {
	t.Helper()
	plan := r.view().Plan()
	if len(r.dialogs) > 0 || plan.Mode == layout.TooSmall {
		return
	}
	for _, c := range plan.Columns {
		for _, b := range c.Boxes {
			for y := b.Y; y < b.Y+b.H; y++ {
				for _, x := range []int{b.X - 1, b.X + b.W} {
					cell := ansi.Strip(ansi.Cut(lines[y], x, x+1))
					if !strings.ContainsAny(cell, "│├┤") && len(r.toasts.Showing(time.Now())) == 0 {
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
		s.sees("▸ 4 Runs", "1 Ping budget", ": command")
	})
}
