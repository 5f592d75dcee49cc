package widget

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/tui/theme"
)

var bare = theme.New(theme.Options{Plain: true})

// hostile are pieces that break layouts elsewhere.
var hostile = []string{
	"a", "word", " ", "  ", "\t", "\n", "日本", "語", "é", "e\u0301", "👍🏽", "👨‍👩‍👧", "❤️", "1️⃣", "🇩🇪", "🇩", "\u200d", "\ufe0f",
	"\u0301\u0302\u0303\u0304\u0305", "z\u0301\u0302\u0303\u0304\u0305\u0306", "\x1b[31m", "\x1b]0;t\x07", "\x07", "\x00", "\u202e", "\u0600",
	"\xff\xfe", "ᄀ", "\u1161", "가", "क्षि", "ا", "\u00ad", "\u2028", "█", "…", "supercalifragilisticexpialidocious", "𝒳", "\U0001F3FB", "﷽", "ⷠ",
}

// text draws anything, pieced together so that pieces can join.
func text() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringN(0, 4, -1))
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 14).Draw(t, "pieces"), "")
	})
}

// spanText leaves out the scripts of India and beyond, whose letters join over
// the border of two spans and then take fewer cells, or do not: each terminal
// has a view of its own.
func spanText() *rapid.Generator[string] {
	return text().Filter(func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool {
			return r >= 0x0900 && r <= 0x109f || r >= 0x1700 && r <= 0x1cff || r >= 0xa800 && r <= 0xabff || r >= 0x10a00 && r <= 0x11fff
		})
	})
}

// cellsOf is the width as a terminal sees it once styling is gone.
func cellsOf(line string) int { return displaywidth.String(ansi.Strip(line)) }

func TestAnyTextIsFittedExactlyAndTidiedOnce(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s, w := text().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "w")
		if got := Fit(s, w); displaywidth.String(got) != w || Cells(got) != w {
			t.Fatalf("Fit(%q, %d) = %q takes %d cells, counted as %d", s, w, got, displaywidth.String(got), Cells(got))
		}
		got := Tidy(s)
		if again := Tidy(got); again != got {
			t.Fatalf("Tidy(%q) = %q, and again %q", s, got, again)
		}
		if strings.ContainsAny(got, "\x1b\x00\x07\n\t\u202e\u200d\ufe0f") {
			t.Fatalf("Tidy(%q) = %q lets control characters through", s, got)
		}
	})
}

// A terminal without mode 2027, which counts code point by code point, comes to the same width.
func TestTidyIsAsWideForTerminalsThatCountCodePoints(t *testing.T) {
	for _, s := range hostile {
		if strings.ContainsAny(s, "\u093f\u0937") {
			continue // Devanagari: terminals differ, whatever one does
		}
		s = Tidy(s)
		if whole, single := Cells(s), ansi.StringWidthWc(s); whole != single {
			t.Errorf("%q takes %d cells as characters and %d as code points", s, whole, single)
		}
	}
}

func TestTidyRemovesEveryControlCharacter(t *testing.T) {
	for c := rune(0); c < 0xa0; c++ {
		want := "a語"
		switch {
		case c == '\t':
			want = "a 語"
		case !unicode.IsControl(c):
			want = "a" + string(c) + "語"
		}
		if got := Tidy("a" + string(c) + "語"); got != want {
			t.Errorf("%U: Tidy returns %q, want %q", c, got, want)
		}
	}
}

