package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/tui/layout"
)

// hears lets the bot say things.
func (s *stage) hears(level core.Level, texts ...string) {
	s.t.Helper()
	s.bot.change(func(c *core.Snapshot) {
		for _, text := range texts {
			c.Notices = append(c.Notices, core.Notice{Seq: uint64(len(c.Notices) + 1), At: time.Now(), Level: level, Text: text})
		}
	})
	time.Sleep(100 * time.Millisecond)
}

func TestAToastStandsInABoxAndTearsNoBorder(t *testing.T) {
	for _, o := range []setup{
		{w: 120, h: 40},
		{w: 120, h: 40, options: Options{ASCII: true, NoColor: true}},
		{w: 96, h: 26},
		{w: 80, h: 24},
		{w: 44, h: 30},
		{w: 120, h: 12},
	} {
		for _, key := range []string{"1", "2", "3", "4", "5", "6"} {
			t.Run(fmt.Sprintf("%d×%d, %s, %t", o.w, o.h, key, o.options.ASCII), func(t *testing.T) {
				o.snap = func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }
				play(t, o, func(s *stage) {
					s.press(key)
					before := s.rows()
					s.hears(core.Warn, "the disk is full")
					s.sees("! the disk is full")
					for y, l := range s.rows() {
						if strings.Contains(l, "the disk is full") {
							if bar := strings.Index(l, "! the disk"); !strings.HasSuffix(strings.TrimRight(l[:bar], " "), "│") && !strings.HasSuffix(strings.TrimRight(l[:bar], " "), "|") {
								t.Errorf("it has no look of its own: %q", l)
							}
							continue
						}
						if d := cmp.Diff(before[y], l); d != "" {
							t.Errorf("row %d has changed:\n%s", y, d)
						}
					}
				})
			})
		}
	}
}

func TestABurstOfNoticesIsCounted(t *testing.T) {
	play(t, setup{w: 160, h: 50}, func(s *stage) {
		s.press("4")
		texts := make([]string, 7)
		for i := range texts {
			texts[i] = fmt.Sprintf("notice number %d", i)
		}
		s.hears(core.Info, texts...)
		s.sees("notice number 4", "notice number 5", "notice number 6", "and 4 more: ! lists them")
		s.misses("notice number 3")
		s.press("!")
		s.sees("notice number 0")
	})
}

func TestToastsLeaveAtLeastHalfOfTheirBox(t *testing.T) {
	long := strings.Repeat("a long reason and ", 20)
	r := newRoot(t.Context(), still{withForks(busyDay(day)), fullTail}, Options{})
	for range 6 {
		r.speech.say(time.Now(), core.Alert, long)
	}
	for _, size := range [][2]int{{120, 40}, {96, 26}, {80, 24}, {56, 14}, {40, 40}, {40, 12}, {200, 10}} {
		r.w, r.h = size[0], size[1]
		b := r.toastBox(r.plan())
		if n := len(r.toastLines(time.Now(), b.W, min(toastRows+1, max(1, b.H/2)))); n == 0 || n > max(1, b.H/2) {
			t.Errorf("%v: %d rows of %d", size, n, b.H)
		}
	}
}

func TestAToastHidesNeitherTheNewestLineNorWhatIsWritten(t *testing.T) {
	full := func(b *bot) { b.talk("f1f1f1f1", 60); b.talk("log", 60) }
	for _, keys := range [][]string{{"4"}, {"6"}, {"4", "/", "x"}, {"6", "/", "x"}, {"5", "i", "x"}} {
		play(t, setup{w: 80, h: 24, rings: full, snap: func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }}, func(s *stage) {
			s.press(keys...)
			before := s.rows()
			s.hears(core.Alert, strings.Repeat("the disk is full ", 12))
			now := s.rows()
			s.sees("the disk is full")
			if d := cmp.Diff(before[14:], now[14:]); d != "" {
				t.Errorf("%v:\n%s", keys, d)
			}
		})
	}
}

func TestAToastLeavesTheWordsOfAShortChat(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {44, 30}} {
		play(t, setup{w: size[0], h: size[1]}, func(s *stage) {
			s.press("5", "i", "x", "alt+enter", "alt+enter", "y")
			s.hears(core.Alert, strings.Repeat("the disk is full ", 12))
			s.sees("the disk is full", "what's left today?", "and a walk", "▸ x", "  y")
		})
	}
}

func TestALongReasonSaysWhatShowsTheRest(t *testing.T) {
	play(t, setup{w: 44, h: 30}, func(s *stage) {
		s.hears(core.Alert, "script line 3: say needs a text "+strings.Repeat("and more of it ", 20))
		s.sees("script line 3: say needs a text", "… (! shows all)")
	})
}

func TestTheDemoSaysWhatToTryAndTearsNoPair(t *testing.T) {
	for w := layout.StripWidth; w < 130; w += 3 {
		play(t, setup{w: w, h: 30, options: Options{Try: true}}, func(s *stage) {
			s.sees("1 then +", "2 then f", "5 then i")
			s.misses("! all here")
			s.press("!")
			if page := strings.ReplaceAll(s.screen(), held, " "); !strings.Contains(page, "1 then +") {
				t.Errorf("the list tears a pair:\n%s", page)
			}
		})
	}
	dir := config(t, "keys.yaml", "go.chat: f5\nschedule.fire: []\n")
	play(t, setup{options: Options{Config: dir, Try: true}}, func(s *stage) {
		s.sees("f5 then i")
		s.misses("2 then")
	})
}
