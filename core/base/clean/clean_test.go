package clean

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// hostile draws text with everything that this package must remove.
func hostile() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[ -~]{0,8}`),
		rapid.SampledFrom([]string{
			"\x1b", "\x1b[31m", "\x1b[", "\x1b]0;title\a", "\x1b]8;;http://x\x1b\\", "\x1bP1;2q", "\x1b(B", "\x1b7", "\x1b\\",
			"\r", "\n", "\r\n", "\t", "\v", "\x00", "\x7f", "\u0085", "\u009b31m", "\u2028", "\u202e", "\u2066", "\u200b", "\u200d",
			"\ufeff", "\U000e0041", "\xff", "\xe2\x82", "é", "👩‍👩‍👧", "日本",
		}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
	})
}

func fit(s string, breaks bool) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && unicode.IsControl(r) || r == '\n' && !breaks || unicode.Is(unicode.Bidi_Control, r) ||
			r == '\u2028' || r == '\u2029' || r == '\u200b' || r == '\ufeff' || r >= 0xe0000 && r <= 0xe007f
	})
}

func TestNothingThatControlsOrHidesRemains(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := hostile().Draw(t, "text")
		if got := Text(s); !fit(got, true) {
			t.Fatalf("Text(%q) = %q", s, got)
		}
		got := Line(s)
		if !fit(got, false) || got != strings.TrimSpace(got) {
			t.Fatalf("Line(%q) = %q", s, got)
		}
	})
}

func TestCleaningTwiceChangesNothing(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := hostile().Draw(t, "text")
		if text := Text(s); Text(text) != text {
			t.Fatalf("Text(%q) = %q, then %q", s, text, Text(text))
		}
		if line := Line(s); Line(line) != line {
			t.Fatalf("Line(%q) = %q, then %q", s, line, Line(line))
		}
	})
}

func TestHarmlessTextStaysAsItIs(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`([ -~äöüß€日本👍\n]|👩‍👧){0,40}`).Draw(t, "text")
		if got := Text(s); got != s {
			t.Fatalf("Text(%q) = %q", s, got)
		}
	})
}

func TestCleaningKnowsTheSequencesOfTerminals(t *testing.T) {
	for _, tt := range []struct{ in, text, line string }{
		{"a\x1b[1;31mb\x1b[0m", "ab", "ab"},
		{"a\x1b]0;owned\ab", "ab", "ab"},
		{"a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink", "alink"},
		{"a\x1b(Bb\x1b7c\x1b#8d", "abcd", "abcd"},
		{"a\x1bPq#0\x1b\\b", "ab", "ab"},
		{"a\x1b]never closed\nb", "a\nb", "a b"},
		{"a\x1b[12\nb", "a\nb", "a b"},
		{"a\x1b", "a", "a"},
		{"a\x1b[1éb", "aéb", "aéb"},
		{"a\x1b[~b\x1b[@c", "abc", "abc"},
		{"a\x1bXone\x1b\\b\x1b^two\x1b\\c\x1b_three\ad", "abcd", "abcd"},
		{"a\x1b(", "a", "a"},
		{"a\x1b /0b\x1b~c", "abc", "abc"},
		{"a\x1b\x7fb", "ab", "ab"},
		{"a\r\nb\rc\n", "a\nb\nc\n", "a b c"},
		{"a\tb", "a    b", "a    b"},
		{"\u202eevil\u202c", "evil", "evil"},
		{"a\xffb\xe2\x82", "a\ufffdb\ufffd\ufffd", "a\ufffdb\ufffd\ufffd"},
		{" a\u2028b ", " a b ", "a b"},
		{"", "", ""},
	} {
		if got := Text(tt.in); got != tt.text {
			t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.text)
		}
		if got := Line(tt.in); got != tt.line {
			t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.line)
		}
	}
}

func TestWhatHidesIsRemovedAndItsNeighboursStay(t *testing.T) {
	for _, hides := range [][2]rune{{0x61c, 0x61c}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}} {
		for r := hides[0] - 1; r <= hides[1]+1; r++ {
			gone := r >= hides[0] && r <= hides[1]
			if got := Text("a" + string(r) + "b"); (got == "ab") != gone && r != 0x2029 {
				t.Errorf("%U: %q", r, got)
			}
		}
	}
	if got := Line("a\u2028b\u2029c\u00a0d"); got != "a b c\u00a0d" {
		t.Errorf("%q", got)
	}
}

func TestCutKeepsTheBeginAndTheLimit(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "text"), rapid.IntRange(-1, 20).Draw(t, "limit")
		got := Cut(s, n)
		if utf8.RuneCountInString(s) <= n {
			if got != s {
				t.Fatalf("Cut(%q, %d) = %q", s, n, got)
			}
			return
		}
		if utf8.RuneCountInString(got) != max(0, n) || !strings.HasPrefix(s, strings.TrimSuffix(got, "…")) {
			t.Fatalf("Cut(%q, %d) = %q", s, n, got)
		}
		if n > 0 && !strings.HasSuffix(got, "…") {
			t.Fatalf("Cut(%q, %d) = %q does not say that it was cut", s, n, got)
		}
	})
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "a\x1b[31mb", "\x1b]0;x\a", "\xff\u202e", "\r\n\t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if text, line := Text(s), Line(s); !fit(text, true) || !fit(line, false) || Text(text) != text || Line(line) != line {
			t.Fatalf("%q becomes %q and %q", s, text, line)
		}
	})
}

func BenchmarkTextPlain(b *testing.B) {
	s := strings.Repeat("The washing machine is done. ", 10)
	for b.Loop() {
		Text(s)
	}
}

func BenchmarkTextHostile(b *testing.B) {
	s := strings.Repeat("The \x1b[31mwashing\x1b[0m machine is dön\u202ee. ", 10)
	for b.Loop() {
		Text(s)
	}
}

func TestATextIsCutBetweenCharacters(t *testing.T) {
	for n, want := range []string{"", "a", "a", "aé", "aé", "aé", "aé☃", "aé☃b", "aé☃b"} {
		if got := Head("aé☃b", n); got != want {
			t.Errorf("%d bytes: %q", n, got)
		}
	}
	for in, want := range map[string]string{"": "", "ab": "ab", "a\xc3": "a", "a\xe2\x98": "a", "aé": "aé", "a\xf0\x9f\x98": "a", "a\xff": "a\xff", "\x98\x98": "\x98\x98"} {
		if got := string(Whole([]byte(in))); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
