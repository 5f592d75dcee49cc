package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/tui/theme"
	"ollimbot/tui/tuitest"
	"ollimbot/tui/widget"
)

func colours() *theme.Theme {
	return theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
}

// drawn is a text as lines of a width, each ended by a bar.
func drawn(text string, w int, t *theme.Theme) string {
	var d Doc
	var b strings.Builder
	for _, row := range d.Rows(text, Look{Theme: t, W: w}) {
		b.WriteString(widget.Brush{Theme: t}.Line(w, row...) + "|\n")
	}
	return b.String()
}

func words(rows [][]widget.Span) string {
	var out []string
	for _, row := range rows {
		line := ""
		for _, s := range row {
			line += s.Text
		}
		out = append(out, strings.TrimRight(line, " "))
	}
	return strings.Join(out, "\n")
}

const letter = `# What is left today

Two **important** things, *really*, and ~~one~~ none of ` + "`task list`" + `:

1. Answer the landlord about **Thursday at 15:00**, see [the thread](https://example.org/t/42).
2. The weekly review
   - [x] numbers of the *third* quarter
   - [ ] 予定を確認する 👨‍👩‍👧 and what else a long line of a nested list says

> The plumber comes **at 15:00**, unless it rains, in which case he comes tomorrow.

` + "```go\nfunc main() {\n\tfmt.Println(\"a line of code that is longer than the box is wide, by far\")\n}\n```" + `
| Task | Cost | Runs |
|------|-----:|:----:|
| Email sweep | $0.12 | 14 |
| مرحبا | **$1.20** | 3 |

---
-# small words below https://example.org/a_b_c.
snake_case_names and 2*3*4 stay \*as they are\*`

func TestALetterLooksAsItDid(t *testing.T) {
	for name, th := range map[string]*theme.Theme{
		"colour": theme.New(theme.Options{Dark: true, Profile: colorprofile.ANSI}), "light": theme.New(theme.Options{Profile: colorprofile.TrueColor}),
		"nocolor": theme.New(theme.Options{NoColor: true}), "plain": theme.New(theme.Options{Plain: true}),
		"ascii": theme.New(theme.Options{Plain: true, ASCII: true}),
	} {
		for _, w := range []int{24, 60} {
			got := strings.ReplaceAll(drawn(letter, w, th), "\x1b", "␛")
			goldentest.Compare(t, fmt.Sprintf("%s-%d.golden", name, w), got)
		}
	}
}

func TestMarksOfTheSourceDisappearAndWordsDoNot(t *testing.T) {
	for source, want := range map[string]string{
		"**bold** and *soft* and __bold__ and _soft_":                 "bold and soft and bold and soft",
		"***both*** `code` ``a ` b``":                                 "both code a ` b",
		"2*3*4, snake_case_name, *.go and *.md, a * b":                "2*3*4, snake_case_name, *.go and *.md, a * b",
		"an unclosed **mark and `one more":                            "an unclosed **mark and `one more",
		"[words](https://a.example/x_y) ![](https://b.example/p.png)": "words (https://a.example/x_y) https://b.example/p.png",
		"<https://a.example/> (https://b.example/c), [no link] [x](":  "https://a.example/ (https://b.example/c), [no link] [x](",
		"**bold with `code` and *soft* in it**":                       "bold with code and soft in it",
		`\*not soft\* \\ \q`:                                          `*not soft* \ \q`,
		"####### seven\n#hash\n## two ##":                             "####### seven\n#hash\ntwo",
		"a\n\n\n\nb\n\n":                                              "a\n\nb",
		"````\n```\n# in\n````\nout":                                  "│ ```\n│ # in\n\nout",
		"  ```\n  a\n    b\nc\n  ```\nd":                              "│ a\n│   b\n│ c\n\nd",
		"| only a bar":                                                "| only a bar",
		"so **very\nimportant** it is":                                "so very\nimportant it is",
		"Title\n=====\nwords\n\nLess\n---\nwords":                     "Title\nwords\n\nLess\nwords",
		"3 &lt; 4 &amp; &euro; &#8364; \\&amp; &nonsense;":            "3 < 4 & € € &amp; &nonsense;",
		"one\\\ntwo  \nthree":                                         "one\ntwo\nthree",
		"> ```go\n> a := 1\n> ```\n> after":                           "┃ │ go\n┃ │ a := 1\n┃ after",
		"- item\n  ```\n  code\n  ```":                                "• item\n  │ code",
		"Task | Cost\n--- | ---:\nsweep | $1":                         "Task   Cost\n───────────\nsweep  $1",
		"1. one\n\n2. two\n\n   more of two":                          "1. one\n\n2. two\n\n   more of two",
		"<b>bold</b> and [a]: https://a.example":                      "<b>bold</b> and [a]: https://a.example",
		"    indented\n    code\n\nwords":                             "│ indented\n│ code\n\nwords",
		"> one\n>\n> two":                                             "┃ one\n┃ \n┃ two",
	} {
		if got := Plain(source, colours()); got != want {
			t.Errorf("%q reads\n%q, want\n%q", source, got, want)
		}
	}
}

