package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

// leastPrompt is the minimum number of prompt lines on a low page.
const leastPrompt = 3

// Draw implements pane.Pane: the facts of the task, the most important first, and beside or
// below them the prompt.
func (p *Page) Draw(c pane.Context, w, h int, _ bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	t := p.task(c)
	switch {
	case t == nil && p.id != "":
		return widget.Rows(widget.Nowhere, b.Empty(w, h, textGone, fmt.Sprintf(textBringBack, c.Names(action.Task).Opening(action.TaskRestore)))...)
	case t == nil:
		return widget.Rows(widget.Nowhere, b.Empty(w, h, "There is no task.")...)
	}
	if w >= widget.Wide {
		left := w / 2
		return widget.Beside(b, widget.FillRows(p.facts(c, t, left), left, h), widget.FillRows(p.promptRows(c, w-left-1, h), w-left-1, h), left)
	}
	rows := p.facts(c, t, w)
	rows = rows[:min(len(rows), max(1, h-leastPrompt-1))]
	return widget.FillRows(append(rows, p.promptRows(c, w, h-len(rows))...), w, h)
}

// headed adds a title and when the task fires, below it if there is no room beside it.
func headed(s *pane.Sheet, title, when string) {
	var spans []widget.Span
	if title != "" {
		spans = append(spans, widget.Span{Role: theme.Strong, Text: title}, widget.Span{Text: "  "})
	}
	if s.W < whenWraps || widget.Cells(title+when)+3 <= s.W {
		s.Line(widget.Nowhere, append(spans, widget.Span{Role: theme.Dim, Text: when})...)
		return
	}
	if title != "" {
		s.Line(widget.Nowhere, spans...)
	}
	s.Say(widget.Nowhere, theme.Dim, when, mostWhen)
}

// facts returns the lines above the prompt; a low page omits the last ones.
func (p *Page) facts(c pane.Context, t *schedule.TaskView, w int) []widget.Row {
	s := &pane.Sheet{Context: c, W: w}
	headed(s, t.Title, cmp.Or(t.When, t.Label))
	p.own(s, t, mostOwn)
	if p.past != nil {
		s.Named(widget.Inner, textRuns, p.strip(c, w-pane.NameCells-2)...)
		if r := p.selected(); r != nil {
			s.Named(widget.Inner, "", ran(c, r)...)
		}
		p.figures(s, t.Ended)
	}
	s.Line(widget.Nowhere, kind(t)...)
	return s.Rows
}

// Panel returns up to h rows about the task for a list beside it: its own text, what is known about it, and its newest
// runs in the rows that are left. What else its prompt consists of is only counted.
func (p *Page) Panel(c pane.Context, w, h int) []widget.Row {
	t := p.task(c)
	if t == nil || t.ID != p.id {
		return pane.Text(c, w, h, textGone)
	}
	s := &pane.Sheet{Context: c, W: w}
	p.own(s, t, h/2)
	headed(s, "", cmp.Or(t.When, t.Label))
	s.Line(widget.Nowhere, kind(t)...)
	if p.past == nil {
		return s.Rows
	}
	p.figures(s, t.Ended)
	if more := strings.Count(p.prompt, "\n") - strings.Count(p.past.File.Body, "\n"); p.prompt != "" && more > 0 {
		text := words.Count(more, "line") + ", " + c.Names(action.Schedule).Name(action.SchedulePreview) + " shows the whole prompt"
		s.Named(widget.Nowhere, textAlso, widget.Span{Role: theme.Dim, Text: text})
	}
	s.Named(widget.Nowhere, textRuns, p.strip(c, w-pane.NameCells-2)...)
	for i := len(p.past.Runs) - 1; i >= 0 && len(s.Rows) < h; i-- {
		s.Named(widget.Nowhere, "", ran(c, &p.past.Runs[i])...)
	}
	return s.Rows[:min(len(s.Rows), h)]
}

// own adds why the task does not run, and its own text in at most most lines.
func (p *Page) own(s *pane.Sheet, t *schedule.TaskView, most int) {
	lacks := ""
	if problem := s.Snap.Lacks(t.Path); problem != nil {
		lacks = problem.Message
	}
	stopped := ""
	if t.Stopped != "" {
		stopped = t.Held + ": " + t.Stopped
	}
	if why := cmp.Or(t.Waits, stopped, lacks, p.failed); why != "" {
		s.Line(widget.Nowhere, widget.Span{Role: theme.Warn, Text: s.Theme.Glyph(theme.Bang) + " " + why})
	}
	if p.past != nil {
		own, _, _ := strings.Cut(p.past.File.Body, "\n"+scriptFence) // what the offline engine plays is part of the prompt
		s.Rows = append(s.Rows, pane.Text(s.Context, s.W, most, own)...)
	}
}

