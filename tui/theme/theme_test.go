package theme

import (
	"image/color"
	"math"
	"regexp"
	"slices"
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

// tone is the foreground and the background of a role in one of the palettes.
type tone struct {
	fg, bg     rgb
	fg16, bg16 color.Color
}

// paletteOf is one of the palettes.
func paletteOf(which int) *[numRoles]tone {
	var out [numRoles]tone
	for r, c := range colours {
		out[r] = tone{c.fg[which], c.bg[which], c.fg16, c.bg16}
	}
	return &out
}

// drawn are roles that draw and are not read.
var drawn = map[Role]bool{Border: true, Track: true, Level: true}

func TestEveryColourCanBeReadOnEveryUsualBackground(t *testing.T) {
	for _, c := range []struct {
		name        string
		palette     *[numRoles]tone
		backgrounds []rgb
	}{
		{"dark", paletteOf(onDark), []rgb{0x000001, 0x1e1e2e, 0x282a36}},
		{"light", paletteOf(onLight), []rgb{0xffffff, 0xfdf6e3, 0xeff1f5}},
	} {
		for r, role := range c.palette {
			backgrounds := c.backgrounds
			if !drawn[Role(r)] {
				backgrounds = append(slices.Clone(backgrounds), c.palette[Select].bg)
			}
			for _, bg := range backgrounds {
				if role.bg != 0 {
					bg = role.bg
				}
				if role.fg == 0 {
					continue
				}
				least := 4.5
				if drawn[Role(r)] {
					least = 2.9
				}
				if got := contrast(role.fg, bg); got < least {
					t.Errorf("%s role %d: contrast %.2f on %06x, want %.1f", c.name, r, got, bg, least)
				}
			}
		}
	}
}

func TestHighContrastIsHighOnEveryUsualBackground(t *testing.T) {
	for _, c := range []struct {
		palette     *[numRoles]tone
		backgrounds []rgb
	}{
		{paletteOf(contrastOnDark), []rgb{0x000001, 0x1e1e2e}},
		{paletteOf(contrastOnLight), []rgb{0xffffff, 0xfdf6e3}},
	} {
		for r, role := range c.palette {
			backgrounds := append(slices.Clone(c.backgrounds), c.palette[Select].bg)
			if role.bg != 0 {
				backgrounds = []rgb{role.bg}
			}
			for i, bg := range backgrounds {
				least := 7.0
				if i == len(c.backgrounds) { // on the selected row
					least = 4.5
				}
				if got := contrast(role.fg, bg); role.fg != 0 && got < least {
					t.Errorf("role %d: contrast %.2f on %06x, want %.1f", r, got, bg, least)
				}
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

func TestWithoutColoursNothingIsColoured(t *testing.T) {
	coloured := regexp.MustCompile(`\x1b\[[0-9;]*(3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]`)
	for _, o := range []Options{{NoColor: true, Profile: colorprofile.TrueColor}, {Profile: colorprofile.NoTTY}, {NoColor: true, Dark: true, Profile: colorprofile.ANSI}} {
		th := New(o)
		for r := range numRoles {
			if got := th.Paint(r, "x"); coloured.MatchString(got) {
				t.Errorf("role %d with %+v: %q", r, o, got)
			}
		}
		if th.Paint(Select, "x") == "x" || th.Paint(Match, "x") == "x" {
			t.Error("the selected row and a match must still be seen")
		}
	}
}

func TestPlainHasNoSequences(t *testing.T) {
	th := New(Options{Plain: true, Profile: colorprofile.TrueColor})
	for r := range numRoles {
		if got := th.Paint(r, "x"); got != "x" {
			t.Errorf("role %d: %q", r, got)
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
	b := ascii.Box()
	for _, s := range []string{b.Top, b.Left, b.TopLeft, b.MiddleLeft} {
		if len(s) != 1 {
			t.Errorf("border %q is not ASCII", s)
		}
	}
}

func TestWith256ColoursEachIsOneOfThemAndNearWhatItStandsFor(t *testing.T) {
	for _, dark := range []bool{true, false} {
		o := Options{Dark: dark, Profile: colorprofile.ANSI256}
		for r := range numRoles {
			if got := New(o).Paint(r, "x"); strings.Contains(got, "38;2;") || strings.Contains(got, "48;2;") {
				t.Errorf("role %d: %q", r, got)
			}
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
					t.Errorf("role %d: %v stands for %v", r, fg, want)
				}
			}
		}
	}
}

func TestWith256ColoursAGreyStaysGrey(t *testing.T) {
	for _, dark := range []bool{true, false} {
		o := Options{Dark: dark, Profile: colorprofile.ANSI256}
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

func TestSixteenColoursStayWithinThem(t *testing.T) {
	for _, dark := range []bool{true, false} {
		th := New(Options{Dark: dark, Profile: colorprofile.ANSI})
		for r := range numRoles {
			if got := th.Paint(r, "x"); strings.Contains(got, "38;") || strings.Contains(got, "48;") {
				t.Errorf("role %d: %q", r, got)
			}
		}
	}
}

// A theme may be chosen on a terminal of the other kind.
func TestHighContrastDimsNothingInSixteenColours(t *testing.T) {
	for _, dark := range []bool{true, false} {
		o := Options{Profile: colorprofile.ANSI, Contrast: true, Dark: dark}
		for r := range numRoles {
			if fg, _ := o.Colours(r); fg == ansi.BrightBlack {
				t.Errorf("role %d is grey", r)
			}
		}
	}
}

func TestABackgroundNeverComesWithoutAForeground(t *testing.T) {
	for name, palette := range map[string]*[numRoles]tone{
		"dark": paletteOf(onDark), "light": paletteOf(onLight), "contrast on dark": paletteOf(contrastOnDark), "contrast on light": paletteOf(contrastOnLight),
	} {
		for r, c := range palette {
			if (c.bg != 0 && c.fg == 0) || (c.bg16 != nil && c.fg16 == nil) {
				t.Errorf("%s, role %d: a background without a foreground", name, r)
			}
			if c.bg != 0 && contrast(c.fg, c.bg) < 7 {
				t.Errorf("%s, role %d: contrast %.2f", name, r, contrast(c.fg, c.bg))
			}
		}
	}
}

// Blue on black cannot be read in most terminals with sixteen colours.
func TestNothingIsBlueOnDarkWithSixteenColours(t *testing.T) {
	for r := range numRoles {
		fg, _ := Options{Dark: true, Profile: colorprofile.ANSI}.Colours(r)
		if fg == ansi.Blue || fg == ansi.BrightBlue {
			t.Errorf("role %d is blue", r)
		}
	}
	if fg, _ := (Options{Profile: colorprofile.ANSI}).Colours(Accent); fg != ansi.Blue {
		t.Errorf("on light it is %v", fg)
	}
}
