package theme

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
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
