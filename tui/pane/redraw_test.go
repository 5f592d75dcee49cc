package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/updates"
)

// findings are so many updates of so many words.
func findings(n, words int) []updates.Update {
	out := make([]updates.Update, n)
	for i := range out {
		out[i] = updates.Update{Key: fmt.Sprint(i), At: noon.Add(-time.Duration(n-i) * time.Minute), Message: fmt.Sprint("finding ", i, strings.Repeat(" and so on", words))}
	}
	return out
}

func TestNoUpdateIsCutWhileALineIsFree(t *testing.T) {
	s := open("updates")
	s.next(func(c *core.Snapshot) { c.Updates = findings(2, 40); c.Forks = nil })
	lacks(t, "there is room for all of it", s.screen(80, 14), "…")
	testkit.Check(t, func(t *rapid.T) {
		s := open("updates")
		n := rapid.IntRange(1, 20).Draw(t, "updates")
		s.next(func(c *core.Snapshot) {
			c.Forks, c.Updates = nil, nil
			for _, u := range findings(n, 0) {
				u.Message += strings.Repeat(" and so on", rapid.IntRange(0, 30).Draw(t, "words"))
				c.Updates = append(c.Updates, u)
			}
		})
		for range rapid.IntRange(0, n).Draw(t, "down") {
			s.do("updates.down")
		}
		w, h := rapid.IntRange(26, 90).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h")
		lines := drawn(s, s.c, w, h, true)
		screen := strings.Join(lines, "\n")
		blank := 0
		for _, l := range lines {
			if strings.TrimSpace(l) == "" {
				blank++
			}
		}
		if strings.Contains(screen, "…") && blank > 0 || strings.Count(screen, "▸") != 1 || len(lines) != h {
			t.Fatalf("%d×%d:\n%s", w, h, screen)
		}
		for i := range n { // each of them is in sight where there are lines for that
			if h >= 2*n+30 && !strings.Contains(screen, fmt.Sprint("finding ", i)) {
				t.Fatalf("finding %d is missing:\n%s", i, screen)
			}
		}
	})
}
