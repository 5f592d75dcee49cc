package tools

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// A line is found if and only if the expression matches it, in every output mode.
func TestPropertyGrepFindsExactlyTheLinesThatMatch(t *testing.T) {
	g := newGround(t, nil)
	testkit.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab c.")), 0, 6, -1), 1, 12).Draw(rt, "lines")
		pattern := rapid.SampledFrom([]string{"a", "b c", "^a", "a$", "^$", "[ab]+", "a|c", "."}).Draw(rt, "pattern")
		around := rapid.IntRange(0, 3).Draw(rt, "around")
		g.put("x.md", strings.Join(lines, "\n")+"\n")
		expression := regexp.MustCompile(pattern)
		want := map[int]bool{}
		for i, l := range lines {
			if expression.MatchString(l) {
				want[i+1] = true
			}
		}
		got, last := map[int]bool{}, 0
		for row := range strings.Lines(g.does("Grep", with{"pattern": pattern, "path": "x.md", "output_mode": "content", "-C": around})) {
			var n int
			var sign string
			if _, err := fmt.Sscanf(row, "x.md:%d%1s", &n, &sign); err == nil {
				got[n] = true
			} else if _, err := fmt.Sscanf(row, "x.md-%d%1s", &n, &sign); err != nil {
				continue
			}
			if n <= last {
				rt.Fatalf("line %d behind line %d", n, last)
			}
			last = n
			near := false
			for k := n - around; k <= n+around; k++ {
				near = near || want[k]
			}
			if !near {
				rt.Fatalf("line %d is near nothing", n)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Fatalf("%q in %q: %v, want %v", pattern, lines, got, want)
		}
	})
}
