package widget

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/tui/theme"
)

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

// seen is the width as a terminal sees it once styling is gone.
func seen(line string) int { return displaywidth.String(ansi.Strip(line)) }

func TestFitIsExactForAnyText(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s, w := text().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "w")
		got := Fit(s, w)
		if n := displaywidth.String(got); n != w {
			t.Fatalf("Fit(%q, %d) = %q takes %d cells", s, w, got, n)
		}
		if n := Cells(got); n != w {
			t.Fatalf("Cells of %q is %d, want %d", got, n, w)
		}
	})
}

func TestTidyIsStableAndHarmless(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := text().Draw(t, "text")
		got := Tidy(s)
		if again := Tidy(got); again != got {
			t.Fatalf("Tidy(%q) = %q, and again %q", s, got, again)
		}
		if strings.ContainsAny(got, "\x1b\x00\x07\n\t\u202e\u200d\ufe0f") {
			t.Fatalf("Tidy(%q) = %q lets control characters through", s, got)
		}
	})
}

// Whoever counts code point by code point comes to the same width: that is
// what terminals without mode 2027 do.
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

func TestTidySimplifiesWhatTerminalsDisagreeAbout(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "👨‍👩‍👧": "👨", "❤️": "❤", "👍🏽": "👍", "🇩🇪": "DE", "1️⃣": "1", "a\tb": "a b",
		"\uff76\uff9e": "\uff76\u309b", "\u0301x": "x", "e\u0301": "e\u0301", "\u1112\u1161\u11ab": "한", "\u1100\u1100": "\ufffd", "\xff": "\ufffd",
	} {
		if got := Tidy(in); got != want {
			t.Errorf("Tidy(%q) = %q, want %q", in, got, want)
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
	if got := Tidy("a\x1b[2Jb"); got != "a[2Jb" {
		t.Errorf("a sequence that clears the screen becomes %q", got)
	}
}

func TestCutEndsInAnEllipsis(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want string
	}{
		{"hello", 5, "hello"},
		{"hello", 4, "hel…"},
		{"hello", 1, "…"},
		{"hello", 0, ""},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"日本語", 1, "…"},
		{"", 3, ""},
	} {
		if got := Cut(c.in, c.w); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

func TestLinesAreExactForAnySpans(t *testing.T) {
	themes := []*theme.Theme{
		theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor}), theme.New(theme.Options{ASCII: true, NoColor: true}), theme.New(theme.Options{Plain: true}),
	}
	spans := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Span {
		return Span{theme.Role(rapid.IntRange(0, 20).Draw(t, "role")), spanText().Draw(t, "text")}
	}), 0, 5)
	testkit.Check(t, func(t *rapid.T) {
		b := Brush{Theme: rapid.SampledFrom(themes).Draw(t, "theme"), Back: rapid.SampledFrom([]theme.Role{theme.Text, theme.Select}).Draw(t, "back")}
		left, right, w := spans.Draw(t, "left"), spans.Draw(t, "right"), rapid.IntRange(0, 60).Draw(t, "w")
		for name, line := range map[string]string{
			"line": b.Line(w, left...), "spread": b.Spread(w, left, right), "rule": b.Rule(w, left, right),
		} {
			if n := seen(line); n != w {
				t.Fatalf("%s %q takes %d cells, want %d", name, line, n, w)
			}
		}
	})
}

func TestSpreadKeepsTheRightSideWhole(t *testing.T) {
	b := Brush{Theme: theme.New(theme.Options{Plain: true})}
	left, right := []Span{{Text: "a long title of a task"}}, []Span{{Text: "0:12"}}
	for w, want := range map[int]string{
		30: "a long title of a task    0:12", 16: "a long tit… 0:12", 6: "a lon…",
	} {
		if got := b.Spread(w, left, right); got != want {
			t.Errorf("in %d cells: %q, want %q", w, got, want)
		}
	}
}

func TestASelectedRowKeepsItsBackgroundBehindAMatch(t *testing.T) {
	th := theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	line := Brush{Theme: th, Back: theme.Select}.Line(9, Span{theme.Match, "ab"}, Span{theme.Text, "cd"})
	row, _, _ := strings.Cut(th.Paint(theme.Select, "?"), "?")
	if !strings.Contains(line, row+"cd") {
		t.Errorf("the row's background is not opened again behind the match: %q", line)
	}
}

