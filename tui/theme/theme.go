// Package theme is how the dashboard looks: colours by role, for dark and
// light backgrounds, and glyphs with ASCII stand-ins. Nothing else in the
// program names a colour. Meaning is never carried by colour alone.
package theme

import (
	"image/color"
	"slices"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Role is what a piece of text is for.
type Role uint8

// The roles. Text is the terminal's own foreground.
const (
	Text   Role = iota
	Dim         // less important
	Strong      // bold
	Accent      // names, links, the focused pane's title
	Good        // done, up, full
	Warn        // late, low, waiting
	Bad         // failed, error, empty
	Border      // of panes
	Focus       // now, and the pointer at what has the keys
	Here        // title of the focused pane: inverse in every theme
	Key         // a key in the help line
	Select      // the selected row
	Match       // what a search found
	Ping        // a message to the user
	Tool        // a tool call
	Think       // reasoning
	Report      // an update for the main session
	Gauge       // the filled part of a gauge
	Track       // its empty part
	Level       // a filled area of a chart
	You         // the user's own words
	Caret       // where typing goes: reverse in every theme
	numRoles
)

// Glyph is a symbol with an ASCII stand-in.
type Glyph uint8

// The glyphs. Each means one thing.
const (
	Token Glyph = iota // a token
	Running
	HalfDot // waiting
	Coming  // upcoming
	Stopped // stopped, cut off
	Check   // done
	Cross   // failed
	Bang    // a warning
	Message // a ping
	Refused // a refused ping
	Missed  // a missed fire
	Likely  // a ping that is expected
	Flag    // it asks
	Quiet   // quiet hours, shades
	Event   // an appointment
	Arrow   // a change
	Down    // more below
	Up      // more above
	Ellipsis
	Lock    // read-only
	Pointer // the selected row
	Bell    // critical
	numGlyphs
)

// Options choose a theme.
type Options struct {
	Dark bool
	// Contrast takes the palette of high contrast.
	Contrast bool
	NoColor  bool // no colours; bold, underline and reverse stay
	ASCII    bool // ASCII borders and glyphs
	Plain    bool // no styling at all, for text files; ASCII is another matter
	// Profile is how many colours the terminal has; Unknown is none.
	Profile colorprofile.Profile
}

// glyphs are the symbols and their ASCII stand-ins. A symbol is one cell in every terminal:
// none has an emoji form. Of the stand-ins only that of Arrow takes two.
var glyphs = [numGlyphs][2]string{
	Token: {"●", "@"}, Running: {"◉", "*"}, HalfDot: {"◐", "o"}, Coming: {"○", "."}, Stopped: {"■", "%"},
	Check: {"✓", "v"}, Cross: {"✗", "x"}, Bang: {"!", "!"}, Message: {"◆", "+"}, Refused: {"◈", "="},
	Missed: {"△", "?"}, Likely: {"◇", "~"}, Flag: {"⚑", "?"}, Quiet: {"░", ":"}, Event: {"▪", "e"}, Arrow: {"→", "->"}, Down: {"▼", "v"},
	Up: {"▲", "^"}, Ellipsis: {"…", "~"}, Lock: {"⊘", "#"}, Pointer: {"▸", ">"}, Bell: {"‼", "!"},
}

// Theme paints text by role. It is immutable and may be shared.
type Theme struct {
	options Options
	open    [numRoles]string
	shut    [numRoles]string
	borders lipgloss.Border
}

// New builds a theme. The work is done here: Paint only joins strings.
func New(o Options) *Theme {
	if o.Profile < colorprofile.ANSI {
		o.NoColor = true
	}
	t := &Theme{options: o, borders: lipgloss.RoundedBorder()}
	if o.ASCII {
		t.borders = lipgloss.ASCIIBorder()
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

// Paint gives s the colours of the role. It resets only what it sets: a word painted
// inside a Select row keeps the row's background. An empty s stays empty.
func (t *Theme) Paint(r Role, s string) string {
	if r >= numRoles || s == "" || t.open[r] == "" {
		return s
	}
	return t.open[r] + s + t.shut[r]
}

// Ends are the sequences that Paint puts before and after a text.
func (t *Theme) Ends(r Role) (open, shut string) { return t.open[r], t.shut[r] }

// On is the role to paint with on a row with a background. With sixteen colours the row is
// reversed, and a colour on it would look like a patch.
func (t *Theme) On(back, r Role) Role {
	switch {
	case r >= numRoles || back != Select || t.options.Plain || t.options.NoColor || t.options.Profile > colorprofile.ANSI || r == Match || r == Caret:
		return r
	case slices.ContainsFunc(styled[r], func(a attribute) bool { return a.on == bold.on }):
		return Strong
	}
	return Text
}

// Glyph is the symbol as this terminal can show it.
func (t *Theme) Glyph(g Glyph) string {
	if t.options.ASCII {
		return glyphs[g][1]
	}
	return glyphs[g][0]
}

// Box is what borders and rules are drawn with.
func (t *Theme) Box() lipgloss.Border { return t.borders }

// ASCII reports whether only ASCII may be drawn, for gauges and sparklines.
func (t *Theme) ASCII() bool { return t.options.ASCII }

// sequences are the SGR sequences that begin and end a role.
func (o Options) sequences(r Role) (open, shut string) {
	var on, off ansi.Style
	for _, a := range o.attributes(r) {
		on, off = append(on, a.on), append(off, a.off)
	}
	fg, bg := o.Colours(r)
	if fg != nil {
		on, off = on.ForegroundColor(fg), off.ForegroundColor(nil)
	}
	if bg != nil {
		on, off = on.BackgroundColor(bg), off.BackgroundColor(nil)
	}
	if len(on) == 0 {
		return "", ""
	}
	return on.String(), off.String()
}

// attributes are those of a role besides its colours, or instead of them.
func (o Options) attributes(r Role) []attribute {
	switch {
	case o.NoColor:
		return bare[r]
	case o.Contrast && o.Profile <= colorprofile.ANSI && r == Dim: // nothing is faint
		return nil
	case o.Profile <= colorprofile.ANSI && few[r] != nil:
		return few[r]
	}
	return styled[r]
}

// Colours are a role's foreground and background as the terminal can show
// them; nil is the terminal's own.
func (o Options) Colours(r Role) (fg, bg color.Color) {
	if o.NoColor || o.Plain || r >= numRoles {
		return nil, nil
	}
	c, n := colours[r], o.palette()
	switch {
	case o.Profile > colorprofile.ANSI:
		return o.shown(c.fg[n]), o.shown(c.bg[n])
	case o.Contrast && c.fg16 == ansi.BrightBlack: // nothing is dimmed
		return nil, c.bg16
	case o.Dark && r != Level: // which is large
		return bright(c.fg16), c.bg16
	}
	return c.fg16, c.bg16
}

func (o Options) shown(c rgb) color.Color {
	r, g, b := int(c>>16&0xff), int(c>>8&0xff), int(c&0xff)
	switch {
	case c == 0:
		return nil
	case o.Profile == colorprofile.ANSI256 && max(r, g, b)-min(r, g, b) < greyish:
		return ansi.IndexedColor(firstGrey + min(max((r+g+b)/3-3, 0)/10, greys-1))
	}
	return o.Profile.Convert(c)
}

const (
	// greyish is the range of the parts of a colour up to which it is a grey. The nearest of 256 would be teal or violet.
	greyish = 34
	// firstGrey is the index of the darkest of the greys, which are ten apart, from 8.
	firstGrey, greys = 232, 24
)

// rgb is a colour as 0xRRGGBB. Zero is "the terminal's own", never black.
type rgb uint32

// RGBA makes it a color.Color.
func (c rgb) RGBA() (r, g, b, a uint32) {
	return uint32(c>>16&0xff) * 0x101, uint32(c>>8&0xff) * 0x101, uint32(c&0xff) * 0x101, 0xffff
}

// tones are the colour of a role in each palette. The first works on anything from black to
// dark slate: one blue leads and the rest is muted, so that faults are conspicuous. The second
// works on anything from white to warm paper. In the two of high contrast every text has a
// contrast of at least 7:1 on the usual backgrounds, and nothing is dimmed: weight and signs
// replace the shades of the other palettes.
type tones [4]rgb

// The palettes: on dark and on light backgrounds, each also of high contrast.
const (
	onDark = iota
	onLight
	contrastOnDark
	contrastOnLight
)

// colour is a role's foreground and background, if any. fg16 and bg16 are used with sixteen
// colours. They are picked by hand, because the nearest of sixteen is often wrong; nil is the
// terminal's own. On dark backgrounds the bright variant of fg16 is used.
type colour struct {
	fg, bg     tones
	fg16, bg16 color.Color
}

var colours = [numRoles]colour{
	Dim:    {fg: tones{0x949cb0, 0x565d6b, 0xe0e0e0, 0x262626}},
	Accent: {fg: tones{0x82b6ff, 0x0b57a4, 0x9ecbff, 0x00337a}, fg16: ansi.Blue},
	Good:   {fg: tones{0x8fd69a, 0x1a662d, 0x7dff9a, 0x00401a}, fg16: ansi.Green},
	Warn:   {fg: tones{0xf0c470, 0x824a00, 0xffe066, 0x5a2c00}, fg16: ansi.Yellow},
	Bad:    {fg: tones{0xff9090, 0xad1f18, 0xffb0b0, 0x7a0000}, fg16: ansi.Red},
	Border: {fg: tones{0x6a7287, 0x7d8592, 0xc8c8c8, 0x303030}, fg16: ansi.BrightBlack},
	Focus:  {fg: tones{0x82b6ff, 0x0b57a4, 0xffe066, 0x00337a}, fg16: ansi.Blue},
	Here:   {fg: tones{0x82b6ff, 0x0b57a4, 0xffe066, 0x00337a}}, // with sixteen colours, the text's own, inverse
	Key:    {fg: tones{0xc7b8ff, 0x5738b8, 0xffe066, 0x3a1a86}, fg16: ansi.Magenta},
	Select: {fg: tones{0xe4e8f1, 0x1b2230, 0xfffffe, 0x101010}, bg: tones{0x283349, 0xd6e3f6, 0x003b8e, 0xffe680}},
	Match: {
		fg: tones{0x1b1b1b, 0x1b1b1b, 0x101010, 0xfffffe}, fg16: ansi.Black,
		bg: tones{0xf0c470, 0xffd666, 0xffe066, 0x101010}, bg16: ansi.Yellow,
	},
	Ping:   {fg: tones{0xf4a8d6, 0x9a1f69, 0xffb8ea, 0x70004a}, fg16: ansi.Magenta},
	Tool:   {fg: tones{0x80d4d4, 0x0d6167, 0x7ff4f4, 0x003f45}, fg16: ansi.Cyan},
	Think:  {fg: tones{0xa9a4c8, 0x625879, 0xe0e0e0, 0x262626}},
	Report: {fg: tones{0xbda8ff, 0x5738b8, 0xd9c8ff, 0x3a1a86}, fg16: ansi.Magenta},
	Gauge:  {fg: tones{0x8fd69a, 0x1a662d, 0x7dff9a, 0x00401a}, fg16: ansi.Green},
	Track:  {fg: tones{0x6a7287, 0x7d8592, 0xc8c8c8, 0x303030}, fg16: ansi.BrightBlack},
	Level:  {fg: tones{0x4d9a8e, 0x2f8579, 0x7ff4f4, 0x003f45}, fg16: ansi.Cyan},
	You:    {fg: tones{0x82b6ff, 0x0b57a4, 0x9ecbff, 0x00337a}, fg16: ansi.Blue},
}

// attribute is an SGR attribute and its reset.
type attribute struct{ on, off string }

var (
	bold      = attribute{"1", "22"}
	faint     = attribute{"2", "22"}
	italic    = attribute{"3", "23"}
	underline = attribute{"4", "24"}
	reverse   = attribute{"7", "27"}
)

// styled are the attributes besides colours.
var styled = [numRoles][]attribute{
	Strong: {bold},
	Focus:  {bold},
	Here:   {bold, reverse},
	Key:    {bold},
	Match:  {bold},
	Ping:   {bold},
	Think:  {italic},
	You:    {bold},
	Caret:  {reverse},
}

// bare are the attributes that replace colours under NO_COLOR. Faint is not one of them,
// so that dim text stays readable.
var bare = [numRoles][]attribute{
	Strong: {bold},
	Accent: {bold},
	Bad:    {bold},
	Focus:  {bold},
	Here:   {bold, reverse},
	Key:    {bold},
	Select: {reverse},
	Match:  {bold, underline},
	Ping:   {bold},
	You:    {bold},
	Caret:  {reverse},
}

// few replace what sixteen colours lack: a background for the selected row and a readable
// grey.
var few = map[Role][]attribute{
	Dim:    {faint},
	Select: {reverse},
}

// palette is the index of the palette for the background.
func (o Options) palette() int {
	n := onLight
	if o.Dark {
		n = onDark
	}
	if o.Contrast {
		n += contrastOnDark
	}
	return n
}

// bright is the brighter one of two of the sixteen colours. In place of blue, which is dim on black in most terminals,
// it is cyan.
func bright(c color.Color) color.Color {
	if c == ansi.Blue {
		c = ansi.Cyan
	}
	if b, ok := c.(ansi.BasicColor); ok && b > ansi.Black && b < ansi.BrightBlack {
		return b + ansi.BrightBlack
	}
	return c
}
