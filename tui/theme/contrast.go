package theme

// The palettes of high contrast: every text stands out at least seven to one
// from the backgrounds that are usual for it, and nothing is dimmed. Weight and
// signs say what the other palettes say by shades.

var contrastDark = [numRoles]colour{
	Dim:    {fg: 0xe0e0e0},
	Accent: {fg: 0x9ecbff, fg16: brightBlue},
	Good:   {fg: 0x7dff9a, fg16: brightGreen},
	Warn:   {fg: 0xffe066, fg16: brightYellow},
	Bad:    {fg: 0xffb0b0, fg16: brightRed},
	Border: {fg: 0xc8c8c8},
	Focus:  {fg: 0xffe066, fg16: brightYellow},
	Key:    {fg: 0xffe066, fg16: brightYellow},
	Select: {fg: 0xfffffe, bg: 0x003b8e},
	Match:  {fg: 0x101010, bg: 0xffe066, fg16: black, bg16: yellow},
	Ping:   {fg: 0xffb8ea, fg16: brightMagenta},
	Tool:   {fg: 0x7ff4f4, fg16: brightCyan},
	Think:  {fg: 0xe0e0e0},
	Report: {fg: 0xd9c8ff, fg16: brightMagenta},
	Gauge:  {fg: 0x7dff9a, fg16: brightGreen},
	Track:  {fg: 0xc8c8c8},
	You:    {fg: 0x9ecbff, fg16: brightBlue},
}

var contrastLight = [numRoles]colour{
	Dim:    {fg: 0x262626},
	Accent: {fg: 0x00337a, fg16: blue},
	Good:   {fg: 0x00401a, fg16: green},
	Warn:   {fg: 0x5a2c00, fg16: yellow},
	Bad:    {fg: 0x7a0000, fg16: red},
	Border: {fg: 0x303030},
	Focus:  {fg: 0x00337a, fg16: blue},
	Key:    {fg: 0x3a1a86, fg16: magenta},
	Select: {fg: 0x101010, bg: 0xffe680},
	Match:  {fg: 0xfffffe, bg: 0x101010, fg16: black, bg16: yellow},
	Ping:   {fg: 0x70004a, fg16: magenta},
	Tool:   {fg: 0x003f45, fg16: cyan},
	Think:  {fg: 0x262626},
	Report: {fg: 0x3a1a86, fg16: magenta},
	Gauge:  {fg: 0x00401a, fg16: green},
	Track:  {fg: 0x303030},
	You:    {fg: 0x00337a, fg16: blue},
}

// palettes are what a role may look like on light and on dark backgrounds.
func (o Options) palettes() (light, dark *[numRoles]colour) {
	if o.Contrast {
		return &contrastLight, &contrastDark
	}
	return &lightPalette, &darkPalette
}