func TestWrapLosesNothingButSpaces(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s, w := text().Draw(t, "text"), rapid.IntRange(2, 30).Draw(t, "w")
		lines := Wrap(s, w)
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		var want strings.Builder
		for part := range strings.SplitSeq(s, "\n") {
			want.WriteString(squeeze(Tidy(part)))
		}
		if got := squeeze(strings.Join(lines, "")); got != want.String() {
			t.Fatalf("Wrap(%q, %d) = %q", s, w, lines)
		}
		for _, l := range lines {
			if Cells(l) > w {
				t.Fatalf("Wrap(%q, %d): %q is too wide", s, w, l)
			}
		}
	})
}

func TestWrapBreaksBetweenWords(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want string
	}{
		{"", 5, ""},
		{"one two three", 7, "one two|three"},
		{"one two three", 8, "one two|three"},
		{"a verylongword b", 6, "a|verylo|ngword|b"},
		{"  indented text here", 12, "  indented|text here"},
		{"one\n\ntwo", 9, "one||two"},
		{"one    two", 5, "one|two"},
		{"日本語日本", 5, "日本|語日|本"},
		{"ends in spaces    ", 6, "ends|in|spaces"},
	} {
		if got := strings.Join(Wrap(c.in, c.w), "|"); got != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

func TestWrapNSaysThatThereIsMore(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "one~", 2: "one|two~", 3: "one|two|three", -1: "one|two|three"} {
		if got := strings.Join(WrapN("one two three", 5, n, "~"), "|"); got != want {
			t.Errorf("%d lines: %q, want %q", n, got, want)
		}
	}
}

func TestASCIIStandInsReplaceOurOwnMarks(t *testing.T) {
	b := Brush{Theme: theme.New(theme.Options{Plain: true, ASCII: true})}
	if got := b.Line(12, Span{Text: "a · b → “c” and more"}); got != `a - b > "c"~` {
		t.Errorf("got %q", got)
	}
}

func TestTheSelectedRowIsOfOnePieceInSixteenColours(t *testing.T) {
	roles := []Span{{theme.Accent, "▸"}, {theme.Good, "done "}, {theme.Strong, "Title "}, {theme.Dim, "detail "}, {theme.Ping, "pinged "}, {theme.Warn, "1 refused "}, {theme.Think, "so"}}
	for _, o := range []theme.Options{{Dark: true, Profile: colorprofile.ANSI}, {Profile: colorprofile.ANSI}, {Dark: true, Contrast: true, Profile: colorprofile.ANSI}} {
		line := Brush{Theme: theme.New(o), Back: theme.Select}.Line(60, roles...)
		for _, sgr := range regexp.MustCompile(`\x1b\[[0-9;]*m`).FindAllString(line, -1) {
			switch sgr {
			case "\x1b[7m", "\x1b[27m", "\x1b[1m", "\x1b[22m", "\x1b[m":
			default:
				t.Errorf("%+v: %q in %q", o, sgr, line)
			}
		}
	}
}

// Wherever a word is broken: every line fits, no character is lost, and it ends.
func TestBrokenPathsAreWhole(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab/:.日")), 0, 60, -1).Draw(t, "text")
		w := rapid.IntRange(1, 20).Draw(t, "w")
		lines := Wrap(text, w)
		for _, l := range lines {
			if Cells(l) > max(2, w) {
				t.Fatalf("%q is wider than %d", l, w)
			}
		}
		if got := strings.Join(lines, ""); got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestTheCauseOfAnErrorIsSeenThoughLinesAreCut(t *testing.T) {
	b := newBench(10, 40, 5)
	b.ring.Add(tail.Line{Kind: tail.Info, Text: "schedule loaded routines=12 reminders=4 and more"})
	b.ring.Add(tail.Line{Kind: tail.Error, Text: "commit refused dir=/home/ada/notes err=\"no git identity\""})
	b.sync()
	b.want(t, "an error has rows of its own",
		"       info   schedule loaded routines=…",
		"       error  commit refused", "              dir=/home/ada/notes",
		"              err=\"no git identity\"", "")
	b.ring.Add(tail.Line{Kind: tail.Error, Text: strings.Repeat("word ", 200)})
	b.sync()
	if rows := b.screen(); !strings.HasSuffix(rows[4], "…") || !strings.Contains(rows[1], "error") {
		t.Errorf("a long one takes four:\n%s", strings.Join(rows, "\n"))
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

// N2: what somebody decides about keeps its beginning and its end.
func TestCutMiddleKeepsBothEnds(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want string
	}{
		{"echo harmless", 13, "echo harmless"},
		{"echo harmless; touch /tmp/evil", 15, "echo ha…mp/evil"},
		{"abcdef", 4, "a…ef"},
		{"日本語日本語終", 7, "日…語終"},
		{"abc", 1, "…"},
	} {
		if got := CutMiddle(c.in, c.w, "…"); got != c.want || Cells(got) > c.w {
			t.Errorf("CutMiddle(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}
