package tui

import (
	"strings"

	"ollimbot/tui/action"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// helpPage lists every key: those of the focused pane first, then what works
// everywhere, then the other panes.
func helpPage(keys action.Keys, focus action.Pane, ascii bool) *page {
	var b strings.Builder
	section(&b, keys, focus, ascii)
	section(&b, keys, action.Everywhere, ascii)
	for _, p := range action.Panes {
		if p != focus {
			section(&b, keys, p, ascii)
		}
	}
	b.WriteString(textHelpMouse + "\n")
	for _, l := range textHelpPointer {
		b.WriteString("  " + widget.Fit(l[0], keyColumn) + l[1] + "\n")
	}
	p := newPage(textHelp, strings.TrimSuffix(b.String(), "\n"))
	p.paint = paintHelp
	return p
}

// paintHelp colours a line of the page: a heading, or keys and what they do.
func paintHelp(line string) []widget.Span {
	if !strings.HasPrefix(line, "  ") {
		return []widget.Span{{Role: theme.Strong, Text: line}}
	}
	i := min(len(line), keysEnd(line))
	return []widget.Span{{Role: theme.Key, Text: line[:i]}, {Text: line[i:]}}
}

// keysEnd is the byte at which the column of keys ends.
func keysEnd(line string) int {
	n := 0
	for i := range line {
		if n == 2+keyColumn {
			return i
		}
		n++
	}
	return len(line)
}

// keyColumn is as wide as the longest list of keys of a row, and a gap.
const keyColumn = 16

func section(b *strings.Builder, keys action.Keys, p action.Pane, ascii bool) {
	b.WriteString(p.Name())
	if n := p.Number(); n > 0 {
		if key := (action.Names{Keys: keys, ASCII: ascii}).Key(goIDs[n-1]); key != "" {
			b.WriteString(" (" + key + ")")
		}
	}
	b.WriteByte('\n')
	for _, a := range keys.Of(p) {
		b.WriteString("  " + widget.Fit(a.KeyNames(ascii), keyColumn) + a.Title + "\n")
	}
	b.WriteByte('\n')
}
