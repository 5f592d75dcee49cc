package tui

import (
	"fmt"
	"image/color"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/work/updates"
)

func TestTheScreenFollowsTheTerminalAsItsStoriesSay(t *testing.T) {
	const darkFocus, lightFocus = `38;2;130;182;255`, `38;2;11;87;164`
	paper := func(c color.Color) func(s *stage) {
		return func(s *stage) {
			s.glass.mu.Lock()
			s.glass.vt.SetDefaultBackgroundColor(c)
			s.glass.mu.Unlock()
			s.written()
		}
	}
	turns := happening{
		"it turns light": paper(color.White), "it turns dark": paper(color.Black), "it settles": func(s *stage) { s.written() },
		"an update arrives": becomes(func(c *core.Snapshot) {
			c.At = time.Now()
			c.Updates = append(slices.Clone(c.Updates), updates.Update{Key: "new", At: c.At, Message: "The parcel is here."})
		}),
	}
	dark := Options{Theme: "dark"}
	tell(t, []story{
		{"it shrinks step by step", setup{snap: busyForks}, `
			1 @80x24 => ▸1 Ping budget | 2 Schedule | 6 Logs | 3.2 / 5
			2        => ▸2 Schedule | Move a little
			@40x10   => "▸2 " | Email sweep | enter details | z open | !╭
			z        => ╭ | zoomed
			esc @30x5 => 40×10 needed, 30×5 here | the bot keeps running · | q quits it
			@20x5    => 40×10 needed, 20×5 | the bot keeps | running · q quits it
			@10x3    => 40×10 | needed | q quits
			@120x40  => ▸ 2 Schedule | 1 Ping budget | 5 Chat`},
		{"a dark terminal gets the dark colours", setup{}, `=> wrote ` + darkFocus + ` | unwritten: ` + lightFocus},
		{"a light one the light colours", setup{paper: color.White, happen: turns}, `
			1 (it settles) 2 => wrote ` + lightFocus + ` | unwritten: ` + darkFocus},
		{"a chosen theme is not asked about", setup{paper: color.White, options: dark}, `
			=> unwritten: ` + lightFocus + ` | unwritten: \x1b]11;?`},
		{"high contrast follows, too", setup{paper: color.White, options: Options{Theme: "contrast"}}, `=> wrote 38;2;0;51;122`},
		{"and sixteen colours", setup{options: Options{Theme: "16"}}, `=> wrote \x1b]11;?`},
		{"but not the light ones", setup{options: Options{Theme: "light"}}, `=> unwritten: \x1b]11;?`},
		{"high contrast on a dark one", setup{paper: color.Black, options: Options{Theme: "contrast"}}, `=> wrote 38;2;255;224;102`},
		{"a terminal that turned light is followed when the window comes back", setup{happen: turns}, `
			(it turns light) {\x1b[I} ~100ms => wrote ` + lightFocus},
		{"and at once where it says so", setup{happen: turns}, `
			(it turns light) {\x1b[?997;2n} ~100ms => wrote ` + lightFocus + `
			(it turns dark) {\x1b[?997;1n} ~100ms  => wrote ` + darkFocus + `
			(it settles) {\x1b[?997;2n} ~100ms     => unwritten: ` + lightFocus}, // the desktop is light, but this terminal is not
		{"but not by a chosen theme", setup{options: dark, happen: turns}, `
			(it turns light) {\x1b[?997;2n} ~100ms => unwritten: \x1b]11;? | unwritten: ` + lightFocus},
		// Poster, deliverable 4. Inverse is what a terminal needs for theme.Here.
		{"what arrives is seen to arrive, and is as everything else a moment later", setup{happen: turns}, `
			(it settles) (an update arrives) => The parcel is here. | wrote ;7mnow
			~4s => wrote now`},
		{"but not where nothing shall move", setup{env: []string{"NO_MOTION=1"}, happen: turns}, `
			(it settles) (an update arrives) => The parcel is here. | unwritten: ;7mnow
			~4s => unwritten: now`},
	})
}

func TestWithoutColoursNoColourIsSent(t *testing.T) {
	for name, o := range map[string]setup{
		"NO_COLOR":         {env: []string{"NO_COLOR=yes"}},
		"option":           {options: Options{NoColor: true}},
		"a simple one":     {env: []string{"TERM=dumb", "COLORTERM="}},
		"NO_COLOR is on=1": {env: []string{"NO_COLOR=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			o.snap = busyForks
			play(t, o, func(s *stage) {
				s.press("1", "+", "2", "?", "esc", "ctrl+p", "esc", "!", "esc", "q")
				if got := colourSGR.FindString(s.written()); got != "" {
					t.Errorf("%q was sent", got)
				}
				s.sees("still running")
			})
		})
	}
}

