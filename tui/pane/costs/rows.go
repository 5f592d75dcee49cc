package costs

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"ollimbot/core/command"
	"ollimbot/core/words"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
	"ollimbot/tui/widget/table"
)

// row is a task, or the conversation, which has no id.
type row struct {
	command.TaskCost
	share float64 // of everything that was spent
}

// rowsOf are the tasks of a report, and last the conversation.
func rowsOf(r *command.CostReport) []*row {
	var rows []*row
	all := r.Talk
	for _, t := range r.Tasks {
		rows, all = append(rows, &row{TaskCost: t}), all+t.Dollars
	}
	if r.Talk > 0 {
		rows = append(rows, &row{TaskCost: command.TaskCost{Title: textTalk, Dollars: r.Talk}})
	}
	for _, row := range rows {
		row.share = row.Dollars / max(all, 1e-9)
	}
	return rows
}

const barCells = 10

// columns are those of the tasks. Where there is less room they go from the right; the
// task stays.
func (p *Page) columns() []table.Column[*row] {
	dollars := func(v float64) string { return strings.TrimPrefix(words.Dollars(v), "$") }
	cost := func(r *row) float64 { return r.Dollars }
	share := func(r *row) float64 { return r.share }
	percent := func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }
	runs := func(r *row) int { return r.Runs }
	return []table.Column[*row]{
		{Head: "TASK", Least: 14, Most: 36, Cell: p.name},
		table.Number("COST", 8, theme.Text, cost, dollars),
		table.Number("SHARE", 6, theme.Dim, share, percent),
		{Cells: barCells, Cell: p.bar, Compare: func(a, b *row) int { return cmp.Compare(a.share, b.share) }},
		table.Number("RUNS", 6, theme.Dim, runs, func(n int) string { return words.Thousands(uint64(n)) }),
		table.Number("A RUN", 8, theme.Dim, func(r *row) float64 { return r.Mean }, dollars),
		{Head: "TREND", Cells: 6, Right: true, Falls: true, Cell: trend, Compare: func(a, b *row) int { return cmp.Compare(a.Trend, b.Trend) }},
		{Head: "30 DAYS", Cells: days, Cell: p.spark, Compare: func(a, b *row) int { return cmp.Compare(a.today(), b.today()) }},
	}
}

// today is what a task has cost today.
func (r *row) today() float64 {
	if n := len(r.Days); n > 0 {
		return r.Days[n-1]
	}
	return 0
}

func (p *Page) name(r *row) widget.Span {
	if p.marked[r.ID] {
		return widget.Span{Role: theme.Accent, Text: "* " + r.Title}
	}
	return widget.Span{Role: theme.Strong, Text: r.Title}
}

func (p *Page) bar(r *row) widget.Span {
	full := "█"
	if p.theme.ASCII() {
		full = "#"
	}
	return widget.Span{Role: theme.Gauge, Text: strings.Repeat(full, int(math.Round(r.share*barCells)))}
}

// trend is by how much runs have become dearer; little is nothing.
func trend(r *row) widget.Span {
	switch n := int(math.Round(100 * r.Trend)); {
	case n >= 5:
		return widget.Span{Role: theme.Warn, Text: fmt.Sprintf("+%d %%", min(n, 999))}
	case n <= -5:
		return widget.Span{Role: theme.Good, Text: fmt.Sprintf("%d %%", n)}
	}
	return table.Blank()
}

// spark is the days of a task in one colour.
func (p *Page) spark(r *row) widget.Span {
	if r.Days == nil {
		return table.Blank()
	}
	var b strings.Builder
	for _, s := range chart.Spark(p.theme, r.Days, 0) {
		b.WriteString(s.Text)
	}
	return widget.Span{Role: theme.Accent, Text: b.String()}
}
