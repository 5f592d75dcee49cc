package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

const rain = "| Day | Rain |\n|:----|-----:|\n| Mon | **3 mm** |\n| Tue | 12 mm |\n"

// P4
func TestATableIsCodeWhereItIsNarrowAndAListWhereItIsWide(t *testing.T) {
	code := "```\nDay   Rain\n──────────\nMon   3 mm\nTue  12 mm\n```\n"
	long := strings.Repeat("word ", 9)
	for name, tt := range map[string]struct{ text, want string }{
		"narrow":           {"So:\n\n" + rain + "\nDone.", "So:\n\n" + code + "\nDone."},
		"at the end":       {strings.TrimSuffix(rain, "\n"), strings.TrimSuffix(code, "\n")},
		"wide characters":  {"a|b\n-|-\n日本|x\ny|z\n", "```\na     b\n───────\n日本  x\ny     z\n```\n"},
		"wide":             {"|Who|What|\n|--|--|\n|Ann|" + long + "|\n|Bob||\n", "- **Who**: Ann\n  **What**: " + strings.TrimSpace(long) + "\n- **Who**: Bob\n"},
		"a link":           {"|A|B|\n|-|-|\n|x|[y](https://a.example)|\n", "- **A**: x\n  **B**: [y](https://a.example)\n"},
		"an escaped bar":   {"|A|B|\n|-|-|\n|x\\|y|z|\n", "```\nA    B\n──────\nx|y  z\n```\n"},
		"odd rows":         {"|A|B|\n|-|-|\n|x|\n|1|2|3|\n", "```\nA  B\n────\nx\n1  2\n```\n"},
		"only a head":      {"|A|B|\n|-|-|\n", "A · B\n"},
		"code below it":    {rain + "```x|y```\n", code + "```x|y```\n"},
		"inside code":      {"```\n" + rain + "```\n", "```\n" + rain + "```\n"},
		"no delimiter":     {"| a | b |\n| c | d |\n", "| a | b |\n| c | d |\n"},
		"other delimiter":  {"| a | b |\n|---|\n", "| a | b |\n|---|\n"},
		"a spoiler":        {"||hidden||\n", "||hidden||\n"},
		"its styles go":    {"|A|B|\n|-|-|\n|__x__ ~~y~~|`z`|\n", "```\nA    B\n──────\nx y  z\n```\n"},
		"an address":       {"|A|B|\n|-|-|\n|x|https://a.example|\n", "- **A**: x\n  **B**: https://a.example\n"},
		"half a link":      {"|A|B|\n|-|-|\n|x]|(y)|\n", "```\nA   B\n───────\nx]  (y)\n```\n"},
		"its sides":        {"|A|B|C|D|\n|-:|:-:|:-|-|\n|1|2|3|4|\n|11|22|33|44|\n", "```\n A  B   C   D\n──────────────\n 1  2   3   4\n11  22  33  44\n```\n"},
		"just narrow":      {"|A|B|\n|-|-|\n|" + strings.Repeat("x", narrow-3) + "|y|\n", "```\nA" + strings.Repeat(" ", narrow-2) + "B\n" + strings.Repeat("─", narrow) + "\n" + strings.Repeat("x", narrow-3) + "  y\n```\n"},
		"just wide":        {"|A|B|\n|-|-|\n|" + strings.Repeat("x", narrow-2) + "|y|\n", "- **A**: " + strings.Repeat("x", narrow-2) + "\n  **B**: y\n"},
		"an indented one":  {"   | A | B |\n   |---|---|\n   | x | y |\n", "```\nA  B\n────\nx  y\n```\n"},
		"two of them":      {rain + "\n" + rain, code + "\n" + code},
		"a command's pipe": {"run a | b\n---\nend", "run a | b\n---\nend"},
	} {
		if diff := cmp.Diff(tt.want, Markdown(tt.text, false)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// P4: while an answer grows, nobody sees the bars of a table.
func TestATableThatGrowsIsNeverSeenRaw(t *testing.T) {
	text := "Here:\n\n" + rain + "\nDone."
	for n := range len(text) {
		if got := Markdown(text[:n], true); strings.Contains(got, "|") {
			t.Fatalf("%q shows %q", text[:n], got)
		}
	}
	for so, want := range map[string]string{
		rain: "```\nDay   Rain\n──────────\nMon   3 mm\nTue  12 mm\n```\n", "x\n| Day": "x\n", "x\n| Day | Rain |\n": "x\n", "x\n| Day | Rain |\n|--": "x\n",
		rain[:len(rain)-3]: "```\nDay  Rain\n─────────\nMon  3 mm\n```\n", "| a |\n| b |": "", "x\n|a|\n|b|\n|c": "x\n|a|\n|b|\n", "x": "x", "x\n": "x\n",
	} {
		if got := Markdown(so, true); got != want {
			t.Errorf("%q shows %q, want %q", so, got, want)
		}
	}
}

func TestPropertyATableLosesNoWord(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{1,12}`)
	testkit.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(2, 6).Draw(t, "columns")
		row := rapid.SliceOfN(word, columns, columns)
		rows := rapid.SliceOfN(row, 2, 8).Draw(t, "rows")
		text := "| " + strings.Join(rows[0], " | ") + " |\n" + strings.Repeat("|---", columns) + "|\n"
		for _, r := range rows[1:] {
			text += "| " + strings.Join(r, " | ") + " |\n"
		}
		got := Markdown(text, false)
		for _, r := range rows {
			for _, w := range r {
				if !strings.Contains(got, w) {
					t.Fatalf("%q is lost in\n%s", w, got)
				}
			}
		}
	})
}

// P14
func TestAStyleThatIsCutIsClosedAndOpenedAgain(t *testing.T) {
	x := func(n int) string { return strings.Repeat("xxxx ", n/5) }
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"bold":           {"see **" + x(100) + x(40) + "end** now", []string{"see **" + strings.TrimSpace(x(90)) + "** ", "**" + x(50) + "end** now"}},
		"italic in bold": {"**a *" + x(100) + x(40) + "b* c**", []string{"**a *" + strings.TrimSpace(x(90)) + "*** ", "***" + x(50) + "b* c**"}},
		"closed before":  {"**a** " + x(120), []string{"**a** " + x(90), x(30)}},
		"product":        {"5 * 3 and 2**10 " + x(120), []string{"5 * 3 and 2**10 " + x(80), x(40)}},
		"snake_case":     {"snake_case " + x(120), []string{"snake_case " + x(85), x(35)}},
		"inline code":    {"`a **b` " + x(120), []string{"`a **b` " + x(90), x(30)}},
		"other paragraph": {
			"**left open\n\n" + x(145), []string{"**left open\n\n", x(100), x(45)},
		},
		"a mark at the limit": {x(95) + "y **" + x(40) + "** z", []string{x(95) + "y ", "**" + x(40) + "** z"}},
		"a mark of long words": {
			"**" + strings.Repeat("y", 98) + "**" + strings.Repeat("z", 50), []string{"**" + strings.Repeat("y", 96) + "**", "**yy**" + strings.Repeat("z", 50)},
		},
	} {
		if diff := cmp.Diff(tt.want, Split(tt.text, 100)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestPropertyEveryPartOfBoldIsWhole(t *testing.T) {
	bold := rapid.StringMatching(`\*\*[a-z]{1,9}( [a-z]{1,9}){0,60}\*\*`)
	plain := rapid.StringMatching(`[a-z]{1,9}( [a-z]{1,9}){0,40}`)
	testkit.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(bold, plain), 1, 8).Draw(t, "pieces"), " ")
		limit := rapid.IntRange(leastBlock, 300).Draw(t, "limit")
		for i, part := range Split(text, limit) {
			if strings.Count(part, "**")%2 != 0 || strings.Contains(part, "****") {
				t.Fatalf("part %d has half of a style:\n%s", i, part)
			}
		}
	})
}
