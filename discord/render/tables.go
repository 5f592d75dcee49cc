package render

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"ollimbot/core/base/lazyregexp"
)

const (
	// narrow is the width, in columns, of the widest table that a phone shows without wrapping lines.
	narrow = 42
	// between separates two columns.
	between = "  "
)

// Markdown converts Markdown that Discord does not render, which is tables and fences of tildes. If the text is still
// growing, the last line is held back while it may belong to a table.
func Markdown(text string, grows bool) string {
	text = Fences(text)
	if !strings.Contains(text, "|") {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	if grows {
		lines = withoutDraft(lines)
	}
	var out strings.Builder
	fenced := false
	for i := 0; i < len(lines); {
		if strings.Count(lines[i], fence)%2 == 1 {
			fenced = !fenced
		}
		t, n := table{}, 0
		if !fenced {
			t, n = tableAt(lines[i:])
		}
		if n == 0 {
			out.WriteString(lines[i])
			i++
			continue
		}
		out.WriteString(t.String())
		i += n
		if i == len(lines) && !strings.HasSuffix(lines[i-1], "\n") {
			return strings.TrimSuffix(out.String(), "\n")
		}
	}
	return out.String()
}

// withoutDraft removes an incomplete last row, and a head whose next line is still missing.
func withoutDraft(lines []string) []string {
	n := len(lines)
	if isRow(lines[n-1]) || lines[n-1] == "" {
		n--
	}
	if n > 0 && isRow(lines[n-1]) && !delimiter().MatchString(lines[n-1]) && (n == 1 || !isRow(lines[n-2])) {
		n--
	}
	return lines[:n]
}

// isRow reports whether a line starts like the table rows that models write.
func isRow(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "|") }

// delimiter matches the line below the head of a table.
var delimiter = lazyregexp.New(`^ {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?\s*$`)

// table is a Markdown table; its first row is the head. All rows have the same number of cells.
type table struct {
	rows  [][]string
	right []bool // columns that are aligned to the right
}

// tableAt reads the table that begins with the first line, and how many lines it has.
func tableAt(lines []string) (t table, n int) {
	if len(lines) < 2 || !strings.Contains(lines[0], "|") || !delimiter().MatchString(lines[1]) {
		return t, 0
	}
	head, below := cells(lines[0]), cells(lines[1])
	if len(head) != len(below) {
		return t, 0
	}
	for _, mark := range below {
		t.right = append(t.right, strings.HasSuffix(mark, ":") && !strings.HasPrefix(mark, ":"))
	}
	t.rows = [][]string{head}
	for n = 2; n < len(lines) && strings.Contains(lines[n], "|") && !strings.Contains(lines[n], fence); n++ {
		row := cells(lines[n])
		for len(row) < len(head) {
			row = append(row, "")
		}
		t.rows = append(t.rows, row[:len(head)])
	}
	return t, n
}

// cells splits a row. A bar after a backslash is part of its cell.
func cells(line string) (list []string) {
	const bar = "\x00"
	line = strings.TrimSpace(strings.ReplaceAll(line, `\|`, bar))
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	for cell := range strings.SplitSeq(line, "|") {
		list = append(list, strings.TrimSpace(strings.ReplaceAll(cell, bar, "|")))
	}
	return list
}

// String renders a narrow table as aligned code, and a wide one as a list.
func (t table) String() string {
	plain, widths, total := t.plain()
	if total > narrow || len(t.rows) == 1 || t.links() {
		return t.list()
	}
	var b strings.Builder
	b.WriteString(fence + "\n")
	for i, row := range plain {
		var line strings.Builder
		for k, cell := range row {
			pad := strings.Repeat(" ", widths[k]-displaywidth.String(cell))
			if t.right[k] {
				cell, pad = pad+cell, ""
			}
			line.WriteString(cell + pad + between)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if i == 0 {
			b.WriteString(strings.Repeat("─", total) + "\n")
		}
	}
	return b.String() + fence + "\n"
}

// styles removes marks that code would show literally.
var styles = strings.NewReplacer("**", "", "__", "", "~~", "", "`", "")

// plain returns the cells without styles, the width of each column, and that of a line.
func (t table) plain() (rows [][]string, widths []int, total int) {
	widths = make([]int, len(t.right))
	for _, row := range t.rows {
		bare := make([]string, len(row))
		for k, cell := range row {
			bare[k] = styles.Replace(cell)
			widths[k] = max(widths[k], displaywidth.String(bare[k]))
		}
		rows = append(rows, bare)
	}
	for _, w := range widths {
		total += w
	}
	return rows, widths, total + len(between)*(len(widths)-1)
}

// links reports whether a cell has a link, which works only in a list.
func (t table) links() bool {
	for _, row := range t.rows {
		if text := strings.Join(row, " "); strings.Contains(text, "](") || strings.Contains(text, "://") {
			return true
		}
	}
	return false
}

// list renders each row as an item: its first cell, then "**Head**: cell" for the others.
func (t table) list() string {
	head := t.rows[0]
	var b strings.Builder
	for _, row := range t.rows[1:] {
		lead := "- "
		for k, cell := range row {
			if cell == "" {
				continue
			}
			name := strings.TrimSpace(strings.ReplaceAll(head[k], "**", ""))
			if name != "" {
				cell = "**" + name + "**: " + cell
			}
			b.WriteString(lead + cell + "\n")
			lead = "  "
		}
	}
	if b.Len() == 0 { // a head without rows
		return strings.Join(head, " · ") + "\n"
	}
	return b.String()
}
