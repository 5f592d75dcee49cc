package away

import (
	"strconv"

	"ollimbot/core/audit"
	"ollimbot/core/away"
	"ollimbot/core/words"
	"ollimbot/routines/cron"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// row is a line: a task, or something that was noted, answered or decided.
type row struct {
	task  *away.Task
	entry *audit.Entry
}

func entriesOf(lists ...[]audit.Entry) (rows []row) {
	for _, list := range lists {
		for i := range list {
			rows = append(rows, row{entry: &list[i]})
		}
	}
	return rows
}

// tasksOf are the lines of the upper half.
func tasksOf(r *away.Report) (rows []row) {
	for i := range r.Tasks {
		rows = append(rows, row{task: &r.Tasks[i]})
	}
	return append(rows, entriesOf(r.Held, r.Front, r.Notes, r.Answers)...)
}

func (r row) name() widget.Span {
	if r.task == nil {
		return widget.Span{Role: theme.Warn, Text: what(*r.entry)}
	}
	return widget.Span{Role: theme.Strong, Text: r.task.Title}
}

func (r row) note() widget.Span {
	if r.task == nil {
		return widget.Span{Role: theme.Dim, Text: oneLine(*r.entry)}
	}
	return widget.Span{Role: theme.Dim, Text: r.task.Why}
}

// text is all that a filter finds a line by.
func (r row) text() string {
	if r.task != nil {
		return r.task.Title + " " + r.task.Why
	}
	return r.entry.Actor + " " + r.entry.From + " " + what(*r.entry) + " " + oneLine(*r.entry)
}

// taskColumns are those of the upper half.
var taskColumns = []table.Column[row]{
	{Head: "TASK", Least: 14, Most: 40, Cell: row.name},
	number("RUNS", 5, theme.Text, strconv.Itoa, func(t *away.Task) int { return t.Runs }),
	number("PING", 5, theme.Ping, strconv.Itoa, func(t *away.Task) int { return t.Pings }),
	number("REPORT", 7, theme.Report, strconv.Itoa, func(t *away.Task) int { return t.Reports }),
	number("REFUSED", 8, theme.Warn, strconv.Itoa, func(t *away.Task) int { return t.Refused }),
	number("FAILED", 7, theme.Bad, strconv.Itoa, func(t *away.Task) int { return t.Failed }),
	number("TOKENS", 7, theme.Dim, words.Big, func(t *away.Task) int { return t.Tokens }),
	number("$", 6, theme.Dim, func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }, func(t *away.Task) float64 { return t.Dollars }),
}

// number is a column of a task's numbers, which says nothing of other lines.
func number[N int | float64](head string, cells int, role theme.Role, text func(N) string, value func(t *away.Task) N) table.Column[row] {
	return table.Number(head, cells, role, func(r row) N {
		if r.task == nil {
			return 0
		}
		return value(r.task)
	}, text)
}

// logColumns are those of the lower half.
func (p *Page) logColumns() []table.Column[row] {
	column := func(head string, role theme.Role, cells int, text func(e *audit.Entry) string) table.Column[row] {
		return table.Column[row]{Head: head, Cells: cells, Cell: func(r row) widget.Span { return widget.Span{Role: role, Text: text(r.entry)} }}
	}
	when := func(e *audit.Entry) string {
		return p.snap.When(e.At, cron.Layouts{Today: "15:04", Else: "2 Jan 15:04"})
	}
	columns := []table.Column[row]{
		column("WHEN", theme.Dim, 14, when),
		column("WHO", theme.Text, 6, func(e *audit.Entry) string { return e.Actor }),
		column("WHAT", theme.Strong, 17, func(e *audit.Entry) string { return what(*e) }),
		column("DETAIL", theme.Text, 0, func(e *audit.Entry) string { return oneLine(*e) }),
		column("FROM", theme.Dim, 14, func(e *audit.Entry) string { return e.From }),
	}
	columns[0].Falls, columns[3].Least = true, 16
	columns[0].Compare = func(a, b row) int { return a.entry.At.Compare(b.entry.At) }
	return columns
}

// sum is the whole in one line.
func sum(r *away.Report) []widget.Span {
	out := []widget.Span{{Text: " "}}
	for _, part := range []struct {
		n    int
		noun string
		role theme.Role
	}{
		{r.Sum.Runs, "run", theme.Strong},
		{r.Sum.Pings, "ping", theme.Ping},
		{r.Sum.Refused, "refused ping", theme.Warn},
		{r.Sum.Failed, "failure", theme.Bad},
		{len(r.Front), "foreground run", theme.Text},
		{len(r.Held), "held run", theme.Warn},
		{len(r.Notes), "note", theme.Warn},
		{len(r.Answers), "answered request", theme.Text},
	} {
		if part.n > 0 || part.noun == "run" {
			out = append(out, widget.Span{Role: part.role, Text: words.Grouped(uint64(part.n), part.noun)}, widget.Span{Role: theme.Dim, Text: " · "})
		}
	}
	return append(out, widget.Span{Text: words.Dollars(r.Sum.Dollars)})
}
