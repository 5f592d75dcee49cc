package theme

// unicodeGlyphs are one cell each in every terminal: none has an emoji form.
var unicodeGlyphs = [numGlyphs]string{
	Dot: "●", HalfDot: "◐", Circle: "○", Check: "✓", Cross: "✗", Bang: "!", Mute: "✕",
	Arrow: "→", Down: "▼", Up: "▲", Ellipsis: "…", Chain: "∞", Lock: "⊘", Pointer: "▸",
	Bell: "‼", HLine: "─",
}

// asciiGlyphs stand in for them; Arrow is the only one of two cells.
var asciiGlyphs = [numGlyphs]string{
	Dot: "*", HalfDot: "o", Circle: ".", Check: "v", Cross: "x", Bang: "!", Mute: "-",
	Arrow: "->", Down: "v", Up: "^", Ellipsis: "~", Chain: "&", Lock: "#", Pointer: ">",
	Bell: "!", HLine: "-",
}

var rounded = Borders{
	Horizontal: "─", Vertical: "│",
	TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯",
	LeftJoin: "├", RightJoin: "┤", TopJoin: "┬", BottomJoin: "┴", Both: "┼",
}

var plainBorders = Borders{
	Horizontal: "-", Vertical: "|",
	TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
	LeftJoin: "+", RightJoin: "+", TopJoin: "+", BottomJoin: "+", Both: "+",
}
