package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/talk/notice"
)

func TestTabsAndHintsLeadOnAsTheirStoriesSay(t *testing.T) {
	none := setup{snap: func(at time.Time) core.Snapshot { return core.Snapshot{At: at, Zone: time.UTC} }}
	tabs := func(w int) setup { return setup{w: w, h: 24, snap: busyForks} }
	tell(t, []story{
		{"tabs say what happens in panes that are not on the screen", tabs(80), `
			4 => " 1 Ping budget  2 Schedule  3 Updates (2) " | "▸4 Runs " | " 5 Chat  6 Logs "
			5 => " 4 Runs (2) " | "▸5 Chat "`},
		{"in short where there is little room", tabs(56), `
			4 => " 1  2  3 (2) " | "▸4 Runs " | " 5  6 "
			6 => " 1  2  3 (2)  4 (2)  5 " | "▸6 Logs "`},
		{"and nothing where nothing is", setup{w: 80, h: 24, snap: none.snap}, `4 => " 1 Ping budget  2 Schedule  3 Updates "`},
		{"a tab with a state is clicked as a whole", sized(80, 24), `<(2)> => ▸3 Updates`},
		{"an empty pane says with which key or click to continue", none, `
			  => tab next pane   2 schedule   5 chat | !/ filter | !w wrap | !End follow
			/ => no run yet
			3 => tab next pane   2 schedule   5 chat
			2 => n new   tab next pane   5 chat
			<tab next pane> => ▸ 3 Updates`},
		{"but not where something is", setup{snap: busyForks}, `=> / filter | !tab next pane`},
	})
}

func TestWhatIsSaidCoversNothing(t *testing.T) {
	full := func(b *bot) { b.talk("f1f1f1f1", 60); b.talk("log", 60) }
	for _, keys := range []string{"1", "2 down", "3", "4", "4 z enter", "6 & x", "5 i x", "2 n", "?", "1 e"} {
		t.Run(keys, func(t *testing.T) {
			play(t, setup{rings: full, env: []string{"NO_MOTION=1"}, snap: busyForks}, func(s *stage) {
				s.plays(nil, keys)
				for _, size := range [][2]int{{200, 60}, {120, 40}, {96, 26}, {80, 24}, {44, 30}, {56, 14}, {120, 12}, {40, 10}} {
					s.resize(size[0], size[1])
					time.Sleep(20 * time.Second)
					s.hears(notice.Alert) // nothing: but curves stand where they do now
					before := s.rows()
					s.hears(notice.Alert, strings.Repeat("the disk is full ", 12))
					for y, l := range s.rows() {
						switch {
						case strings.Contains(l, "the disk is full"):
							if y != size[1]-1 && (y != size[1]-2 || strings.ContainsAny(before[y], "─╰╯│")) { // the rows of messages and keys
								t.Errorf("on %v it covers %q", size, before[y])
							}
						case steady(l) != steady(before[y]):
							t.Errorf("on %v row %d has changed:\n%s", size, y, cmp.Diff(before[y], l))
						}
					}
					s.at = fmt.Sprint(size)
					s.sees("✗ the disk is full")
				}
			})
		})
	}
}