func TestWithASCIINothingElseIsDrawn(t *testing.T) {
	for name, o := range map[string]setup{
		"option":  {options: Options{ASCII: true}},
		"locale":  {env: []string{"LC_ALL=C"}},
		"console": {env: []string{"TERM=linux"}},
	} {
		t.Run(name, func(t *testing.T) {
			o.snap = busyForks
			play(t, o, func(s *stage) {
				check := func() {
					t.Helper()
					for i, row := range s.rows() {
						for _, r := range row {
							if r > 0x7e {
								t.Errorf("row %d holds %q: %s", i, r, row)
								return
							}
						}
					}
				}
				check()
				for _, keys := range [][]string{{"1", "+"}, {"e"}, {"esc", "2", "?"}, {"esc", "ctrl+p"}, {"esc", "!"}, {"esc", "4"}, {"5"}, {"6", "q"}} {
					s.press(keys...)
					check()
				}
				s.resize(80, 24)
				check()
				s.resize(40, 10)
				check()
			})
		})
	}
}

func TestIdleIsSilent(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot {
		return core.Snapshot{At: at, Zone: time.UTC, Engine: core.EngineStatus{Name: "script", OK: true}}
	}}, func(s *stage) {
		time.Sleep(time.Second)
		writes := s.writes()
		s.bot.mu.Lock()
		reads := s.bot.reads
		s.bot.mu.Unlock()
		time.Sleep(10 * time.Minute)
		s.bot.mu.Lock()
		reads = s.bot.reads - reads
		s.bot.mu.Unlock()
		if reads != 10 {
			t.Errorf("%d snapshots in ten idle minutes, want one a minute", reads)
		}
		if got := s.writes() - writes; got > 10 {
			t.Errorf("%d writes in ten idle minutes", got)
		}
	})
}

func TestABusyCoreIsPaintedThirtyTimesASecondAtMost(t *testing.T) {
	play(t, setup{snap: busyForks}, func(s *stage) {
		writes := s.writes()
		const seconds = 3
		for i := range seconds * 1000 {
			s.bot.change(func(s *core.Snapshot) { s.Forks[0].Activity = fmt.Sprint("step ", i) })
			time.Sleep(time.Millisecond)
		}
		got := s.writes() - writes
		if got < seconds*20 || got > seconds*31 {
			t.Errorf("%d paints in %d s of a thousand changes a second", got, seconds)
		}
	})
}

func TestAKeyIsPaintedAtOnceEvenWhileThingsStream(t *testing.T) {
	play(t, setup{snap: busyForks}, func(s *stage) {
		s.bot.change(func(s *core.Snapshot) { s.Forks[0].Activity += "x" })
		synctest.Wait()
		s.bot.change(func(s *core.Snapshot) { s.Forks[0].Activity += "x" })
		synctest.Wait()
		writes, now := s.writes(), time.Now()
		s.press("1")
		if s.writes() == writes {
			t.Error("nothing was painted")
		}
		if d := time.Since(now); d != 0 {
			t.Errorf("painted after %v", d)
		}
		s.sees("▸ 1 Ping budget")
	})
}

func TestSecondsAreCountedOnlyWhileAForkRuns(t *testing.T) {
	counted := func(env ...string) int {
		var reads int
		play(t, setup{env: env, snap: busyForks}, func(s *stage) {
			time.Sleep(500 * time.Millisecond)
			s.bot.mu.Lock()
			reads = s.bot.reads
			s.bot.mu.Unlock()
			time.Sleep(20 * time.Second)
			s.bot.mu.Lock()
			reads = s.bot.reads - reads
			s.bot.mu.Unlock()
		})
		return reads
	}
	if got := counted(); got != 20 {
		t.Errorf("%d looks in 20 s of a running fork", got)
	}
	if got := counted("NO_MOTION=1"); got != 0 {
		t.Errorf("%d looks in 20 s with NO_MOTION", got)
	}
}

func TestRedrawPaintsWhatSomethingElseHasOverwritten(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		before := s.screen()
		s.glass.mu.Lock()
		_, _ = s.glass.vt.WriteString("\x1b[5;5Hbroadcast message from root")
		s.glass.mu.Unlock()
		s.sees("broadcast")
		s.press("ctrl+l")
		if d := cmp.Diff(before, s.screen()); d != "" {
			t.Error(d)
		}
	})
}

func TestTextOnABackgroundOfOursHasAColourOfOurs(t *testing.T) {
	for _, name := range []string{"dark", "light", "contrast"} {
		play(t, setup{options: Options{Theme: name}, snap: busyForks}, func(s *stage) {
			s.press("2", "N", "m", "esc", "1", "e") // rows, toasts, dialogs
			s.glass.mu.Lock()
			defer s.glass.mu.Unlock()
			seen := 0
			for y := range s.glass.vt.Height() {
				for x := range s.glass.vt.Width() {
					c := s.glass.vt.CellAt(x, y)
					if c == nil || c.Style.Bg == nil || strings.TrimSpace(c.Content) == "" {
						continue
					}
					seen++
					if c.Style.Fg == nil {
						t.Errorf("%s: %q at %d,%d has the terminal's own colour", name, c.Content, x, y)
					}
				}
			}
			if seen == 0 {
				t.Errorf("%s: no background anywhere", name)
			}
		})
	}
}
