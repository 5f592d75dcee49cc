package dialog

import (
	"fmt"
	"strings"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Row is a text with a head, such as keys or a time, in a separate column. A long text
// continues below itself, never below its head.
type Row struct{ Head, Text string }

// The head column takes at most a fourth of the width, and at least two cells.
const headShare, shallow = 4, 2

// NewTable is a page of rows whose texts start at the same column. On a narrow screen
// the column is narrower: a head that does not fit is above its text.
func NewTable(title string, column int, rows []Row) *Page {
	p := NewPage(title, "")
	p.rows, p.column = rows, column
	return p
}

// body is the text of the page for the clipboard.
func (p *Page) body() string {
	var out strings.Builder
	for _, row := range p.rows {
		head := row.Head
		if head != "" && row.Text != "" {
			head = widget.Fit(head, max(p.column-1, widget.Cells(head))) + " "
		}
		out.WriteString(strings.TrimRight(head+row.Text, " ") + "\n")
	}
	return strings.TrimRight(out.String(), "\n")
}

// broken returns the lines of the page for a width.
func (p *Page) broken(w int) (out [][]widget.Span) {
	column := min(p.column, max(shallow, w/headShare))
	for _, row := range p.rows {
		out = append(out, p.row(row, column, w)...)
	}
	return out
}

// row returns the lines of a row, with its text from a column on: after its head, or
// below it if that is too long. A row without a text is a heading on a page that has
// headings.
func (p *Page) row(row Row, column, w int) (out [][]widget.Span) {
	head, text := widget.Tidy(row.Head), widget.Tidy(row.Text)
	heads, role := p.heads, p.role
	if p.diff {
		role = diffRole(text)
	}
	switch {
	case head == "" || text == "":
		text = head + text
		if p.headings && indent(text) == 0 {
			role = theme.Strong
		}
		n := indent(text)
		if column = widget.Cells(text[:n]); column > w/2 {
			n, column = 0, 0
		}
		heads, head, text = role, text[:n], text[n:]
	case widget.Cells(head) >= column:
		for _, l := range widget.Wrap(head, w) {
			out = append(out, []widget.Span{{Role: heads, Text: l}})
		}
		head = ""
	}
	head = widget.Fit(head, column)
	for _, l := range widget.Wrap(text, w-column) {
		out = append(out, []widget.Span{{Role: heads, Text: head}, {Role: role, Text: l}})
		head = widget.Blank(column)
	}
	return out
}

// diffRole is the role of a line of a unified diff.
func diffRole(line string) theme.Role {
	switch {
	case strings.HasPrefix(line, "+"):
		return theme.Good
	case strings.HasPrefix(line, "-"):
		return theme.Bad
	case strings.HasPrefix(line, "@@"):
		return theme.Dim
	}
	return theme.Text
}

// indent is the length of a line's indentation in bytes, including the mark of a list item.
func indent(s string) int {
	n := len(s) - len(strings.TrimLeft(s, " "))
	for _, mark := range []string{"- ", "* ", "• ", "> "} {
		if strings.HasPrefix(s[n:], mark) {
			return n + len(mark)
		}
	}
	digits := len(s[n:]) - len(strings.TrimLeft(s[n:], "0123456789"))
	if digits > 0 && digits < 4 && strings.HasPrefix(s[n+digits:], ". ") {
		return n + digits + 2
	}
	return n
}

// Deliveries lists the webhooks' deliveries, never their contents.
func Deliveries(s *core.Snapshot) *Page {
	return NewTable(textDeliveries, deliveryColumn, deliveryRows(s))
}

// deliveryRows are the rows of that page.
func deliveryRows(s *core.Snapshot) []Row {
	var rows []Row
	for _, d := range s.Deliveries {
		name := clean.Cut(clean.Line(d.Webhook), 24)
		if name == "" {
			name = "(unknown)"
		}
		outcome := clean.Line(d.Outcome)
		if d.Count > 1 {
			outcome += fmt.Sprintf(" ×%d", d.Count)
		}
		if len(d.Flagged) > 0 {
			outcome += " (" + clean.Cut(clean.Line(strings.Join(d.Flagged, ", ")), 60) + ")"
		}
		rows = append(rows, Row{
			s.Clock(d.At, "Jan _2 15:04:05"),
			fmt.Sprintf("%-24s %6d bytes  %-12s %s", name, d.Size, clean.Line(d.Verdict), outcome),
		})
	}
	if len(s.Deliveries) == 0 {
		rows = append(rows, Row{Text: textNoDeliveries})
	}
	return rows
}

// deliveryColumn is where the name of a webhook starts, after the time.
const deliveryColumn = 17

// Servers lists the MCP servers with their last calls.
func Servers(s *core.Snapshot) *Page { return NewTable("MCP servers", serverColumn, serverRows(s)) }

// serverRows are the rows of that page.
func serverRows(s *core.Snapshot) (rows []Row) {
	for _, f := range s.ServerFacts() {
		rows = append(rows, Row{clean.Cut(clean.Line(f.Name), serverColumn-2), clean.Line(f.Text)})
	}
	return rows
}

// serverColumn is where texts start, after the names of servers.
const serverColumn = 18

// Engine is everything about the model and its processes.
func Engine(s *core.Snapshot) *Page {
	return NewTable("Engine", engineColumn, EngineRows(s))
}

// EngineRows are the rows of that page.
func EngineRows(s *core.Snapshot) []Row {
	e := s.Engine
	var rows []Row
	row := func(name, format string, args ...any) {
		rows = append(rows, Row{name, clean.Line(fmt.Sprintf(format, args...))})
	}
	row("engine", "%s %s", e.Name, e.Version)
	if e.Model != "" {
		row("model", "%s", e.Model)
	}
	row("state", "%s", e.State)
	row("surface", "%s %s", s.Surface.Name, s.Surface.State)
	if e.Warning != "" {
		row("warning", "%s", e.Warning)
	}
	row("today", "%s  %s", words.Dollars(e.Today.CostUSD), command.Blocks(e.Today))
	if len(e.Processes) > 0 {
		rows = append(rows, Row{}, Row{Text: textEngineProcesses})
	}
	for _, p := range e.Processes {
		memory := "?"
		if p.Memory > 0 {
			memory = words.Memory(p.Memory)
		}
		rows = append(rows, Row{fmt.Sprintf("  %7d", p.PID), fmt.Sprintf("session  %7s  %6s  %s", memory,
			words.Age(s.At.Sub(p.Started)), clean.Cut(clean.Line(p.Session), 40))})
	}
	return rows
}

// engineColumn is where values start, after their names and process IDs.
const engineColumn = 11