// figures adds the next fires, and the averages of its runs.
func (p *Page) figures(s *pane.Sheet, ended string) {
	if len(p.past.Next) == 0 {
		s.Named(widget.Nowhere, textNext, widget.Span{Role: theme.Dim, Text: cmp.Or(ended, textNever)})
	}
	for i, next := range p.past.Next {
		s.Named(widget.Nowhere, []string{textNext, ""}[min(i, 1)], fires(s.Context, next)...)
	}
	for i, skip := range p.past.Skipped {
		s.Named(widget.Nowhere, []string{textSkips, ""}[min(i, 1)], widget.Span{Role: theme.Dim, Text: clock(s.Context, skip.At) + "  " + skip.Why})
	}
	if len(p.past.Runs) > 0 {
		s.Named(widget.Nowhere, textPings, p.pings()...)
		s.Named(widget.Nowhere, "duration", p.took(s.Context)...)
		spark := widget.Span{Role: theme.Accent, Text: chart.Spark(s.Theme, p.dollars())}
		s.Named(widget.Nowhere, textCost, spark, widget.Span{Role: theme.Dim, Text: "  " + p.mean()})
	}
}

// mostWhen is how many lines say when the task fires, if that does not fit behind its title on a page
// of at least whenWraps cells.
const (
	mostWhen  = 2
	whenWraps = 50
)

// mostOwn is how many lines of the task's own text are above the facts; all of it is in the prompt.
const mostOwn = 4

// scriptFence begins the script of the offline engine in the text of a task.
const scriptFence = "```script"

// Lines describes the past of a task and its next fires, for plain mode.
func Lines(s *core.Snapshot, past *command.TaskPast) (lines []string) {
	c, p := pane.Context{Snap: s}, &Page{past: past, run: len(past.Runs) - 1}
	tell := func(name string, spans ...widget.Span) {
		text := ""
		for _, span := range spans {
			text += span.Text
		}
		lines = append(lines, name+": "+text)
	}
	if len(past.Next) == 0 {
		lines = append(lines, textNever)
	}
	for _, next := range past.Next {
		tell(textNext, fires(c, next)...)
	}
	for _, skip := range past.Skipped {
		tell(textSkips, widget.Span{Text: clock(c, skip.At) + "  " + skip.Why})
	}
	r := p.selected()
	if r == nil {
		return append(lines, textNoRun)
	}
	tell(textRuns, widget.Span{Text: textLast(len(past.Runs), past.Rate.Runs)})
	tell("newest", ran(c, r)...)
	tell(textPings, p.pings()...)
	tell(textCost, widget.Span{Text: p.mean()})
	return lines
}

// kind returns the kind of the task, and its rights.
func kind(t *schedule.TaskView) []widget.Span {
	text := textBackground
	switch {
	case t.Foreground:
		text = textForeground
	case t.Silent:
		text = textSilent
	case t.Says:
		text = textSays
	}
	out := []widget.Span{{Role: theme.Dim, Text: string(t.Kind) + " · " + text}}
	if t.Paused {
		out = append(out, widget.Span{Role: theme.Warn, Text: " · paused"})
	}
	return out
}

// strip draws a sign for each run, oldest first, and marks the selected one. On a narrow page, the oldest are
// omitted.
func (p *Page) strip(c pane.Context, w int) []widget.Span {
	if len(p.past.Runs) == 0 {
		return []widget.Span{{Role: theme.Dim, Text: textNoRun}}
	}
	var out []widget.Span
	n := len(p.past.Runs)
	for i := max(0, min(n-w+2, p.run)); i < n; i++ {
		r := &p.past.Runs[i]
		glyph, role := pane.Look(r.State)
		if r.Pings > 0 && r.State == fork.Done {
			glyph, role = theme.Message, theme.Ping
		}
		text := c.Theme.Glyph(glyph)
		if i == p.run {
			out = append(out, widget.Span{Role: theme.Accent, Text: "["}, widget.Span{Role: role, Text: text}, widget.Span{Role: theme.Accent, Text: "]"})
			continue
		}
		out = append(out, widget.Span{Role: role, Text: text})
	}
	if last := "  " + textLast(n, p.past.Rate.Runs); widget.Width(out)+widget.Cells(last) <= w {
		out = append(out, widget.Span{Role: theme.Dim, Text: last})
	}
	return out
}

