package theme

import (
	"image/color"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// luminance is the relative luminance of WCAG 2.
func luminance(c rgb) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		s := float64(v>>8) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func contrast(a, b rgb) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// drawn are roles that draw and are not read.
var drawn = map[Role]bool{Border: true, Track: true, Level: true}

func TestEveryColourCanBeReadOnEveryUsualBackground(t *testing.T) {
	for name, c := range map[string]struct {
		palette                 int
		paper                   []rgb
		read, drawn, onSelected float64 // the least contrast
	}{
		"dark":              {onDark, []rgb{0x000001, 0x1e1e2e, 0x282a36}, 4.5, 2.9, 4.5},
		"light":             {onLight, []rgb{0xffffff, 0xfdf6e3, 0xeff1f5}, 4.5, 2.9, 4.5},
		"contrast on dark":  {contrastOnDark, []rgb{0x000001, 0x1e1e2e}, 7, 7, 4.5},
		"contrast on light": {contrastOnLight, []rgb{0xffffff, 0xfdf6e3}, 7, 7, 4.5},
	} {
		row := colours[Select].bg[c.palette]
		for r, role := range colours {
			fg, bg := role.fg[c.palette], role.bg[c.palette]
			least := map[rgb]float64{}
			for _, paper := range c.paper {
				least[paper] = map[bool]float64{false: c.read, true: c.drawn}[drawn[Role(r)]]
			}
			if !drawn[Role(r)] || c.drawn > c.onSelected {
				least[row] = c.onSelected
			}
			if bg != 0 {
				least = map[rgb]float64{bg: 7}
			}
			for bg, least := range least {
				if got := contrast(fg, bg); fg != 0 && got < least {
					t.Errorf("%s role %d: contrast %.2f on %06x, want %.1f", name, r, got, bg, least)
				}
			}
			if (bg != 0 && fg == 0) || (role.bg16 != nil && role.fg16 == nil) {
				t.Errorf("%s, role %d: a background without a foreground", name, r)
			}
		}
	}
}

func TestPaintLeavesTheTextAndClosesWhatItOpens(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		th := New(Options{
			Dark: rapid.Bool().Draw(t, "dark"), NoColor: rapid.Bool().Draw(t, "no colour"),
			Profile: rapid.SampledFrom([]colorprofile.Profile{colorprofile.NoTTY, colorprofile.ANSI, colorprofile.ANSI256, colorprofile.TrueColor}).Draw(t, "profile"), Contrast: rapid.Bool().Draw(t, "contrast"),
		})
		r := Role(rapid.IntRange(0, int(numRoles)+3).Draw(t, "role"))
		s := rapid.StringMatching(`[a-zé ]{0,12}`).Draw(t, "text")
		got := th.Paint(r, s)
		if ansi.Strip(got) != s {
			t.Fatalf("painted %q holds %q", got, ansi.Strip(got))
		}
		on, off := parameters(got)
		for _, p := range on {
			if !off[closer[family(p)]] {
				t.Fatalf("%q opens %s and does not close it", got, p)
			}
		}
		for p := range off {
			if p == "0" {
				t.Fatalf("%q resets everything: a row's background would end", got)
			}
		}
	})
}

// closer is the parameter that takes away what a family gives.
var closer = map[string]string{"fg": "39", "bg": "49", "bold": "22", "italic": "23", "underline": "24", "reverse": "27"}

