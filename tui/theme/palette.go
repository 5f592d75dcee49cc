package theme

// rgb is a colour as 0xRRGGBB. Zero is "the terminal's own", never black.
type rgb uint32

// RGBA makes it a color.Color.
func (c rgb) RGBA() (r, g, b, a uint32) {
	return uint32(c>>16&0xff) * 0x101, uint32(c>>8&0xff) * 0x101, uint32(c&0xff) * 0x101, 0xffff
}

// basic is one of the sixteen colours, whose shades the user's terminal chose.
// Zero is the terminal's own.
type basic uint8

const (
	black basic = iota + 1
	red
	green
	yellow
	blue
	magenta
	cyan
	_ // white: as light as the paper of many terminals
	grey
	brightRed
	brightGreen
	brightYellow
	brightBlue
	brightMagenta
	brightCyan
)

// colour is a role's foreground and background, where it has them. fg16
// and bg16 stand in where there are only sixteen colours: picked by hand,
// because the nearest of sixteen is often the wrong one.
type colour struct {
	fg, bg     rgb
	fg16, bg16 basic
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
	Dim:    {{fg: 0x949cb0}, {fg: 0x565d6b}, {fg: 0xe0e0e0}, {fg: 0x262626}},
	Accent: {{fg: 0x82b6ff, fg16: brightBlue}, {fg: 0x0b57a4, fg16: blue}, {fg: 0x9ecbff, fg16: brightBlue}, {fg: 0x00337a, fg16: blue}},
	Good:   {{fg: 0x8fd69a, fg16: brightGreen}, {fg: 0x1a662d, fg16: green}, {fg: 0x7dff9a, fg16: brightGreen}, {fg: 0x00401a, fg16: green}},
	Warn:   {{fg: 0xf0c470, fg16: brightYellow}, {fg: 0x824a00, fg16: yellow}, {fg: 0xffe066, fg16: brightYellow}, {fg: 0x5a2c00, fg16: yellow}},
	Bad:    {{fg: 0xff9090, fg16: brightRed}, {fg: 0xad1f18, fg16: red}, {fg: 0xffb0b0, fg16: brightRed}, {fg: 0x7a0000, fg16: red}},
	Border: {{fg: 0x6a7287, fg16: grey}, {fg: 0x7d8592, fg16: grey}, {fg: 0xc8c8c8}, {fg: 0x303030}},
	Focus:  {{fg: 0x82b6ff, fg16: brightBlue}, {fg: 0x0b57a4, fg16: blue}, {fg: 0xffe066, fg16: brightYellow}, {fg: 0x00337a, fg16: blue}},
	Key:    {{fg: 0xc7b8ff, fg16: brightMagenta}, {fg: 0x5738b8, fg16: magenta}, {fg: 0xffe066, fg16: brightYellow}, {fg: 0x3a1a86, fg16: magenta}},
	Select: {{fg: 0xe4e8f1, bg: 0x283349}, {fg: 0x1b2230, bg: 0xd6e3f6}, {fg: 0xfffffe, bg: 0x003b8e}, {fg: 0x101010, bg: 0xffe680}},
	Match: {
		{fg: 0x1b1b1b, bg: 0xf0c470, fg16: black, bg16: yellow},
		{fg: 0x1b1b1b, bg: 0xffd666, fg16: black, bg16: yellow},
		{fg: 0x101010, bg: 0xffe066, fg16: black, bg16: yellow},
		{fg: 0xfffffe, bg: 0x101010, fg16: black, bg16: yellow},
	},
	Ping:   {{fg: 0xf4a8d6, fg16: brightMagenta}, {fg: 0x9a1f69, fg16: magenta}, {fg: 0xffb8ea, fg16: brightMagenta}, {fg: 0x70004a, fg16: magenta}},
	Tool:   {{fg: 0x80d4d4, fg16: brightCyan}, {fg: 0x0d6167, fg16: cyan}, {fg: 0x7ff4f4, fg16: brightCyan}, {fg: 0x003f45, fg16: cyan}},
	Think:  {{fg: 0xa9a4c8}, {fg: 0x625879}, {fg: 0xe0e0e0}, {fg: 0x262626}},
	Report: {{fg: 0xbda8ff, fg16: brightMagenta}, {fg: 0x5738b8, fg16: magenta}, {fg: 0xd9c8ff, fg16: brightMagenta}, {fg: 0x3a1a86, fg16: magenta}},
	Gauge:  {{fg: 0x8fd69a, fg16: brightGreen}, {fg: 0x1a662d, fg16: green}, {fg: 0x7dff9a, fg16: brightGreen}, {fg: 0x00401a, fg16: green}},
	Track:  {{fg: 0x6a7287, fg16: grey}, {fg: 0x7d8592, fg16: grey}, {fg: 0xc8c8c8}, {fg: 0x303030}},
	You:    {{fg: 0x82b6ff, fg16: brightBlue}, {fg: 0x0b57a4, fg16: blue}, {fg: 0x9ecbff, fg16: brightBlue}, {fg: 0x00337a, fg16: blue}},
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

// palettes are the indices of the palettes for light and for dark backgrounds.
func (o Options) palettes() (light, dark int) {
	if o.Contrast {
		return contrastOnLight, contrastOnDark
	}
	return onLight, onDark
}
