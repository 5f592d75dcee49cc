package visible

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
)

// hostile draws texts of characters that hide, move or imitate others, and of the marks for them.
func hostile() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[ -~]{0,6}`),
		rapid.SampledFrom([]string{
			"a", "b", "-", " ", "  ", "\n", "\t", "\r", "\x00", "\x1b", "\x1b]", "\a", "\u009b", "\x7f", "\xff", "\xe2\x82", "\ufffd",
			"\u200b", "\u200d", "\u200e", "\u202e", "\u2066", "\ufeff", "\u00ad", "\u00a0", "\u3000", "\u2028", "\u2800", "\u3164", "\u115f",
			"\U000e0041", "\U000e0101", "\ufe0f", "\u034f", "\u0301", "e\u0301", "é", "\u0338", "\u20dd", "Å", "\u212b", ";", "\u037e",
			"⟦", "⟧", "⟦U+200B⟧", `⟦\x1b⟧`, `\x1b`, "U+200B", "⟦ ⟧", `⟦\n⟧`, "⟦right to left⟧", "⏎", "а", "ρ", "שלום", "عربي", "👩‍👩‍👧", "日本",
			"🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\ue000", "\uffff", "\u0378", "ｅ", "⟦a:⟧",
		}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 10).Draw(t, "pieces"), "")
	})
}

// read returns the text of a picture. It is written independently of the painter.
func read(t *rapid.T, picture string) string {
	var out strings.Builder
	for picture != "" {
		before, rest, marked := strings.Cut(picture, Open)
		out.WriteString(before)
		if picture = rest; !marked {
			break
		}
		mark, rest, ok := strings.Cut(picture, Close)
		if !ok {
			t.Fatalf("a mark has no end: %q", picture)
		}
		picture = rest
		switch {
		case mark == "right to left" || mark == "left to right":
		case mark == " ":
			out.WriteByte(' ')
		case strings.HasPrefix(mark, "U+"):
			var r rune
			for _, digit := range mark[2:] {
				r = r<<4 | rune(strings.IndexRune("0123456789ABCDEF", digit))
			}
			out.WriteRune(r)
		case len(mark) == 2:
			out.WriteByte(map[byte]byte{'t': '\t', 'n': '\n', 'r': '\r'}[mark[1]])
		default:
			out.WriteByte(byte(strings.IndexByte("0123456789abcdef", mark[2])<<4 | strings.IndexByte("0123456789abcdef", mark[3])))
		}
	}
	return out.String()
}

var manners = map[string]func(string) string{"Text": Text, "Line": Line, "Code": Code, "Path": Path}

// A0, A6: nothing is removed, so two different texts never look alike.
func TestAPictureCanBeReadBack(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := hostile().Draw(t, "text")
		for name, picture := range manners {
			if got := read(t, picture(s)); got != s {
				t.Fatalf("%s(%q) = %q, which is read as %q", name, s, picture(s), got)
			}
		}
	})
}

// Whatever a front end does to show clean text changes nothing in a picture.
func TestAPictureIsCleanAndVisible(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := hostile().Draw(t, "text")
		for name, paint := range manners {
			p := paint(s)
			if clean.Text(p) != p || strings.TrimSpace(p) != p || !norm.NFC.IsNormalString(p) || !utf8.ValidString(p) {
				t.Fatalf("%s(%q) = %q, cleaned %q", name, s, p, clean.Text(p))
			}
			if strings.ContainsFunc(p, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) || strings.Contains(p, " \n") {
				t.Fatalf("%s(%q) = %q", name, s, p)
			}
			if (name == "Line" || name == "Path") && strings.Contains(p, "\n") {
				t.Fatalf("%s(%q) = %q", name, s, p)
			}
		}
	})
}

func TestWhatHidesMovesOrImitatesIsMarkedInAPicture(t *testing.T) {
	for in, want := range map[string]string{
		"echo hello": "echo hello",
		"a  b\n  c":  "a  b\n  c",
		"echo hello \x1b]; touch notes/PWNED ; #\a": `echo hello ⟦\x1b⟧]; touch notes/PWNED ; #⟦\x07⟧`,
		"echo \x1bP1;2q\x1b\\":                      `echo ⟦\x1b⟧P1;2q⟦\x1b⟧\`,
		`echo \x1b U+200B`:                          `echo \x1b U+200B`,
		`⟦\x1b⟧`:                                    `⟦U+27E6⟧\x1b⟦U+27E7⟧`,
		"tea.\U000e0041\u200b\u202e":                "tea.⟦U+E0041⟧⟦U+200B⟧⟦U+202E⟧",
		"a\tb\r\nc \nd ":                            "a⟦\\t⟧b⟦\\r⟧\nc⟦ ⟧\nd⟦ ⟧",
		"\na\n\n":                                   `⟦\n⟧a⟦\n⟧⟦\n⟧`,
		"a\u00a0b\u3164\u2800":                      "a⟦U+00A0⟧b⟦U+3164⟧⟦U+2800⟧",
		"\xff\xe2\x82":                              `⟦\xff⟧⟦\xe2⟧⟦\x82⟧`,
		"👩\u200d👧 ❤\ufe0f":                          "👩⟦U+200D⟧👧 ❤⟦U+FE0F⟧",
		"e\u0301 é \u212b \u037e":                   "e⟦U+0301⟧ é ⟦U+212B⟧ ⟦U+037E⟧",
		"=\u0338 x\u0338":                           "=⟦U+0338⟧ x\u0338",
		"z" + strings.Repeat("\u0330", 5):           "z" + strings.Repeat("\u0330", 4) + "⟦U+0330⟧",
		"https://\u0430pple.com/ привет ρ":          "https://⟦U+0430⟧pple.com/ привет ρ",
		"curl \u0440\u0430\u0443.com":               "curl ⟦U+0440⟧⟦U+0430⟧⟦U+0443⟧.com",
		"echo שלום; rm x":                           "echo שלום; rm x",
		"Grüße 日本 👍 € — “x” ½":                      "Grüße 日本 👍 € — “x” ½",
		"":                                          "",
		" ":                                         "⟦ ⟧",
		"only\nlines":                               "only\nlines",
		"a\n\u0301b \u0301":                         "a\n⟦U+0301⟧b ⟦U+0301⟧",
		"a\u034fb \ufffd":                           "a⟦U+034F⟧b ⟦U+FFFD⟧",
		strings.Repeat("a", 3) + "\x00" + "\u0085" + "": `aaa⟦\x00⟧⟦U+0085⟧`,
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Line("a\nb"); got != `a⟦\n⟧b` {
		t.Errorf("a line is %q", got)
	}
	if got := Label("x⟦"); got != "⟦x⟦U+27E6⟧:⟧" {
		t.Errorf("a label is %q", got)
	}
}

// In a command with words from right to left, a screen must not reorder what is between them.
func TestTheDirectionOfWordsIsMarkedInACommand(t *testing.T) {
	const want = "echo ⟦right to left⟧שלום⟦left to right⟧; rm ⟦right to left⟧עולם⟦left to right⟧"
	if got := Code("echo שלום; rm עולם"); got != want {
		t.Errorf("%q", got)
	}
	if got := Path("a/שלום\n"); got != `a/⟦right to left⟧שלום⟦left to right⟧⟦\n⟧` {
		t.Errorf("%q", got)
	}
}

func TestWhatHasNoPlaceInACommandIsFound(t *testing.T) {
	for in, want := range map[string]string{
		"echo hello\n\tworld":                              "",
		"echo 👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f":             "",
		"echo می\u200cخواهم क्\u200dष":                     "",
		"echo 🏴\U000e0067\U000e0062\U000e007f 葛\U000e0100": "",
		"echo Grüße 20\u00a0€ שלום":                        "",
		"echo \u0440\u0430\u0443.com":                      "", // shown, not refused
		"echo \x1b]":                                       `⟦\x1b⟧ (character 6)`,
		"a\r\nb":                                           `⟦\r⟧ (character 2)`,
		"é\x00":                                            `⟦\x00⟧ (character 2)`,
		"a\x7f":                                            `⟦\x7f⟧ (character 2)`,
		"a\u009b":                                          "⟦U+009B⟧ (character 2)",
		"a\u200db":                                         "⟦U+200D⟧ (character 2)",
		"a\u200dक":                                         "⟦U+200D⟧ (character 2)",
		"क\u200da":                                         "⟦U+200D⟧ (character 2)",
		"1\ufe0f #\ufe0f ©\ufe0f ®\ufe0f ‼\ufe0f ⁉\ufe0f 🏻\ufe0f": "",
		"a\u200d👧":    "⟦U+200D⟧ (character 2)",
		"👩\u200da":    "⟦U+200D⟧ (character 2)",
		"👩🏻\u200d👧🏿":  "",
		"a\u200cb":    "⟦U+200C⟧ (character 2)",
		"a\u200b":     "⟦U+200B⟧ (character 2)",
		"a\u202e":     "⟦U+202E⟧ (character 2)",
		"a\u200f":     "⟦U+200F⟧ (character 2)",
		"a\ufe0f":     "⟦U+FE0F⟧ (character 2)",
		"a\U000e0041": "⟦U+E0041⟧ (character 2)",
		"a\u00ad":     "⟦U+00AD⟧ (character 2)",
		"a\u2800":     "⟦U+2800⟧ (character 2)",
		"a\u034f":     "⟦U+034F⟧ (character 2)",
		"a\u2028":     "⟦U+2028⟧ (character 2)",
		"a\xff":       `⟦\xff⟧ (character 2)`,
	} {
		if got := Hidden(in); got != want {
			t.Errorf("Hidden(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzPicture(f *testing.F) {
	for _, s := range []string{"plain", "a\x1b]b\a", "⟦x⟧", "e\u0301", "שלום a", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, paint := range manners {
			if p := paint(s); clean.Text(p) != p || strings.TrimSpace(p) != p {
				t.Fatalf("%s(%q) = %q", name, s, p)
			}
		}
	})
}

func BenchmarkPicture(b *testing.B) {
	s := strings.Repeat("The washing machine is dön\u202ee. ", 10_000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Code(s)
	}
}
