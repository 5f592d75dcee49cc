package tui

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/updates"
	"ollimbot/tui/screen"
	"ollimbot/tui/settings"
	"ollimbot/tui/theme"
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
		"it turns light": paper(color.White), "it turns dark": paper(color.Black),
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
		{"a terminal that turned light is followed when the window has the focus again", setup{happen: turns}, `
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
		{"redraw paints what something else has overwritten", setup{happen: happening{"root broadcasts": func(s *stage) {
			s.glass.mu.Lock()
			_, _ = s.glass.vt.WriteString("\x1b[5;5Hbroadcast message from root")
			s.glass.mu.Unlock()
			s.sees("broadcast")
		}}}, `(root broadcasts) ctrl+l => !broadcast | unchanged`},
	})
}

func TestWithoutColoursOrBesideASCIINothingIsSent(t *testing.T) {
	colour := func(s *stage) string { return colourSGR.FindString(s.written()) }
	sign := func(s *stage) string { return regexp.MustCompile(`[^\n -~]`).FindString(s.screen()) }
	for name, c := range map[string]struct {
		on    setup
		wrong func(s *stage) string
	}{
		"NO_COLOR":          {setup{env: []string{"NO_COLOR=yes"}}, colour},
		"the option":        {setup{options: Options{NoColor: true}}, colour},
		"a simple terminal": {setup{env: []string{"TERM=dumb", "COLORTERM="}}, colour},
		"ASCII":             {setup{options: Options{ASCII: true}}, sign},
		"a C locale":        {setup{env: []string{"LC_ALL=C"}}, sign},
		"the console":       {setup{env: []string{"TERM=linux"}}, sign},
	} {
		t.Run(name, func(t *testing.T) {
			c.on.snap = busyForks
			play(t, c.on, func(s *stage) {
				for _, steps := range []string{"", "1 +", "e", "esc 2 ?", "esc ctrl+p", "esc !", "esc 4", "5", "6 q", "@80x24", "@40x10"} {
					s.plays(nil, steps)
					if got := c.wrong(s); got != "" {
						t.Errorf("after %s %q was sent:\n%s", steps, got, s.screen())
					}
				}
			})
		})
	}
}

// What a while costs: snapshots that are taken, and writes to the terminal.
func TestAWhileCostsNoMoreThanItMust(t *testing.T) {
	calm := setup{snap: func(at time.Time) core.Snapshot {
		return core.Snapshot{At: at, Zone: time.UTC, Engine: core.EngineStatus{Name: "script", OK: true}}
	}}
	type span [2]int
	for _, c := range []struct {
		name          string
		on            setup
		before        string
		lasts         time.Duration
		during        func(s *stage)
		reads, writes span
	}{
		{"idle, the bot is looked at once a minute", calm, "~1s", 10 * time.Minute, nil, span{10, 10}, span{0, 10}},
		{"while a run works, its seconds are counted", setup{snap: busyForks}, "~500ms", 20 * time.Second, nil, span{20, 20}, span{1, 40}},
		{"not with NO_MOTION", setup{snap: busyForks, env: []string{"NO_MOTION=1"}}, "~61s", 58 * time.Second, nil, span{}, span{}},
		{"not with REDUCE_MOTION", setup{snap: busyForks, env: []string{"REDUCE_MOTION=1"}}, "~61s", 58 * time.Second, nil, span{}, span{}},
		{"not where the settings say so", setup{snap: busyForks, options: Options{Config: config(t, settings.DashboardFile, "motion: false")}}, "~61s", 58 * time.Second, nil, span{}, span{}},
		{"a thousand changes a second are painted thirty times", setup{snap: busyForks}, "", 0, func(s *stage) {
			for i := range 3000 {
				s.bot.change(func(s *core.Snapshot) { s.Forks[0].Activity = fmt.Sprint("step ", i) })
				time.Sleep(time.Millisecond)
			}
		}, span{1, 3000}, span{60, 93}},
		{"a flood of keys from a viewer waits", remotely(Options{}), "", 10 * time.Second, func(s *stage) {
			go func() { _, _ = io.WriteString(s.keys, strings.Repeat("12", 5000)) }() // it ends in the middle
		}, span{0, 999}, span{pace, burst + 11*pace}},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, c.on, func(s *stage) {
				counts := func() (reads, writes int) {
					writes = s.writes() // which waits: not with the lock
					s.bot.mu.Lock()
					defer s.bot.mu.Unlock()
					return s.bot.reads, writes
				}
				s.plays(nil, c.before)
				reads, writes := counts()
				if c.during != nil {
					c.during(s)
				}
				time.Sleep(c.lasts)
				reads2, writes2 := counts()
				if r, w := reads2-reads, writes2-writes; r < c.reads[0] || r > c.reads[1] || w < c.writes[0] || w > c.writes[1] {
					t.Errorf("%d snapshots, not %v; %d writes, not %v", r, c.reads, w, c.writes)
				}
			})
		})
	}
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

func TestTheEnvironmentSaysHowToDraw(t *testing.T) {
	none, ascii := theme.Options{Dark: true, Profile: colorprofile.NoTTY}, theme.Options{Dark: true, Profile: colorprofile.NoTTY, ASCII: true}
	for _, c := range []struct {
		name string
		env  []string
		want environment
	}{
		{"true colour", []string{"TTY_FORCE=1", "TERM=xterm-256color", "COLORTERM=truecolor"}, environment{look: theme.Options{Dark: true, Profile: colorprofile.TrueColor}, w: 80, h: 24}},
		{"256 colours", []string{"TTY_FORCE=1", "TERM=xterm-256color"}, environment{look: theme.Options{Dark: true, Profile: colorprofile.ANSI256}, w: 80, h: 24}},
		{"any NO_COLOR counts", []string{"TTY_FORCE=1", "TERM=xterm-256color", "NO_COLOR=please"}, environment{look: theme.Options{Dark: true, Profile: colorprofile.ANSI256, NoColor: true}, w: 80, h: 24}},
		{"an empty NO_COLOR does not", []string{"TTY_FORCE=1", "TERM=xterm-256color", "NO_COLOR="}, environment{look: theme.Options{Dark: true, Profile: colorprofile.ANSI256}, w: 80, h: 24}},
		{"nothing known", nil, environment{look: none, w: 80, h: 24}},
		{"a C locale", []string{"LANG=en_US.UTF-8", "LC_ALL=C"}, environment{look: ascii, w: 80, h: 24}},
		{"an UTF-8 locale", []string{"LANG=C", "LC_CTYPE=de_DE.utf8"}, environment{look: none, w: 80, h: 24}},
		{"the console", []string{"TERM=linux"}, environment{look: ascii, w: 80, h: 24}},
		{"a light background", []string{"COLORFGBG=0;default;15"}, environment{look: theme.Options{Profile: colorprofile.NoTTY}, w: 80, h: 24}},
		{"a dark background", []string{"COLORFGBG=15;0"}, environment{look: none, w: 80, h: 24}},
		{"a size", []string{"COLUMNS=100", "LINES=30", "NO_MOTION=1"}, environment{look: none, still: true, w: 100, h: 30}},
		{"a size that is none", []string{"COLUMNS=-4", "LINES=x"}, environment{look: none, w: 80, h: 24}},
		{"the last value counts, if only a cell", []string{"COLUMNS=90", "COLUMNS=1"}, environment{look: none, w: 1, h: 24}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := detect(Options{Output: &bytes.Buffer{}, Env: c.env})
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(environment{})); d != "" {
				t.Errorf("environment (-want +got):\n%s", d)
			}
		})
	}
}

// S33: while a window is dragged, each of its sizes was painted: 8 MB in 5 seconds.
func TestSizesThatFollowOneAnotherAreNotPaintedEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoot(t.Context(), newBot(busyDay(day)), Options{Output: &bytes.Buffer{}})
		var out bytes.Buffer
		r.terminal.screen = screen.New(t.Context(), &out, nil)
		testkit.Must(t, r.terminal.screen.Open())
		r.Init()
		out.Reset()
		const sizes = 200
		for i := range sizes {
			r.Update(signalMsg{syscall.SIGWINCH})
			r.Update(tea.WindowSizeMsg{Width: 100 + i%2, Height: 30}) // where the terminal says it itself
			time.Sleep(frameGap / 10)
		}
		time.Sleep(frameGap)
		r.Update(paintMsg{})
		if got, most := strings.Count(out.String(), "\x1b[2J"), sizes/10+1; got == 0 || got > most {
			t.Errorf("%d frames for %d sizes, not at most %d", got, sizes, most)
		}
	})
}

func TestNoFrameTickerWakesAnIdleDashboard(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		time.Sleep(time.Second)
		buf := make([]byte, 1<<20)
		all := string(buf[:runtime.Stack(buf, true)])
		if !strings.Contains(all, "(*Program).eventLoop") {
			t.Fatal("Bubble Tea does not run, or its loop has another name: this test sees nothing")
		}
		if strings.Contains(all, "(*Program).startRenderer") {
			t.Error("Bubble Tea's frame ticker runs: it wakes the process once a second for nothing")
		}
	})
}
