package theme

import (
	"strconv"
	"strings"
)

// Theme paints text by role. It is immutable and may be shared.
type Theme struct {
	options Options
	open    [numRoles]string
	shut    [numRoles]string
	glyphs  *[numGlyphs]string
	borders Borders
}

// Borders are the cells a box is drawn with, one cell each.
type Borders struct {
	Horizontal, Vertical                           string
	TopLeft, TopRight, BottomLeft, BottomRight     string
	LeftJoin, RightJoin, TopJoin, BottomJoin, Both string
}

// New builds a theme. The work is done here: Paint only joins strings.
func New(o Options) *Theme {
	if o.Profile == 0 {
		o.NoColor = true
	}
	t := &Theme{options: o, glyphs: &unicodeGlyphs, borders: rounded}
	if o.ASCII {
		t.glyphs, t.borders = &asciiGlyphs, plainBorders
	}
	if o.Plain {
		return t
	}
	for r := range numRoles {
		t.open[r], t.shut[r] = o.sequences(r)
	}
	return t
}

// Options says what the theme was built with.
func (t *Theme) Options() Options { return t.options }

// Paint gives s the colours of the role. What it opens it closes again, and no
// more: a word painted inside a Select row keeps the row's background. An
// empty s stays empty.
func (t *Theme) Paint(r Role, s string) string {
	if r >= numRoles || s == "" || t.open[r] == "" {
		return s
	}
	return t.open[r] + s + t.shut[r]
}

// Glyph is the symbol as this terminal can show it.
func (t *Theme) Glyph(g Glyph) string {
	if g >= numGlyphs {
		return "?"
	}
	return t.glyphs[g]
}

// Box is what borders and rules are drawn with.
func (t *Theme) Box() Borders { return t.borders }

// ASCII reports whether only ASCII may be drawn, for gauges and sparklines.
func (t *Theme) ASCII() bool { return t.options.ASCII }

// sequences are the SGR sequences that begin and end a role.
func (o Options) sequences(r Role) (open, shut string) {
	var on, off []string
	attributes := styled
	if o.NoColor {
		attributes = bare
	}
	list := attributes[r]
	if !o.NoColor && o.Profile <= 16 && few[r] != nil {
		list = few[r]
	}
	for _, a := range list {
		on, off = append(on, a.on), append(off, a.off)
	}
	if !o.NoColor {
		c := o.colours(r)
		if c.fg != "" {
			on, off = append(on, c.fg), append(off, "39")
		}
		if c.bg != "" {
			on, off = append(on, c.bg), append(off, "49")
		}
	}
	if len(on) == 0 {
		return "", ""
	}
	return "\x1b[" + strings.Join(on, ";") + "m", "\x1b[" + strings.Join(off, ";") + "m"
}

// pair is the SGR parameters of a foreground and a background.
type pair struct{ fg, bg string }

// colours picks the parameters for the number of colours there are.
func (o Options) colours(r Role) pair {
	if o.Profile <= 16 {
		if o.Dark {
			return dark16[r]
		}
		return light16[r]
	}
	p := &lightPalette
	if o.Dark {
		p = &darkPalette
	}
	return pair{fg: o.parameter("38", p[r].fg), bg: o.parameter("48", p[r].bg)}
}

// parameter writes one colour; 0 means the terminal's own.
func (o Options) parameter(kind string, c rgb) string {
	if c == 0 {
		return ""
	}
	if o.Profile <= 256 {
		return kind + ";5;" + strconv.Itoa(c.index())
	}
	r, g, b := c.parts()
	return kind + ";2;" + strconv.Itoa(r) + ";" + strconv.Itoa(g) + ";" + strconv.Itoa(b)
}
