package away

import (
	"cmp"
	"strconv"
	"strings"

	"ollimbot/core/audit"
	"ollimbot/core/away"
	"ollimbot/core/words"
	"ollimbot/routines/cron"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// row is a line of the upper half: a task, or something that was noted or answered.
type row struct {
	task  *away.Task
	entry *audit.Entry
}

// fill hands the report to the tables.
func (p *Page) fill() {
	if p.report == nil {
		return
	}
	p.rows = p.rows[:0]
	for i := range p.report.Tasks {
		p.rows = append(p.rows, row{task: &p.report.Tasks[i]})
	}
	for _, list := range [][]audit.Entry{p.report.Held, p.report.Front, p.report.Notes, p.report.Answers} {
		for i := range list {
			p.rows = append(p.rows, row{entry: &list[i]})
		}
	}
	p.look++
	p.tasks.Fill(table.Source{
		Len: len(p.rows), Version: p.look, Look: p.look,
		Cell: p.taskCell, Text: p.taskText, Compare: p.compareTasks, Note: p.taskNote,
	})
	p.log.Fill(table.Source{
		Len: len(p.report.Log), Version: p.look, Look: p.look,
		Cell: p.logCell, Text: p.logText, Compare: p.compareLog,
	})
}

// figures are a task's numbers, as the columns behind its name have them.
func figures(t *away.Task) []int {
	return []int{t.Runs, t.Pings, t.Reports, t.Refused, t.Failed}
}

var figureRoles = []theme.Role{theme.Text, theme.Ping, theme.Report, theme.Warn, theme.Bad}

func (p *Page) taskCell(i, column int) widget.Span {
	r := p.rows[i]
	switch {
	case r.task == nil && column == 0:
		return widget.Span{Role: theme.Warn, Text: what(*r.entry)}
	case r.task == nil:
		return widget.Span{}
	case column == 0:
		return widget.Span{Role: theme.Strong, Text: r.task.Title}
	case column <= len(figureRoles):
		if n := figures(r.task)[column-1]; n > 0 {
			return widget.Span{Role: figureRoles[column-1], Text: strconv.Itoa(n)}
		}
	case column == len(figureRoles)+1 && r.task.Tokens > 0:
		return widget.Span{Role: theme.Dim, Text: words.Big(r.task.Tokens)}
	case column == len(figureRoles)+2 && r.task.Dollars > 0:
		return widget.Span{Role: theme.Dim, Text: strconv.FormatFloat(r.task.Dollars, 'f', 2, 64)}
	}
	return table.Blank()
}

func (p *Page) taskText(i int) string {
	if r := p.rows[i]; r.task == nil {
		return what(*r.entry) + " " + p.taskNote(i).Text
	}
	return p.rows[i].task.Title + " " + p.rows[i].task.Why
}

func (p *Page) taskNote(i int) widget.Span {
	r := p.rows[i]
	if r.task == nil {
		return widget.Span{Role: theme.Dim, Text: oneLine(*r.entry)}
	}
	return widget.Span{Role: theme.Dim, Text: r.task.Why}
}

func (p *Page) compareTasks(column, a, b int) int {
	x, y := p.rows[a].task, p.rows[b].task
	switch {
	case x == nil || y == nil:
		return 0
	case column == 0:
		return strings.Compare(strings.ToLower(x.Title), strings.ToLower(y.Title))
	case column <= len(figureRoles):
		return cmp.Compare(figures(x)[column-1], figures(y)[column-1])
	case column == len(figureRoles)+1:
		return cmp.Compare(x.Tokens, y.Tokens)
	}
	return cmp.Compare(x.Dollars, y.Dollars)
}

func (p *Page) logCell(i, column int) widget.Span {
	e := &p.report.Log[i]
	switch column {
	case 0:
		return widget.Span{Role: theme.Dim, Text: p.snap.When(e.At, cron.Layouts{Today: "15:04", Else: "2 Jan 15:04"})}
	case 1:
		return widget.Span{Text: e.Actor}
	case 2:
		return widget.Span{Role: theme.Strong, Text: what(*e)}
	case 3:
		return widget.Span{Text: oneLine(*e)}
	}
	return widget.Span{Role: theme.Dim, Text: e.From}
}

func (p *Page) logText(i int) string {
	e := &p.report.Log[i]
	return e.Actor + " " + e.From + " " + what(*e) + " " + oneLine(*e)
}

func (p *Page) compareLog(column, a, b int) int {
	x, y := &p.report.Log[a], &p.report.Log[b]
	if column == 0 {
		return x.At.Compare(y.At)
	}
	return strings.Compare(p.logCell(a, column).Text, p.logCell(b, column).Text)
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