// Half an emphasis holds to the end of what has come, so that the words stand
// where they will stand when it is closed.
func TestWordsDoNotMoveWhenWhatIsStreamedIsClosed(t *testing.T) {
	for _, whole := range []string{
		"so **very important** it is", "run `task list` now", "a *soft* word", "one **bold and *soft* word**", "* item **two**", "a\nb **c\nd** e",
	} {
		var d Doc
		end := words(d.Rows(whole, Look{Theme: colours(), W: 60}))
		for i := range whole {
			got := words(d.Rows(whole[:i], Look{Theme: colours(), W: 60, Open: true}))
			if got = strings.TrimRight(got, "*` "); !strings.HasPrefix(end, got) {
				t.Errorf("%q is drawn as %q, at the end as %q", whole[:i], got, end)
			}
		}
	}
}

func TestTextsAreDrawnInTheirRolesAlsoBeforeTheirMarksAreClosed(t *testing.T) {
	painted := func(text string, l Look) string {
		return Print(text, l, func(r theme.Role, s string) string { return tuitest.Painted(l.Theme.Paint(r, s)) })
	}
	for _, c := range []struct{ source, closed, open string }{
		{"so **very", "so **very", "so ‹strong very›"},
		{"so *very", "so *very", "so ‹think very›"},
		{"so ***very", "so ***very", "so ‹strong very›"},
		{"so ****very", "so ****very", "so ****very"},
		{"so ~~very", "so ~~very", "so ‹dim ~~very~~›"},
		{"so ~very", "so ~very", "so ~very"},
		{"so `very *a", "so `very *a", "so ‹tool very *a›"},
		{"a **b *c `d", "a **b *c `d", "a ‹strong b c ›‹tool d›"},
		{"**a _b ~~c *d", "**a _b ~~c *d", "**a ‹think b ›‹dim ~~c d~~›"},
		{"\\*a **b", "*a **b", "*a ‹strong b›"},
		{"a * b ** c", "a * b ** c", "a * b ** c"},
		{"snake_case_x 2*3*4", "snake_case_x 2*3*4", "snake_case_x 2*3*4"},
		{"word*", "word*", "word"},
		{"text\n---", "‹strong text›", "text"},
		{"text\n- ", "‹strong text›", "text"},
		{"one\n1.", "one\n1.", "one\n1."},
		{"## head **bo", "‹strong head **bo›", "‹strong head bo›"},
		{"> **quote", "‹think ┃ ›**quote", "‹think ┃ ›‹strong quote›"},
		{"```go\ncode **x", "‹border │ ›‹dim go›\n‹border │ ›code **x", "‹border │ ›‹dim go›\n‹border │ ›code **x"},
		{"```  a language of many words and more than the box is wide\n\tx", "‹border │ ›‹dim a language of many words an…›\n‹border │ ›    x", "‹border │ ›‹dim a language of many words an…›\n‹border │ ›    x"},
		{"a [link](https://a.example) and [https://a.example](https://a.example)", "a ‹accent link›‹dim  (https://a.example)› and\n‹accent https://a.example›", "a ‹accent link›‹dim  (https://a.example)› and\n‹accent https://a.example›"},
		{"a [link", "a [link", "a [link"},
		{"- [x] done\n- [ ] open\n10. ten\n    - in", "‹accent • ›‹good [x] ›done\n‹accent • ›‹warn [ ] ›open\n‹accent 10. ›ten\n    ‹accent • ›in", "‹accent • ›‹good [x] ›done\n‹accent • ›‹warn [ ] ›open\n‹accent 10. ›ten\n    ‹accent • ›in"},
		{"-# small **x", "‹dim small **x›", "‹dim small ›‹strong x›"},
		{"a\n\n---\n\nb", "a\n\n‹border ──────────────────────────────›\n\nb", "a\n\n‹border ──────────────────────────────›\n\nb"},
		{"| a | b |\n|---|:-:|\n| **c** | d", "‹strong a›  ‹strong b›\n‹border ────›\n‹strong c›  d", "‹strong a›  ‹strong b›\n‹border ────›\n‹strong c›  d"},
	} {
		for _, open := range []bool{false, true} {
			want := map[bool]string{false: c.closed, true: c.open}[open]
			if got := painted(c.source, Look{Theme: tuitest.Colours, W: 30, Open: open}); got != want {
				t.Errorf("%q, open %t, is %s\nwant %s", c.source, open, got, want)
			}
		}
	}
	if got, want := painted("# One\n\n### Three", Look{Theme: theme.New(theme.Options{Plain: true}), W: 30}), "# One\n\n### Three"; got != want {
		t.Errorf("without colours a heading is %s, want %s", got, want)
	}
}

