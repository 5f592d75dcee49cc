package theme

// rgb is a colour as 0xRRGGBB. Zero is "the terminal's own", never black.
type rgb uint32

func (c rgb) parts() (r, g, b int) {
	return int(c >> 16 & 0xff), int(c >> 8 & 0xff), int(c & 0xff)
}

// index is the nearest of the 256 colours: of the 6×6×6 cube and the grey ramp.
func (c rgb) index() int {
	r, g, b := c.parts()
	cube := 16 + 36*level(r) + 6*level(g) + level(b)
	grey := 232 + min(23, max(0, ((r+g+b)/3-3)/10))
	if distance(c, indexed(grey)) < distance(c, indexed(cube)) {
		return grey
	}
	return cube
}

// level is the nearest of the cube's six steps.
func level(v int) int {
	best := 0
	for i, s := range cubeSteps {
		if abs(v-s) < abs(v-cubeSteps[best]) {
			best = i
		}
	}
	return best
}

// indexed is the colour behind a number of the cube or the ramp.
func indexed(i int) rgb {
	if i >= 232 {
		v := rgb(8 + 10*(i-232))
		return v<<16 | v<<8 | v
	}
	i -= 16
	return rgb(cubeSteps[i/36])<<16 | rgb(cubeSteps[i/6%6])<<8 | rgb(cubeSteps[i%6])
}

func distance(a, b rgb) int {
	ar, ag, ab := a.parts()
	br, bg, bb := b.parts()
	return (ar-br)*(ar-br) + (ag-bg)*(ag-bg) + (ab-bb)*(ab-bb)
}

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}

// colour is a role's foreground and background.
type colour struct{ fg, bg rgb }

// cubeSteps are the values of the 256-colour cube.
var cubeSteps = [6]int{0, 95, 135, 175, 215, 255}

// darkPalette stands on anything from black to a dark slate. One blue leads,
// the rest is muted, so that what is wrong stands out.
var darkPalette = [numRoles]colour{
	Dim:    {fg: 0x949cb0},
	Accent: {fg: 0x82b6ff},
	Good:   {fg: 0x8fd69a},
	Warn:   {fg: 0xf0c470},
	Bad:    {fg: 0xff9090},
	Border: {fg: 0x6a7287},
	Focus:  {fg: 0x82b6ff},
	Key:    {fg: 0xc7b8ff},
	Select: {bg: 0x283349},
	Match:  {fg: 0x1b1b1b, bg: 0xf0c470},
	Ping:   {fg: 0xf4a8d6},
	Tool:   {fg: 0x80d4d4},
	Think:  {fg: 0xa9a4c8},
	Report: {fg: 0xbda8ff},
	Gauge:  {fg: 0x8fd69a},
	Track:  {fg: 0x6a7287},
	You:    {fg: 0x82b6ff},
}

// lightPalette stands on anything from white to a warm paper.
var lightPalette = [numRoles]colour{
	Dim:    {fg: 0x565d6b},
	Accent: {fg: 0x0b57a4},
	Good:   {fg: 0x1a662d},
	Warn:   {fg: 0x824a00},
	Bad:    {fg: 0xad1f18},
	Border: {fg: 0x7d8592},
	Focus:  {fg: 0x0b57a4},
	Key:    {fg: 0x5738b8},
	Select: {bg: 0xd6e3f6},
	Match:  {fg: 0x1b1b1b, bg: 0xffd666},
	Ping:   {fg: 0x9a1f69},
	Tool:   {fg: 0x0d6167},
	Think:  {fg: 0x625879},
	Report: {fg: 0x5738b8},
	Gauge:  {fg: 0x1a662d},
	Track:  {fg: 0x7d8592},
	You:    {fg: 0x0b57a4},
}

// dark16 uses the sixteen colours, whose shades the user's terminal chose.
var dark16 = [numRoles]pair{
	Accent: {fg: "94"},
	Good:   {fg: "92"},
	Warn:   {fg: "93"},
	Bad:    {fg: "91"},
	Border: {fg: "90"},
	Focus:  {fg: "94"},
	Key:    {fg: "95"},
	Match:  {fg: "30", bg: "43"},
	Ping:   {fg: "95"},
	Tool:   {fg: "96"},
	Report: {fg: "95"},
	Gauge:  {fg: "92"},
	Track:  {fg: "90"},
	You:    {fg: "94"},
}

var light16 = [numRoles]pair{
	Accent: {fg: "34"},
	Good:   {fg: "32"},
	Warn:   {fg: "33"},
	Bad:    {fg: "31"},
	Border: {fg: "90"},
	Focus:  {fg: "34"},
	Key:    {fg: "35"},
	Match:  {fg: "30", bg: "43"},
	Ping:   {fg: "35"},
	Tool:   {fg: "36"},
	Report: {fg: "35"},
	Gauge:  {fg: "32"},
	Track:  {fg: "90"},
	You:    {fg: "34"},
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
