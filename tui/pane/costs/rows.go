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

// The columns of the tasks. Where there is less room they go from the right; the task
// stays.
const (
	taskColumn = iota
	costColumn
	shareColumn
	barColumn
	runsColumn
	meanColumn
	trendColumn
	daysColumn
)

const barCells = 10

func columns() []table.Column {
	return []table.Column{
		taskColumn:  {Head: "TASK", Least: 14, Most: 36},
		costColumn:  {Head: "COST", Cells: 8, Right: true, Falls: true},
		shareColumn: {Head: "SHARE", Cells: 6, Right: true, Falls: true},
		barColumn:   {Head: "", Cells: barCells},
		runsColumn:  {Head: "RUNS", Cells: 6, Right: true, Falls: true},
		meanColumn:  {Head: "A RUN", Cells: 8, Right: true, Falls: true},
		trendColumn: {Head: "TREND", Cells: 6, Right: true, Falls: true},
		daysColumn:  {Head: "30 DAYS", Cells: days},
	}
}

// fill shows the tasks of the report; the last row is the conversation.
func (p *Page) fill() {
	n := len(p.report.Tasks)
	if p.report.Talk > 0 {
		n++
	}
	p.table.Fill(table.Source{Len: n, Version: p.version, Cell: p.cell, Text: p.name, Compare: p.compare})
}

// task is a row; nil is the conversation.
func (p *Page) task(row int) *command.TaskCost {
	if row < 0 || row >= len(p.report.Tasks) {
		return nil
	}
	return &p.report.Tasks[row]
}

// selected is the task of the marked row; nil where there is none.
func (p *Page) selected() *command.TaskCost {
	if p.report == nil {
		return nil
	}
	return p.task(p.table.Row())
}

func (p *Page) name(row int) string {
	if t := p.task(row); t != nil {
		return t.Title
	}
	return textTalk
}

// dollars is what a row has cost.
func (p *Page) dollars(row int) float64 {
	if t := p.task(row); t != nil {
		return t.Dollars
	}
	return p.report.Talk
}

// share is a row's part of everything that was spent.
func (p *Page) share(row int) float64 {
	all := p.report.Talk
	for i := range p.report.Tasks {
		all += p.report.Tasks[i].Dollars
	}
	if all <= 0 {
		return 0
	}
	return p.dollars(row) / all
}

func (p *Page) cell(row, column int) widget.Span {
	t := p.task(row)
	dim := func(text string) widget.Span { return widget.Span{Role: theme.Dim, Text: text} }
	switch column {
	case taskColumn:
		if t != nil && p.marked[t.ID] {
			return widget.Span{Role: theme.Accent, Text: "* " + p.name(row)}
		}
		return widget.Span{Role: theme.Strong, Text: p.name(row)}
	case costColumn:
		return widget.Span{Text: strings.TrimPrefix(words.Dollars(p.dollars(row)), "$")}
	case shareColumn:
		return dim(fmt.Sprintf("%.0f %%", 100*p.share(row)))
	case barColumn:
		n := int(math.Round(p.share(row) * barCells))
		return widget.Span{Role: theme.Gauge, Text: strings.Repeat(p.full, n)}
	}
	if t == nil {
		return table.Blank()
	}
	switch column {
	case runsColumn:
		return dim(words.Thousands(uint64(max(0, t.Runs))))
	case meanColumn:
		return dim(strings.TrimPrefix(words.Dollars(t.Mean), "$"))
	case trendColumn:
		return trend(t.Trend)
	}
	return widget.Span{Role: theme.Accent, Text: p.spark(t.Days)}
}

// trend is by how much runs have become dearer; little is nothing.
func trend(v float64) widget.Span {
	switch n := int(math.Round(100 * v)); {
	case n >= 5:
		return widget.Span{Role: theme.Warn, Text: fmt.Sprintf("+%d %%", min(n, 999))}
	case n <= -5:
		return widget.Span{Role: theme.Good, Text: fmt.Sprintf("%d %%", n)}
	}
	return table.Blank()
}

// spark is the days of a task in one colour.
func (p *Page) spark(values []float64) string {
	var b strings.Builder
	for _, s := range chart.Spark(p.theme, values, 0) {
		b.WriteString(s.Text)
	}
	return b.String()
}

func (p *Page) compare(column, i, j int) int {
	a, b := p.task(i), p.task(j)
	switch column {
	case taskColumn:
		return strings.Compare(strings.ToLower(p.name(i)), strings.ToLower(p.name(j)))
	case costColumn, shareColumn, barColumn:
		return cmp.Compare(p.dollars(i), p.dollars(j))
	}
	switch { // the conversation has no runs: it is less
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	switch column {
	case runsColumn:
		return cmp.Compare(a.Runs, b.Runs)
	case meanColumn:
		return cmp.Compare(a.Mean, b.Mean)
	case trendColumn:
		return cmp.Compare(a.Trend, b.Trend)
	}
	last := func(t *command.TaskCost) float64 { // what it has cost today
		if n := len(t.Days); n > 0 {
			return t.Days[n-1]
		}
		return 0
	}
	return cmp.Compare(last(a), last(b))
}
