package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// D10: an answer that was interrupted, or that never closes its block, left it open.
func TestABlockThatATextLeavesOpenIsClosed(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"plain":                             "plain",
		"```go\nx := 1":                     "```go\nx := 1\n```",
		"```go\nx := 1\n":                   "```go\nx := 1\n```",
		"```a``` and ```go\nx":              "```a``` and ```go\nx",
		"see\n```\na\n```\nand\n```\nb":     "see\n```\na\n```\nand\n```\nb\n```",
		"> ```go\n> x := 1":                 "> ```go\n> x := 1\n> ```",
		"begin a block with ``` on a line":  "begin a block with ``` on a line",
		"```\n" + strings.Repeat("y", 1995): "```\n" + strings.Repeat("y", 1995),
	} {
		if got := Closed(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	said := Appended("```go\n"+strings.Repeat("y", 1990), "\n-# *cut short*")
	if units(said) > MaxContent || !strings.HasSuffix(said, "…\n```\n-# *cut short*") {
		t.Errorf("%d units, ends in %q", units(said), said[len(said)-40:])
	}
}

func TestAnOpenBlockIsClosedOnlyWhereTheEndFits(t *testing.T) {
	for n, closed := range map[int]bool{MaxContent - 8: true, MaxContent - 7: false, MaxContent - 4: false} {
		text := "```\n" + strings.Repeat("y", n)
		if got := Closed(text); units(got) > MaxContent || strings.HasSuffix(got, "```") != closed {
			t.Errorf("%d units: %d, closed %v", units(text), units(got), !closed)
		}
	}
}

// D10: a block in a quote was closed outside of it.
func TestABlockInAQuoteIsClosedAndOpenedInIt(t *testing.T) {
	line := "> some := code(here)\n" // 21
	got := Split("> Look:\n> ```go\n"+strings.Repeat(line, 10)+"> ```\nDone.", 150)
	want := []string{
		"> Look:\n> ```go\n" + strings.Repeat(line, 6) + "> ```",
		"> ```go\n" + strings.Repeat(line, 4) + "> ```\nDone.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, part := range Split("> ```\n> "+strings.Repeat("y", 300), 100) {
		for l := range strings.SplitSeq(part, "\n") {
			if !strings.HasPrefix(l, "> ") {
				t.Errorf("part %d leaves its quote: %q", i, part)
			}
		}
	}
}

// D10: spoilers, inline code, links and addresses were cut at 2,000.
func TestACutLeavesCodeLinksAndSpoilersWhole(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"code":        {x(1790) + " `" + strings.Repeat("a b", 80) + "` end", []string{x(1790) + " ", "`" + strings.Repeat("a b", 80) + "` end"}},
		"open code":   {x(1790) + " `" + x(400), []string{x(1790) + " ", "`" + x(400)}},
		"its end":     {x(1995) + " `ab cd` end", []string{x(1995) + " ", "`ab cd` end"}},
		"link":        {x(1900) + " [the long page](https://example.com/" + x(100) + ") end", []string{x(1900) + " ", "[the long page](https://example.com/" + x(100) + ") end"}},
		"link at (":   {x(1980) + " [a b c d e f g h](https://example.com) end", []string{x(1980) + " ", "[a b c d e f g h](https://example.com) end"}},
		"its address": {x(1950) + " [page](https://example.com/a" + " b" + x(100) + ") end", []string{x(1950) + " ", "[page](https://example.com/a b" + x(100) + ") end"}},
		"whole ones":  {x(1700) + " [a](b) [c] \\` `d` `" + x(400), []string{x(1700) + " [a](b) [c] \\` `d` ", "`" + x(400)}},
		"address":     {x(1700) + " https://example.com/" + x(400), []string{x(1700) + " ", "https://example.com/" + x(400)}},
		"a box":       {x(1950) + " [x] done " + x(100), []string{x(1950) + " [x] done ", x(100)}},
		"spoiler":     {x(1900) + " ||it was the " + strings.Repeat("butler ", 20) + "|| end", []string{x(1900) + " ||it was the " + strings.Repeat("butler ", 11) + "butler|| ", "||" + strings.Repeat("butler ", 8) + "|| end"}},
		"early tick":  {x(100) + "`" + x(2000), []string{x(100) + "`" + x(1899), x(101)}},
	} {
		if diff := cmp.Diff(tt.want, Split(tt.text, 2000)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
