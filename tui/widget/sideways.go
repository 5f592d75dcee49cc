package widget

import "ollimbot/tui/theme"

// scrolled is a text without its first cells. A mark shows that some are hidden, so
// that an empty pane never looks like an empty log.
func scrolled(text string, look Look) (mark []Span, from int) {
	if look.Left <= 0 || text == "" {
		return nil, 0
	}
	from, over := skip(text, look.Left+1)
	return []Span{{theme.Dim, textBefore + Blank(over)}}, from
}

// skip is the byte after the first n cells, and by how many cells the last
// character exceeds them.
func skip(s string, n int) (i, over int) {
	for n > 0 && i < len(s) {
		size, cells := character(s[i:])
		i += size
		n -= cells
	}
	return i, max(0, -n)
}
