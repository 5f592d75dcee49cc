package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/notice"
	"ollimbot/tui/layout"
)

// hears lets the bot say things.
func (s *stage) hears(level notice.Level, texts ...string) {
	s.t.Helper()
	s.bot.change(func(c *core.Snapshot) {
		for _, text := range texts {
			c.Notices = append(c.Notices, notice.Notice{Seq: uint64(len(c.Notices) + 1), At: time.Now(), Level: level, Text: text})
		}
	})
	time.Sleep(100 * time.Millisecond)
}

func TestWhatIsSaidCoversNothing(t *testing.T) {
	full := func(b *bot) { b.talk("f1f1f1f1", 60); b.talk("log", 60) }
	for _, size := range [][2]int{{200, 60}, {120, 40}, {96, 26}, {80, 24}, {44, 30}, {56, 14}, {120, 12}, {40, 10}} {
		for _, keys := range [][]string{{"1"}, {"2", "down"}, {"3"}, {"4"}, {"4", "z", "enter"}, {"6", "/", "x"}, {"5", "i", "x"}, {"2", "n"}, {"?"}, {"1", "e"}} {
			t.Run(fmt.Sprintf("%v on %v", keys, size), func(t *testing.T) {
				play(t, setup{w: size[0], h: size[1], rings: full, env: []string{"NO_MOTION=1"}, snap: busyForks}, func(s *stage) {
					s.press(keys...)
					time.Sleep(20 * time.Second)
					before := s.rows()
					s.hears(notice.Alert, strings.Repeat("the disk is full ", 12))
					for y, l := range s.rows() {
						switch {
						case strings.Contains(l, "the disk is full"):
							if y != size[1]-1 && strings.Trim(before[y], " ") != "" {
								t.Errorf("it covers %q", before[y])
							}
						case clocks.ReplaceAllString(l, "") != clocks.ReplaceAllString(before[y], ""):
							t.Errorf("row %d has changed:\n%s", y, cmp.Diff(before[y], l))
						}
					}
					s.sees("✗ the disk is full")
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
		s.hears(notice.Info, texts...)
		s.sees("notice number 6 (6 more: ! lists them)")
		s.misses("notice number 5")
		s.press("!")
		s.sees("notice number 0")
	})
}

func TestALongReasonSaysWhatShowsTheRest(t *testing.T) {
	play(t, setup{w: 80, h: 24}, func(s *stage) {
		s.hears(notice.Alert, "script line 3: say needs a text "+strings.Repeat("and more of it ", 20))
		s.sees("✗ script line 3: say needs", "… (! shows all)")
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