func family(p string) string {
	switch {
	case p == "1" || p == "2":
		return "bold"
	case p == "3":
		return "italic"
	case p == "4":
		return "underline"
	case p == "7":
		return "reverse"
	case strings.HasPrefix(p, "48") || len(p) == 2 && p[0] == '4' || strings.HasPrefix(p, "10"):
		return "bg"
	}
	return "fg"
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// parameters gives what the first sequence opens and the last one closes.
func parameters(s string) (on []string, off map[string]bool) {
	off = map[string]bool{}
	m := sgr.FindAllStringSubmatch(s, -1)
	if len(m) < 2 {
		return nil, off
	}
	fields := strings.Split(m[0][1], ";")
	for i := 0; i < len(fields); i++ {
		on = append(on, fields[i])
		if fields[i] == "38" || fields[i] == "48" {
			if fields[i+1] == "5" {
				i += 2
			} else {
				i += 4
			}
		}
	}
	for _, p := range strings.Split(m[len(m)-1][1], ";") {
		off[p] = true
	}
	return on, off
}

// What a terminal with few colours is never sent, as it is painted or as its colours.
func TestATerminalGetsTheColoursThatItHas(t *testing.T) {
	colour, many := `\x1b\[[0-9;]*(3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]`, "38;|48;"
	for _, c := range []struct {
		name  string
		o     Options
		never string
		but   func(fg color.Color) bool // nor such a foreground
	}{
		{"without colours", Options{NoColor: true, Profile: colorprofile.TrueColor}, colour, nil},
		{"no terminal", Options{Profile: colorprofile.NoTTY}, colour, nil},
		{"without colours on dark", Options{NoColor: true, Dark: true, Profile: colorprofile.ANSI}, colour, nil},
		{"plain", Options{Plain: true, Profile: colorprofile.TrueColor}, `\x1b`, nil},
		{"256 on dark", Options{Dark: true, Profile: colorprofile.ANSI256}, "[34]8;2;", nil},
		{"256 on light", Options{Profile: colorprofile.ANSI256}, "[34]8;2;", nil},
		// Blue on black cannot be read in most terminals with sixteen colours.
		{"16 on dark", Options{Dark: true, Profile: colorprofile.ANSI}, many, func(c color.Color) bool { return c == ansi.Blue || c == ansi.BrightBlue }},
		{"16 on light", Options{Profile: colorprofile.ANSI}, many, nil},
		// A theme may be chosen on a terminal of the other kind.
		{"16 with high contrast", Options{Profile: colorprofile.ANSI, Contrast: true}, many, func(c color.Color) bool { return c == ansi.BrightBlack }},
		{"16 with high contrast on dark", Options{Profile: colorprofile.ANSI, Contrast: true, Dark: true}, many, func(c color.Color) bool { return c == ansi.BrightBlack }},
	} {
		never := regexp.MustCompile(c.never)
		for r := range numRoles {
			fg, _ := c.o.Colours(r)
			if got := New(c.o).Paint(r, "x"); never.MatchString(got) || c.but != nil && c.but(fg) {
				t.Errorf("%s: role %d is %q, of %v", c.name, r, got, fg)
			}
		}
		if th := New(c.o); !c.o.Plain && (th.Paint(Select, "x") == "x" || th.Paint(Match, "x") == "x") {
			t.Errorf("%s: the selected row or a match is not seen", c.name)
		}
	}
	if fg, _ := (Options{Profile: colorprofile.ANSI}).Colours(Accent); fg != ansi.Blue {
		t.Errorf("on light the accent is %v", fg)
	}
}

func TestARowWithABackgroundHasTheRolesThatCanBeReadOnIt(t *testing.T) {
	few, many := Options{Profile: colorprofile.ANSI}, Options{Profile: colorprofile.ANSI256}
	none, plain := Options{Profile: colorprofile.ANSI, NoColor: true}, Options{Profile: colorprofile.ANSI, Plain: true}
	for _, c := range []struct {
		o        Options
		back, of Role
		want     Role
	}{
		{few, Select, Dim, Text},
		{few, Select, Strong, Strong},
		{few, Select, Key, Strong},
		{few, Select, Think, Text},
		{few, Select, Match, Match},
		{few, Select, Caret, Caret},
		{few, Select, numRoles, numRoles},
		{few, Text, Dim, Dim},
		{many, Select, Dim, Dim},
		{none, Select, Dim, Dim},
		{plain, Select, Dim, Dim},
		{few, Select, numRoles - 2, Strong},
	} {
		th := New(c.o)
		if got := th.On(c.back, c.of); got != c.want {
			t.Errorf("%+v: role %d on %d is %d, want %d", c.o, c.of, c.back, got, c.want)
		}
		if open, shut := th.Ends(c.back); th.Paint(c.back, "x") != open+"x"+shut || th.Options() != New(th.Options()).Options() || th.ASCII() {
			t.Errorf("%+v: %q, %q are not the ends of role %d", c.o, open, shut, c.back)
		}
	}
}

func TestGlyphsAreOneCellAndASCIIWhereAsked(t *testing.T) {
	ascii := New(Options{ASCII: true})
	wide := New(Options{})
	for g := range numGlyphs {
		if got := wide.Glyph(g); ansi.StringWidth(got) != 1 {
			t.Errorf("glyph %d %q is %d cells wide", g, got, ansi.StringWidth(got))
		}
		got := ascii.Glyph(g)
		for _, r := range got {
			if r > 0x7e {
				t.Errorf("glyph %d %q is not ASCII", g, got)
			}
		}
		if len(got) != 1 && g != Arrow {
			t.Errorf("glyph %d %q is not one cell", g, got)
		}
	}
	if !ascii.ASCII() || !ascii.Options().ASCII || wide.ASCII() {
		t.Error("a theme does not know whether it is ASCII")
	}
	b := ascii.Box()
	for _, s := range []string{b.Top, b.Left, b.TopLeft, b.MiddleLeft} {
		if len(s) != 1 {
			t.Errorf("border %q is not ASCII", s)
		}
	}
}

func TestWith256ColoursEachIsNearItsOwnAndAGreyIsGrey(t *testing.T) {
	for _, dark := range []bool{true, false} {
		o := Options{Dark: dark, Profile: colorprofile.ANSI256}
		for r := range numRoles {
			full := Options{Dark: dark, Profile: colorprofile.TrueColor}
			fg, _ := o.Colours(r)
			want, _ := full.Colours(r)
			if fg == nil && want == nil {
				continue
			}
			ar, ag, ab, _ := fg.RGBA()
			br, bg, bb, _ := want.RGBA()
			for _, d := range []int{int(ar) - int(br), int(ag) - int(bg), int(ab) - int(bb)} {
				if d>>8 > 48 || d>>8 < -48 {
					t.Errorf("role %d: %v is far from %v", r, fg, want)
				}
			}
		}
		dim, _ := o.Colours(Dim)
		border, _ := o.Colours(Border)
		_, row := o.Colours(Select)
		for _, c := range []color.Color{dim, border, row} {
			if r, g, b, _ := c.RGBA(); r != g || g != b {
				t.Errorf("%v is %x %x %x", c, r>>8, g>>8, b>>8)
			}
		}
	}
}