// ran describes the selected run.
func ran(c pane.Context, r *fork.View) []widget.Span {
	text := clock(c, r.Started) + " · " + string(r.State)
	if !r.Started.IsZero() && !r.Ended.IsZero() {
		text += " · " + words.Elapsed(r.Ended.Sub(r.Started))
	}
	if cost := r.Spent(); cost != "" {
		text += " · " + cost
	}
	for _, said := range pane.OutcomeOf(c.Snap, r).Full {
		text += " · " + said.Text
	}
	out := []widget.Span{{Text: text}}
	if r.Error != "" {
		out = append(out, widget.Span{Role: theme.Warn, Text: "  " + r.Error})
	}
	return out
}

// took draws the durations of the runs.
func (p *Page) took(c pane.Context) []widget.Span {
	values := p.each(func(r *fork.View) float64 { return r.Ended.Sub(r.Started).Seconds() })
	longest := time.Duration(slices.Max(values) * float64(time.Second))
	return []widget.Span{{Role: theme.Accent, Text: chart.Spark(c.Theme, values)}, {Role: theme.Dim, Text: "  the longest " + words.Elapsed(longest)}}
}

func (p *Page) dollars() []float64 {
	return p.each(func(r *fork.View) float64 { return r.Usage.CostUSD })
}

// mean returns the average cost of a run.
func (p *Page) mean() string {
	values, sum := p.dollars(), 0.0
	for _, v := range values {
		sum += v
	}
	return words.Dollars(sum/float64(len(values))) + " a run"
}

// each returns a figure of every run; there must be at least one run.
func (p *Page) each(figure func(r *fork.View) float64) (values []float64) {
	for i := range p.past.Runs {
		values = append(values, max(0, figure(&p.past.Runs[i])))
	}
	return values
}

// pings describes how often a run pings and how soon pings are answered; at least one run must have ended.
func (p *Page) pings() []widget.Span {
	rate, answers := p.past.Rate, p.past.Answers
	out := []widget.Span{{Text: fmt.Sprintf("%d in %s", rate.Pings, words.Grouped(uint64(max(0, rate.Runs)), "run"))}}
	switch {
	case answers.Pings == 0:
	case answers.Pings == 1 && answers.Answered == 0:
		out = append(out, widget.Span{Role: theme.Warn, Text: " · the last was not answered"})
	case answers.Answered == 0:
		out = append(out, widget.Span{Role: theme.Warn, Text: fmt.Sprintf(" · none of the last %d answered", answers.Pings)})
	default:
		text := fmt.Sprintf(" · %d of %d answered, mostly after %s", answers.Answered, answers.Pings, words.Minutes(answers.Median))
		out = append(out, widget.Span{Role: theme.Dim, Text: text})
	}
	if answers.Useless > 0 {
		out = append(out, widget.Span{Role: theme.Warn, Text: fmt.Sprintf(" · %d %s", answers.Useless, budget.TextUseless)})
	}
	return out
}

// fires describes an upcoming fire and its forecast.
func fires(c pane.Context, next command.NextFire) []widget.Span {
	out := []widget.Span{{Text: clock(c, next.At)}, {Role: theme.Dim, Text: "  " + words.In(next.At, c.Snap.At)}}
	if next.Verdict == command.VerdictNone {
		return out
	}
	role, known := verdicts[next.Verdict]
	if !known {
		role = theme.Warn
	}
	return append(out, widget.Span{Role: role, Text: "  " + string(next.Verdict)})
}

// verdicts are the colours of forecasts that are not warnings.
var verdicts = map[command.Verdict]theme.Role{command.VerdictSure: theme.Good, command.VerdictQuiet: theme.Dim}

// promptRows draws as much of the prompt as fits, below a rule.
func (p *Page) promptRows(c pane.Context, w, h int) []widget.Row {
	if h < 2 {
		return nil
	}
	if p.text == nil {
		p.text = widget.NewReader(c.Names(action.Task))
	}
	var lines [][]widget.Span
	for _, l := range widget.Wrap(cmp.Or(p.prompt, "reading…"), max(1, w-2)) {
		lines = append(lines, []widget.Span{{Text: l}})
	}
	p.text.Show(lines)
	rows := widget.Rows(widget.Nowhere, p.text.Lines(c.Theme, w, h-1, false)...)
	title, state := []widget.Span{{Role: theme.Strong, Text: "Prompt"}}, []widget.Span{{Role: theme.Dim, Text: p.text.Where()}}
	return slices.Insert(rows, 0, widget.Row{Text: widget.Brush{Theme: c.Theme}.Rule(w, title, state), Place: widget.Ruled})
}

// clock formats a time within the days around now.
func clock(c pane.Context, at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return c.Snap.When(at, cron.Layouts{Today: "15:04", Else: "Mon 2 Jan 15:04"})
}
