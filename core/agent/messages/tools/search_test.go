package tools

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestGrepKeepsToItsLimits(t *testing.T) {
	g := newGround(t, map[string]string{"a.md": strings.Repeat("plum "+strings.Repeat("x", 2000)+"\n", 400), "b.md": strings.Repeat("plum\n", 30_000)})
	got := g.does("Grep", with{"pattern": "plum", "output_mode": "content", "head_limit": 0, "path": "a.md"})
	if len(got) > maxGrepText+200 || !strings.Contains(got, "continue with offset") {
		t.Errorf("%d bytes", len(got))
	}
	if got := g.does("Grep", with{"pattern": "plum", "output_mode": "content", "path": "b.md"}); strings.Count(got, "\n") < maxFound+1 || !strings.Contains(got, "(250 of ") {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}

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

func TestGlobsWithBraces(t *testing.T) {
	for glob, want := range map[string]string{
		"a": "a", "{a,b}": "a b", "x{a,b}y": "xay xby", "{a,{b,c}}": "a b c", "{a,b}{c,d}": "ac ad bc bd", "{a": "{a", "a}": "a}", "{}": "", "{,a}": " a",
		strings.Repeat("{a,b}", 40): strings.Repeat("{a,b}", 40),
	} {
		if got := strings.Join(alternatives(glob, maxAlternatives), " "); got != want && len(alternatives(glob, maxAlternatives)) <= 1 {
			t.Errorf("%s: %q, want %q", glob, got, want)
		}
		if got := alternatives(glob, maxAlternatives); len(got) > maxAlternatives {
			t.Errorf("%s stands for %d", glob, len(got))
		}
	}
}
