package tui

import (
	"ollimbot/tui/action"
	"ollimbot/tui/theme"
)

// helpPage lists every key: those of the focused pane first, then what works
// everywhere, then the other panes.
func helpPage(keys action.Keys, focus action.Pane, ascii bool) *page {
	rows := section(nil, keys, focus, ascii)
	rows = section(rows, keys, action.Everywhere, ascii)
	for _, p := range action.Panes {
		if p != focus {
			rows = section(rows, keys, p, ascii)
		}
	}
	rows = append(rows, pageRow{text: textHelpMouse})
	for _, l := range textHelpPointer {
		rows = append(rows, pageRow{"  " + l[0], l[1]})
	}
	p := newTable(textHelp, helpColumn, rows)
	p.heads, p.headings = theme.Key, true
	p.keys, p.renew = keys, func(now action.Keys) *page { return helpPage(now, focus, ascii) }
	return p
}

// helpColumn is where it says what keys do: behind the longest list of keys of a
// row.
const helpColumn = 18

func section(rows []pageRow, keys action.Keys, p action.Pane, ascii bool) []pageRow {
	name := p.Name()
	if n := p.Number(); n > 0 {
		if key := (action.Names{Keys: keys, ASCII: ascii}).Key(goIDs[n-1]); key != "" {
			name += " (" + key + ")"
		}
	}
	rows = append(rows, pageRow{text: name})
	for _, a := range keys.Of(p) {
		rows = append(rows, pageRow{"  " + a.KeyNames(ascii), a.Title})
	}
	return append(rows, pageRow{})
}
