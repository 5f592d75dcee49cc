package render

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// units counts as Discord does, by the standard library's own encoder.
func units(s string) int { return len(utf16.Encode([]rune(s))) }

const family = "👩‍👩‍👧‍👦" // eleven UTF-16 units

// prose draws texts as an agent writes them, and worse.
func prose() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-z ]{0,120}`),
		rapid.StringMatching(`[a-z]{100,400}`),
		rapid.SampledFrom([]string{
			"\n", "\n\n", " ", "```", "```go\n", "\n```\n", "```\n", "````", "`code`", "😀", family, "e\u0301\u0302", "🇫🇷🇩🇪", "👍🏽", "日本語", "\xff",
			strings.Repeat("x", 90), strings.Repeat("\n", 70), strings.Repeat("😀", 60), strings.Repeat("line of code()\n", 12),
		}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "")
	})
}

func TestPropertyPartsAreTheTextAndFit(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		text, limit := prose().Draw(t, "text"), rapid.OneOf(rapid.IntRange(2, 300), rapid.Just(2000)).Draw(t, "limit")
		list := Parts(text, limit)
		split := Split(text, limit)
		joined := ""
		for i, p := range list {
			joined += p.Text
			if p.Text == "" || split[i] != p.String() {
				t.Fatalf("part %d is %+v", i, p)
			}
			if n := units(p.String()); n > limit {
				t.Fatalf("part %d has %d units: %q", i, n, p.String())
			}
			if utf8.ValidString(text) && !utf8.ValidString(p.Text) {
				t.Fatalf("part %d was cut inside a character: %q", i, p.Text)
			}
			if p.Close != "" && (i+1 == len(list) || list[i+1].Open == "") {
				t.Fatalf("part %d is closed and not opened again: %+v", i, list)
			}
		}
		if joined != text {
			t.Fatalf("%q became %q", text, joined)
		}
	})
}

func TestPropertyEveryPartHasWholeCodeBlocks(t *testing.T) {
	code := rapid.Custom(func(t *rapid.T) string {
		lang := rapid.SampledFrom([]string{"go\n", "c++\n", "\n", "one line ", "objective-c\n"}).Draw(t, "language")
		body := rapid.StringMatching(`([a-z]{1,9}[ \n]){1,80}[a-z]{1,200}`).Draw(t, "code")
		return "```" + lang + body + rapid.SampledFrom([]string{"\n", ""}).Draw(t, "end") + "```"
	})
	text := rapid.StringMatching(`([a-z.]{1,9}[ \n]){1,50}[a-z]{1,50}`)
	testkit.Check(t, func(t *rapid.T) {
		all := strings.Join(rapid.SliceOfN(rapid.OneOf(code, text), 1, 8).Draw(t, "pieces"), "\n")
		limit := rapid.IntRange(leastBlock, 500).Draw(t, "limit")
		for i, part := range Split(all, limit) {
			if strings.Count(part, "```")%2 != 0 {
				t.Fatalf("part %d has half a block:\n%s", i, part)
			}
			marks := strings.Split(part, "```")
			for j := 1; j < len(marks); j += 2 {
				if strings.TrimSpace(marks[j]) == "" {
					t.Fatalf("part %d has an empty block:\n%s", i, part)
				}
			}
		}
	})
}

func TestPropertyWhatIsWrittenStaysWhileATextGrows(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		text, more := prose().Draw(t, "text"), prose().Draw(t, "more")
		before, after := Parts(text, 150), Parts(text+more, 150)
		for i := 0; i < len(before)-2; i++ {
			if before[i] != after[i] {
				t.Fatalf("part %d was %+v and became %+v", i, before[i], after[i])
			}
		}
	})
}