func TestTextIsTidiedCutAndWrapped(t *testing.T) {
	cuts := func(s string, w int) string { return CutMiddle(s, w, "…") }
	wraps := func(s string, w int) string { return strings.Join(Wrap(s, w), "|") }
	hard := func(s string, w int) string { return strings.Join(HardWrap(s, w), "|") }
	first := func(s string, n int) string { return strings.Join(WrapN(s, 5, n, "~"), "|") }
	tidies := func(s string, _ int) string { return Tidy(s) }
	spreads := func(s string, w int) string {
		left, right, _ := strings.Cut(s, "|")
		return Brush{Theme: bare}.Spread(w, []Span{{Text: left}}, []Span{{Text: right}})
	}
	ascii := func(s string, w int) string {
		return Brush{Theme: theme.New(theme.Options{Plain: true, ASCII: true})}.Line(w, Span{Text: s})
	}
	for _, c := range []struct {
		what  string
		does  func(s string, n int) string
		in    string
		n     int
		wants string
	}{
		{"plain text stays", tidies, "plain", 0, "plain"},
		{"a joined picture is its first one", tidies, "👨‍👩‍👧", 0, "👨"},
		{"a selector goes", tidies, "❤️", 0, "❤"},
		{"a tone goes", tidies, "👍🏽", 0, "👍"},
		{"a flag is letters", tidies, "🇩🇪", 0, "DE"},
		{"a keycap is its digit", tidies, "1️⃣", 0, "1"},
		{"a tab is a blank", tidies, "a\tb", 0, "a b"},
		{"a sequence that clears the screen is text", tidies, "a\x1b[2Jb", 0, "a[2Jb"},
		{"a narrow sound mark is wide", tidies, "\uff76\uff9e", 0, "\uff76\u309b"},
		{"a mark without a letter goes", tidies, "\u0301x", 0, "x"},
		{"a mark on a letter stays", tidies, "e\u0301", 0, "e\u0301"},
		{"parts of a syllable are one", tidies, "\u1112\u1161\u11ab", 0, "한"},
		{"parts of no syllable are unknown", tidies, "\u1100\u1100", 0, "\ufffd"},
		{"what is no UTF-8 is unknown", tidies, "\xff", 0, "\ufffd"},
		{"what fits is not cut", Cut, "hello", 5, "hello"},
		{"what is cut ends in an ellipsis", Cut, "hello", 4, "hel…"},
		{"in one cell it is all", Cut, "hello", 1, "…"},
		{"in no cell is nothing", Cut, "hello", 0, ""},
		{"wide characters that fit", Cut, "日本語", 6, "日本語"},
		{"and one cell fewer", Cut, "日本語", 5, "日本…"},
		{"no half of one is left", Cut, "日本語", 4, "日…"},
		{"wide characters in one cell", Cut, "日本語", 1, "…"},
		{"nothing is not cut", Cut, "", 3, ""},
		// N2: what somebody decides about keeps its beginning and its end.
		{"the middle of what fits stays", cuts, "echo harmless", 13, "echo harmless"},
		{"both ends stay", cuts, "echo harmless; touch /tmp/evil", 15, "echo ha…mp/evil"},
		{"of an even width the end has more", cuts, "abcdef", 4, "a…ef"},
		{"both ends of wide characters", cuts, "日本語日本語終", 7, "日…語終"},
		{"no ends in one cell", cuts, "abc", 1, "…"},
		{"nothing is one line", wraps, "", 5, ""},
		{"a line ends between words", wraps, "one two three", 7, "one two|three"},
		{"a blank fits behind it", wraps, "one two three", 8, "one two|three"},
		{"a word that is too wide is broken", wraps, "a verylongword b", 6, "a|verylo|ngword|b"},
		{"an indentation stays", wraps, "  indented text here", 12, "  indented|text here"},
		{"its own line breaks stay", wraps, "one\n\ntwo", 9, "one||two"},
		{"blanks at a break go", wraps, "one    two", 5, "one|two"},
		{"wide characters are not halved", wraps, "日本語日本", 5, "日本|語日|本"},
		{"blanks at the end go", wraps, "ends in spaces    ", 6, "ends|in|spaces"},
		{"no line", first, "one two three", 0, ""},
		{"of one line there is more", first, "one two three", 1, "one~"},
		{"of two lines there is more", first, "one two three", 2, "one|two~"},
		{"three lines are all", first, "one two three", 3, "one|two|three"},
		{"without a limit", first, "one two three", -1, "one|two|three"},
		{"code keeps its blanks", hard, "a  b  日本", 5, "a  b | 日本"},
		{"there is room for both sides", spreads, "a long title of a task|0:12", 30, "a long title of a task    0:12"},
		{"the right side stays whole", spreads, "a long title of a task|0:12", 16, "a long tit… 0:12"},
		{"a right side that is too wide goes", spreads, "a long title of a task|0:12", 6, "a lon…"},
		{"in ASCII our own marks have others in their place", ascii, "a · b → “c” and more", 12, `a - b > "c"~`},
		{"and each of them is one cell", ascii, "·…—–→‹›“”‘’×█▆━←↑↓•\u00a0|", 21, `-~-->` + `<>""''x##*<^v* |`},
	} {
		if got := c.does(c.in, c.n); got != c.wants {
			t.Errorf("%s: %q in %d is %q, want %q", c.what, c.in, c.n, got, c.wants)
		}
	}
}

