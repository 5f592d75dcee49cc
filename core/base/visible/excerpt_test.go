package visible

import (
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// N2: the tail of a long call is always shown, and what is missing is said with a mark that no text imitates.
func TestAnExcerptHasHeadAndTailAndSaysThatItIsCut(t *testing.T) {
	short, cut := Excerpt(strings.Repeat("echo harmless ; ", 200)+"touch /tmp/evil", 200)
	if !cut || !strings.HasPrefix(short, "echo harmless ; echo") || !strings.HasSuffix(short, "; touch /tmp/evil") ||
		!strings.Contains(short, "⟦3") || !strings.Contains(short, " characters are not shown here⟧") {
		t.Errorf("%v, %q", cut, short)
	}
	if short, cut := Excerpt("all of it", 200); cut || short != "all of it" {
		t.Errorf("%v, %q", cut, short)
	}
}

func TestThreeBackticksCannotEndTheBlockThatTheyAreIn(t *testing.T) {
	if got := Fenced("a `` b\n```\n`````"); got != "a `` b\n``⟦U+0060⟧\n``⟦U+0060⟧``" {
		t.Errorf("%q", got)
	}
}

func TestAnExcerptKeepsItsLimitAndItsMarksWhole(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		p := Text(strings.Repeat(hostile().Draw(t, "text"), rapid.IntRange(1, 60).Draw(t, "times")))
		n := rapid.IntRange(60, 400).Draw(t, "limit")
		short, cut := Excerpt(p, n)
		if got := len(utf16.Encode([]rune(short))); got > n {
			t.Fatalf("%d units, want at most %d: %q", got, n, short)
		}
		if !cut && short != p || strings.Count(short, Open) != strings.Count(short, Close) {
			t.Fatalf("Excerpt(%q, %d) = %q", p, n, short)
		}
	})
}