func TestATextIsSplitWhereItIsNatural(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"nothing":         {"", nil},
		"fits":            {x(2000), []string{x(2000)}},
		"nowhere":         {x(4001), []string{x(2000), x(2000), "x"}},
		"line break":      {x(1850) + "\n" + x(100) + " " + x(300), []string{x(1850) + "\n", x(100) + " " + x(300)}},
		"last line break": {x(1850) + "\n" + x(50) + "\n" + x(300), []string{x(1850) + "\n" + x(50) + "\n", x(300)}},
		"space":           {x(1700) + "\n" + x(150) + " " + x(300), []string{x(1700) + "\n" + x(150) + " ", x(300)}},
		"first of window": {x(1800) + "\n" + x(300), []string{x(1800) + "\n", x(300)}},
		"too early":       {x(1799) + "\n" + x(300), []string{x(1799) + "\n" + x(200), x(100)}},
		"at the limit":    {x(1999) + "\n" + x(300), []string{x(1999) + "\n", x(300)}},
		"behind it":       {x(2000) + "\n" + x(300), []string{x(2000), "\n" + x(300)}},
		"two units each":  {strings.Repeat("😀", 1001), []string{strings.Repeat("😀", 1000), "😀"}},
		"half a pair":     {"x" + strings.Repeat("😀", 1000), []string{"x" + strings.Repeat("😀", 999), "😀"}},
		"a tone of skin":  {x(1998) + "👍🏽", []string{x(1998), "👍🏽"}},
		"a family":        {x(1995) + family, []string{x(1995), family}},
		"an accent":       {x(1999) + "e\u0301", []string{x(1999), "e\u0301"}},
		"flags":           {x(1994) + "🇫🇷🇩🇪", []string{x(1994) + "🇫🇷", "🇩🇪"}},
	} {
		if diff := cmp.Diff(tt.want, Split(tt.text, 2000)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestACutCodeBlockIsClosedAndOpenedAgain(t *testing.T) {
	line := "some := code(here)\n" // 19
	code := strings.Repeat(line, 13)
	for name, tt := range map[string]struct {
		text  string
		limit int
		want  []string
	}{
		"by lines": {
			"Look:\n```go\n" + code + "```\nDone.", 150,
			[]string{
				"Look:\n```go\n" + strings.Repeat(line, 7) + "```",
				"```go\n" + strings.Repeat(line, 6) + "```\nDone.",
			},
		},
		"no language": {
			"```\n" + strings.Repeat("y", 150) + "\n```", 100,
			[]string{"```\n" + strings.Repeat("y", 92) + "\n```", "```\n" + strings.Repeat("y", 58) + "\n```"},
		},
		"its begin moves on": {
			strings.Repeat("w", 90) + "\n```go\nx := 1\n```", 100,
			[]string{strings.Repeat("w", 90) + "\n", "```go\nx := 1\n```"},
		},
		"its end is taken along": {
			"```go\n" + strings.Repeat("z", 90) + "\n```\nafter", 100,
			[]string{"```go\n" + strings.Repeat("z", 90) + "\n```", "\nafter"},
		},
		"never closed": {
			"```go\n" + strings.Repeat("z", 150), 100,
			[]string{"```go\n" + strings.Repeat("z", 90) + "\n```", "```go\n" + strings.Repeat("z", 60)},
		},
		"nothing else in the part": {
			"```go\n" + strings.Repeat("y", 250), 205,
			[]string{"```go\n" + strings.Repeat("y", 195) + "\n```", "```go\n" + strings.Repeat("y", 55)},
		},
		"a long end": {
			"```\n" + strings.Repeat("y", 91) + "``````````zzz", 100,
			[]string{"```\n" + strings.Repeat("y", 91) + "\n```", "```\n``````````zzz"},
		},
		"blank lines before it": {
			strings.Repeat("\n", 58) + "```go\n" + strings.Repeat("y", 50) + "```", 64,
			[]string{strings.Repeat("\n", 58), "```go\n" + strings.Repeat("y", 50) + "```"},
		},
		"a mark longer than a part": {
			strings.Repeat("`", 150), 64,
			[]string{strings.Repeat("`", 60), strings.Repeat("`", 60), strings.Repeat("`", 30)},
		},
		"behind one that is closed": {
			"```a```" + strings.Repeat("z", 150), 100,
			[]string{"```a```" + strings.Repeat("z", 93), strings.Repeat("z", 57)},
		},
	} {
		if diff := cmp.Diff(tt.want, Split(tt.text, tt.limit)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestPropertyACutTextFitsAndSaysSo(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		text, limit := prose().Draw(t, "text"), rapid.IntRange(0, 400).Draw(t, "limit")
		got := Cut(text, limit)
		if units(got) > limit {
			t.Fatalf("%d units of %d: %q", units(got), limit, got)
		}
		if units(text) <= limit && got != text || units(text) > limit && limit > 0 && !strings.HasSuffix(got, "…") {
			t.Fatalf("%q to %d is %q", text, limit, got)
		}
		if limit < leastBlock {
			return
		}
		if got = cutBlock(text, limit); units(got) > limit {
			t.Fatalf("%d units of %d: %q", units(got), limit, got)
		}
		if units(text) > limit && !strings.HasSuffix(strings.TrimRight(strings.TrimSuffix(got, "\n```"), markBytes), "…") {
			t.Fatalf("%q to %d is %q", text, limit, got)
		}
	})
}

func TestCutLeavesCharactersWhole(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"short", "short"},
		{"a bit longer", "a bit lon…"},
		{"a word and more", "a word an…"},
		{"a trailing  space", "a trailin…"},
		{"until      here", "until…"},
		{"12345" + family, "12345…"},
		{"12345678😀x", "12345678…"},
		{"12345678e\u0301e\u0301", "12345678…"},
	} {
		if got := Cut(tt.in, 10); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.in, got, tt.want)
		}
	}
	endless := "e" + strings.Repeat("\u0301", 5000)
	if got := Cut(endless, 2000); units(got) != 2000 {
		t.Errorf("a letter of 5001 characters: %d units", units(got))
	}
}

func TestLengthIsDiscords(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := prose().Draw(t, "text")
		if got, want := Length(s), units(s); got != want {
			t.Fatalf("%q: %d, want %d", s, got, want)
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	text := strings.Repeat(strings.Repeat("word ", 15)+"\n", 200) + "```go\n" + strings.Repeat("x := 1\n", 700) + "```" // 20,000 characters
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if len(Split(text, MaxContent)) < 10 {
			b.Fatal("not split")
		}
	}
}

// P14
func TestFencesOfTildesBecomeBackticks(t *testing.T) {
	for text, want := range map[string]string{
		"plain ~~gone~~":                     "plain ~~gone~~",
		"see\n~~~go\nx := 1\n~~~\nend":       "see\n```go\nx := 1\n```\nend",
		"~~~\n\nx\n~~~":                      "```\n\nx\n```",
		"~~~~\n~~~ x\n```\n~~~~\n~~~":        "````\n~~~ x\n'''\n````\n```",
		"```\n~~~\nx\n```\n~~~\ny\n~~~":      "```\n~~~\nx\n```\n```\ny\n```",
		"a ```x``` b\n~~~\ny":                "a ```x``` b\n```\ny",
		"    ~~~ indented code, not a fence": "    ~~~ indented code, not a fence",
	} {
		if got := Fences(text); got != want || len(got) != len(text) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