// Wherever a text is broken: every line fits, no character but a blank is lost, and it ends.
func TestWrapLosesNothingButSpaces(t *testing.T) {
	path := rapid.StringOfN(rapid.RuneFrom([]rune("ab/:.日")), 0, 60, -1)
	testkit.Check(t, func(t *rapid.T) {
		s, w := rapid.OneOf(text(), path).Draw(t, "text"), rapid.IntRange(1, 30).Draw(t, "w")
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		var want strings.Builder
		for part := range strings.SplitSeq(s, "\n") {
			want.WriteString(squeeze(Tidy(part)))
		}
		lines, hard := Wrap(s, w), HardWrap(s, w)
		if got := squeeze(strings.Join(lines, "")); got != want.String() {
			t.Fatalf("Wrap(%q, %d) = %q", s, w, lines)
		}
		if got := strings.Join(hard, ""); got != Tidy(s) {
			t.Fatalf("HardWrap(%q, %d) = %q", s, w, hard)
		}
		for _, l := range append(lines, hard...) {
			if Cells(l) > max(2, w) || Cells(l) > w && len([]rune(Tidy(l))) > 1+maxMarks {
				t.Fatalf("%q in %d cells: %q is too wide", s, w, l)
			}
		}
	})
}

func TestLinesAreExactForAnySpans(t *testing.T) {
	themes := []*theme.Theme{theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor}), theme.New(theme.Options{ASCII: true, NoColor: true}), bare}
	spans := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Span {
		return Span{theme.Role(rapid.IntRange(0, 20).Draw(t, "role")), spanText().Draw(t, "text")}
	}), 0, 5)
	testkit.Check(t, func(t *rapid.T) {
		b := Brush{Theme: rapid.SampledFrom(themes).Draw(t, "theme"), Back: rapid.SampledFrom([]theme.Role{theme.Text, theme.Select}).Draw(t, "back")}
		left, right, w := spans.Draw(t, "left"), spans.Draw(t, "right"), rapid.IntRange(0, 60).Draw(t, "w")
		for name, line := range map[string]string{
			"line": b.Line(w, left...), "spread": b.Spread(w, left, right), "rule": b.Rule(w, left, right),
		} {
			if n := cellsOf(line); n != w {
				t.Fatalf("%s %q takes %d cells, want %d", name, line, n, w)
			}
		}
	})
}

func TestASelectedRowKeepsItsBackgroundBehindAMatch(t *testing.T) {
	th := theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	line := Brush{Theme: th, Back: theme.Select}.Line(9, Span{theme.Match, "ab"}, Span{theme.Text, "cd"})
	row, _, _ := strings.Cut(th.Paint(theme.Select, "?"), "?")
	if !strings.Contains(line, row+"cd") {
		t.Errorf("the row's background is not opened again behind the match: %q", line)
	}
}

func TestTheSelectedRowIsOfOnePieceInSixteenColours(t *testing.T) {
	roles := []Span{{theme.Accent, "▸"}, {theme.Good, "done "}, {theme.Strong, "Title "}, {theme.Dim, "detail "}, {theme.Ping, "pinged "}, {theme.Warn, "1 refused "}, {theme.Think, "so"}}
	for _, o := range []theme.Options{{Dark: true, Profile: colorprofile.ANSI}, {Profile: colorprofile.ANSI}, {Dark: true, Contrast: true, Profile: colorprofile.ANSI}} {
		line := Brush{Theme: theme.New(o), Back: theme.Select}.Line(60, roles...)
		for _, sgr := range regexp.MustCompile(`\x1b\[[0-9;]*m`).FindAllString(line, -1) {
			if !strings.Contains("\x1b[7m \x1b[27m \x1b[1m \x1b[22m \x1b[m", sgr) {
				t.Errorf("%+v: %q in %q", o, sgr, line)
			}
		}
	}
}