func TestWhatMoreTextCannotChangeIsKnown(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a\nb": 0, "a\n\n": 0, "a\n\nb": 3, "a\n\nb\n\nc": 3, "a\n\n b": 0, "a\n\n\tb": 0, "a\n\n\r\nb": 5, "a\n \nb": 4, "\n\na": 2,
		"```\n\na\n```\n\nb": 12, "```\n\na": 0, "~~~\n\n```\n~~~\n\nb": 14, "````\n```\n\n````\n\nb": 16, "```\n    ```\n\na\n```\n\nb": 20, "   ```\n\na\n   ```\n\nb": 18,
		"    ```\n\na": 9, "- a\n  ```\n\nb": 11, "``` a`b\n\nb": 9, "``\n\na": 4, "1. a\n   ```\n\nb": 13, "```\n```  \n\na": 11, "```\n``` x\n\na": 0,
	} {
		if got := settled(text); got != want {
			t.Errorf("%q: %d bytes, want %d", text, got, want)
		}
	}
}

var pieces = []string{
	"\n", "\n\n", "**", "*", "_", "`", "```", "```go\n", "\n~~~\n", "~~", "# ", "\n## ", "\n- ", "\n  1. ", "\n> ", ">", "[", "](", ")", "https://e.example/x", "<", "|", "\n| a | b |", "\n|---|---|", "\n---\n",
	"word", " ", "another long word", "日本語", "👍🏽", "👨‍👩‍👧", "e\u0301", "\u0301", "مرحبا", "🇩🇪", "\\", "[x] ", "-# ", "\t", "\x1b[31mred", "\u202e",
}

func source(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "source"), "")
}

// Whatever the source, rows fit, and a text that grew piece by piece is drawn as
// one that came at once.
func TestAGrowingTextIsDrawnAsTheWholeOne(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		text, w := source(t), rapid.IntRange(1, 70).Draw(t, "w")
		l := Look{Theme: colours(), W: w, Open: rapid.Bool().Draw(t, "open")}
		var grown, fresh Doc
		for i := range text {
			if rapid.IntRange(0, 3).Draw(t, "step") == 0 {
				grown.Rows(text[:i], l)
			}
		}
		got, want := grown.Rows(text, l), fresh.Rows(text, l)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%q differs (-whole +grown):\n%s", text, d)
		}
		for _, row := range got {
			if n := widget.Width(row); w >= 12 && n > w {
				t.Fatalf("%q takes %d cells of %d", row, n, w)
			}
		}
	})
}

// Hostile texts are read once, not once for each mark.
func TestALineFullOfMarksIsReadInTime(t *testing.T) {
	for _, mark := range []string{"*a ", "**a ", "_a _", "`a``b", "[", "](", "[a](", "<", "https://", "|", "> ", "- ", "*_", "~~"} {
		line := strings.Repeat(mark, maxLine/len(mark))
		text := strings.Repeat(line+"\n", (16<<10)/len(line))
		var d Doc
		d.Rows(text, Look{Theme: colours(), W: 80, Open: true})
	}
}
