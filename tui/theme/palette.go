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

// colour is a role's foreground and background, where it has them. fg16
// and bg16 stand in where there are only sixteen colours: picked by hand,
// because the nearest of sixteen is often the wrong one; nil is the terminal's own.
type colour struct {
	fg, bg     rgb
	fg16, bg16 color.Color
}

// The palettes: on dark and on light backgrounds, each also of high contrast.
const (
	onDark = iota
	onLight
	contrastOnDark
	contrastOnLight
	numPalettes
)

// palettes are the colours of each role. The first stands on anything from black to a dark
// slate: one blue leads, the rest is muted, so that what is wrong stands out. The second
// stands on anything from white to a warm paper. In those of high contrast every text
// stands out at least seven to one from the backgrounds that are usual for it, and
// nothing is dimmed: weight and signs say what the other palettes say by shades.
var palettes = [numRoles][numPalettes]colour{
	Dim: {{fg: 0x949cb0}, {fg: 0x565d6b}, {fg: 0xe0e0e0}, {fg: 0x262626}},
	Accent: {
		{fg: 0x82b6ff, fg16: ansi.BrightBlue},
		{fg: 0x0b57a4, fg16: ansi.Blue},
		{fg: 0x9ecbff, fg16: ansi.BrightBlue},
		{fg: 0x00337a, fg16: ansi.Blue},
	},
	Good: {
		{fg: 0x8fd69a, fg16: ansi.BrightGreen},
		{fg: 0x1a662d, fg16: ansi.Green},
		{fg: 0x7dff9a, fg16: ansi.BrightGreen},
		{fg: 0x00401a, fg16: ansi.Green},
	},
	Warn: {
		{fg: 0xf0c470, fg16: ansi.BrightYellow},
		{fg: 0x824a00, fg16: ansi.Yellow},
		{fg: 0xffe066, fg16: ansi.BrightYellow},
		{fg: 0x5a2c00, fg16: ansi.Yellow},
	},
	Bad:    {{fg: 0xff9090, fg16: ansi.BrightRed}, {fg: 0xad1f18, fg16: ansi.Red}, {fg: 0xffb0b0, fg16: ansi.BrightRed}, {fg: 0x7a0000, fg16: ansi.Red}},
	Border: {{fg: 0x6a7287, fg16: ansi.BrightBlack}, {fg: 0x7d8592, fg16: ansi.BrightBlack}, {fg: 0xc8c8c8}, {fg: 0x303030}},
	Focus: {
		{fg: 0x82b6ff, fg16: ansi.BrightBlue},
		{fg: 0x0b57a4, fg16: ansi.Blue},
		{fg: 0xffe066, fg16: ansi.BrightYellow},
		{fg: 0x00337a, fg16: ansi.Blue},
	},
	Key: {
		{fg: 0xc7b8ff, fg16: ansi.BrightMagenta},
		{fg: 0x5738b8, fg16: ansi.Magenta},
		{fg: 0xffe066, fg16: ansi.BrightYellow},
		{fg: 0x3a1a86, fg16: ansi.Magenta},
	},
	Select: {{fg: 0xe4e8f1, bg: 0x283349}, {fg: 0x1b2230, bg: 0xd6e3f6}, {fg: 0xfffffe, bg: 0x003b8e}, {fg: 0x101010, bg: 0xffe680}},
	Match: {
		{fg: 0x1b1b1b, bg: 0xf0c470, fg16: ansi.Black, bg16: ansi.Yellow},
		{fg: 0x1b1b1b, bg: 0xffd666, fg16: ansi.Black, bg16: ansi.Yellow},
		{fg: 0x101010, bg: 0xffe066, fg16: ansi.Black, bg16: ansi.Yellow},
		{fg: 0xfffffe, bg: 0x101010, fg16: ansi.Black, bg16: ansi.Yellow},
	},
	Ping: {
		{fg: 0xf4a8d6, fg16: ansi.BrightMagenta},
		{fg: 0x9a1f69, fg16: ansi.Magenta},
		{fg: 0xffb8ea, fg16: ansi.BrightMagenta},
		{fg: 0x70004a, fg16: ansi.Magenta},
	},
	Tool: {
		{fg: 0x80d4d4, fg16: ansi.BrightCyan},
		{fg: 0x0d6167, fg16: ansi.Cyan},
		{fg: 0x7ff4f4, fg16: ansi.BrightCyan},
		{fg: 0x003f45, fg16: ansi.Cyan},
	},
	Think: {{fg: 0xa9a4c8}, {fg: 0x625879}, {fg: 0xe0e0e0}, {fg: 0x262626}},
	Report: {
		{fg: 0xbda8ff, fg16: ansi.BrightMagenta},
		{fg: 0x5738b8, fg16: ansi.Magenta},
		{fg: 0xd9c8ff, fg16: ansi.BrightMagenta},
		{fg: 0x3a1a86, fg16: ansi.Magenta},
	},
	Gauge: {{fg: 0x8fd69a, fg16: ansi.BrightGreen}, {fg: 0x1a662d, fg16: ansi.Green}, {fg: 0x7dff9a, fg16: ansi.BrightGreen}, {fg: 0x00401a, fg16: ansi.Green}},
	Track: {{fg: 0x6a7287, fg16: ansi.BrightBlack}, {fg: 0x7d8592, fg16: ansi.BrightBlack}, {fg: 0xc8c8c8}, {fg: 0x303030}},
	You:   {{fg: 0x82b6ff, fg16: ansi.BrightBlue}, {fg: 0x0b57a4, fg16: ansi.Blue}, {fg: 0x9ecbff, fg16: ansi.BrightBlue}, {fg: 0x00337a, fg16: ansi.Blue}},
}

// attribute is an SGR attribute and what takes it away.
type attribute struct{ on, off string }

var (
	bold      = attribute{"1", "22"}
	faint     = attribute{"2", "22"}
	italic    = attribute{"3", "23"}
	underline = attribute{"4", "24"}
	reverse   = attribute{"7", "27"}
)

// styled are the attributes beside colours.
var styled = [numRoles][]attribute{
	Strong: {bold},
	Focus:  {bold},
	Key:    {bold},
	Match:  {bold},
	Ping:   {bold},
	Think:  {italic},
	You:    {bold},
	Caret:  {reverse},
}

// bare are the attributes that stand in for colours under NO_COLOR. Faint is
// not among them: what is dim then is as readable as the rest.
var bare = [numRoles][]attribute{
	Strong: {bold},
	Accent: {bold},
	Bad:    {bold},
	Focus:  {bold},
	Key:    {bold},
	Select: {reverse},
	Match:  {bold, underline},
	Ping:   {bold},
	You:    {bold},
	Caret:  {reverse},
}

// few are what the sixteen colours cannot say: a background for the selected
// row and a grey that can be read.
var few = map[Role][]attribute{
	Dim:    {faint},
	Select: {reverse},
	Think:  {italic},
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