func TestEvenTextIsAsItWouldBeTakenApart(t *testing.T) {
	for r := rune(0x20); r < 0x20000; r++ {
		if r > 0x7e && !single(r) {
			continue
		}
		var b strings.Builder
		tidyCharacter(&b, string(r))
		if b.String() != string(r) || displaywidth.Rune(r) != 1 {
			t.Errorf("%U is %q of %d cells", r, b.String(), displaywidth.Rune(r))
		}
		for _, pair := range []string{string(r) + "a", "a" + string(r), string(r) + string(r)} {
			if n := displaywidth.String(pair); n != 2 {
				t.Errorf("%q is %d cells", pair, n)
			}
		}
	}
}

func TestSpansAreWrappedAsTheirTextIs(t *testing.T) {
	texts := []string{"word", " ", "  ", "日本語", "👍🏽", "a-long-word-without-end", "e\u0301", "مرحبا", "x"}
	testkit.Check(t, func(t *rapid.T) {
		var spans []Span
		var whole string
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			s := Span{theme.Role(rapid.IntRange(0, 5).Draw(t, "role")), rapid.SampledFrom(texts).Draw(t, "text")}
			spans, whole = append(spans, s), whole+Tidy(s.Text)
		}
		w := rapid.IntRange(2, 30).Draw(t, "w")
		var got []string
		for _, row := range WrapSpans(spans, w) {
			text := ""
			for _, s := range row {
				text += s.Text
			}
			got = append(got, text)
		}
		if d := cmp.Diff(Wrap(whole, w), got); d != "" {
			t.Fatalf("(-text +spans):\n%s", d)
		}
	})
}

func TestAMatchIgnoresCaseUnlessAskedAndMayCrossSpans(t *testing.T) {
	painted := func(spans []Span) (out string) {
		for _, s := range spans {
			if s.Role == theme.Match {
				s.Text = "[" + s.Text + "]"
			}
			out += s.Text
		}
		return out
	}
	for _, c := range []struct{ query, in, want string }{
		{"land", "Landlord", "[Land]lord"},
		{"Land", "landlord Land", "landlord [Land]"},
		{"é", "CAFÉ", "CAF[É]"},
		{"aa", "aaaa", "[aa][aa]"},
		{"x", "none", "none"},
		{"", "all", "all"},
		{"日", "一日", "一[日]"},
	} {
		if got := painted(newMatcher(c.query).Mark(theme.Text, c.in)); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.query, c.in, got, c.want)
		}
	}
	want := []Span{{theme.Strong, "x"}, {theme.Match, "ab c"}, {theme.Dim, "d"}}
	if d := cmp.Diff(want, newMatcher("ab c").MarkSpans([]Span{{theme.Strong, "xa"}, {theme.Text, "b"}, {theme.Dim, " cd"}})); d != "" {
		t.Errorf("a match over three spans (-want +got):\n%s", d)
	}
}

// What is written behind "is:" narrows the states that are offered.
func TestTheFilterOffersTheStatesThatBeginAsWritten(t *testing.T) {
	states := func() []string { return []string{"done", "failed", "foreground"} }
	for text, want := range map[string]string{
		"is:": "is:done failed foreground", "is:F": "is:failed foreground", "mail !is:fo": "is:foreground", "is:x": "0 of 3", "mail": "0 of 3",
	} {
		var q Query
		q.Open()
		q.Set(text)
		got := q.Line(Brush{Theme: &theme.Theme{}}, 80, "0 of 3", states)
		if _, right, _ := strings.Cut(got, text); strings.TrimSpace(right) != want {
			t.Errorf("%q offers %q", text, right)
		}
	}
}
