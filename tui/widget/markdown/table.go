package markdown

import (
	"strings"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// maxColumns is how many columns of a table are drawn.
const maxColumns = 16

// tabular reports a line that belongs to a table.
func tabular(s string) bool { return strings.HasPrefix(strings.TrimLeft(s, " "), "|") }

// table draws rows of cells in columns; where these do not fit, each row is a
// list of what its cells are called and hold.
func (p *printer) table(lines []string) {
	var rows [][]string
	ruled := false
	for i, l := range lines {
		if i == 1 && strings.Trim(l, "|:- ") == "" {
			ruled = true
			continue
		}
		rows = append(rows, cells(l))
	}
	if !ruled { // lines that only begin with a bar
		for _, l := range lines {
			p.words(l, strings.TrimLeft(l, " "), nil)
		}
		return
	}
	drawn := make([][][]widget.Span, len(rows))
	var wide []int
	for i, row := range rows {
		role := theme.Text
		if i == 0 {
			role = theme.Strong
		}
		for k, cell := range row {
			spans := p.inline(cell, role)
			drawn[i] = append(drawn[i], spans)
			if k == len(wide) {
				wide = append(wide, 0)
			}
			wide[k] = max(wide[k], widget.Width(spans))
		}
	}
	total := 2 * (len(wide) - 1)
	for _, n := range wide {
		total += n
	}
	if total <= p.look.W {
		p.columns(drawn, wide, total)
		return
	}
	p.records(rows, drawn)
}

// columns draws the cells below each other, and a rule below their names.
func (p *printer) columns(rows [][][]widget.Span, wide []int, total int) {
	for i, row := range rows {
		var line []widget.Span
		for k, cell := range row {
			line = append(line, cell...)
			if k < len(row)-1 {
				line = append(line, widget.Span{Text: widget.Blank(wide[k] - widget.Width(cell) + 2)})
			}
		}
		p.put(line)
		if i == 0 {
			p.put([]widget.Span{{Role: theme.Border, Text: strings.Repeat(p.look.Theme.Box().Horizontal, max(1, total))}})
		}
	}
}

// records draws each row as lines of name and value.
func (p *printer) records(names [][]string, rows [][][]widget.Span) {
	if len(rows) == 1 {
		p.hang(nil, nil, flat(rows[0]))
	}
	for _, row := range rows[1:] {
		for k, cell := range row {
			name := ""
			if k < len(names[0]) && names[0][k] != "" {
				name = names[0][k] + ": "
			}
			p.hang(nil, []widget.Span{{Text: "  "}}[:min(1, p.look.W/8)], append([]widget.Span{{Role: theme.Dim, Text: name}}, cell...))
		}
		p.blank = true
	}
}

// flat is the cells of a row in one line.
func flat(row [][]widget.Span) []widget.Span {
	var out []widget.Span
	for _, cell := range row {
		out = append(append(out, cell...), widget.Span{Text: "  "})
	}
	return out
}

// cells are what stands between the bars of a line.
func cells(s string) []string {
	s = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s), "|"), "|")
	parts := strings.SplitN(s, "|", maxColumns+1)
	parts = parts[:min(len(parts), maxColumns)]
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
