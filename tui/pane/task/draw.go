package task

import (
	"cmp"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/fork"
	"ollimbot/core/words"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

// leastPrompt is how many lines of the prompt are shown before a low page says all of
// the rest.
const leastPrompt = 3

// fact is a line of the page and how dearly it is needed: 0 goes last.
type fact struct {
	row  widget.Row
	rank int
}

// Draw implements pane.Pane.
func (p *Page) Draw(c pane.Context, w, h int, _ bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	t := p.task(c)
	if t == nil {
		if p.id != "" {
			return widget.Rows(widget.Nowhere, b.Empty(w, h, textGone, textBringBack(c.Names(action.Task)))...)
		}
		return widget.Rows(widget.Nowhere, b.Empty(w, h, textNoTask)...)
	}
	facts := p.facts(c, t, w)
	for room := max(1, h-leastPrompt-1); len(facts) > room; {
		worst := 0
		for i, f := range facts {
			if f.rank >= facts[worst].rank {
				worst = i
			}
		}
		facts = append(facts[:worst], facts[worst+1:]...)
	}
	rows := make([]widget.Row, 0, h)
	for _, f := range facts {
		rows = append(rows, f.row)
	}
	return widget.FillRows(append(rows, p.told(c, w, h-len(rows))...), w, h)
}

// facts are the lines above the prompt.
func (p *Page) facts(c pane.Context, t *schedule.TaskView, w int) []fact {
	b := widget.Brush{Theme: c.Theme}
	line := func(rank int, at widget.Place, spans ...widget.Span) fact {
		return fact{widget.Row{Text: b.Line(w, append([]widget.Span{{Text: " "}}, spans...)...), Place: at}, rank}
	}
	named := func(rank int, at widget.Place, name string, spans ...widget.Span) fact {
		return line(rank, at, append([]widget.Span{{Role: theme.Dim, Text: widget.Fit(name, nameCells)}}, spans...)...)
	}
	out := []fact{
		line(0, widget.Nowhere, widget.Span{Role: theme.Strong, Text: t.Title}, widget.Span{Role: theme.Dim, Text: "  " + cmp.Or(t.When, t.Label)}),
		line(6, widget.Nowhere, kind(t)...),
	}
	if why := cmp.Or(t.Waits, p.failed); why != "" {
		out = append(out, line(2, widget.Nowhere, widget.Span{Role: theme.Warn, Text: c.Theme.Glyph(theme.Bang) + " " + why}))
	}
	if p.past == nil {
		return out
	}
	blank := fact{widget.Row{Text: widget.Blank(w), Place: widget.Nowhere}, 7}
	out = append(out, blank, named(1, widget.Inner, textRuns, p.strip(c, w-nameCells-2)...))
	if r := p.selected(); r != nil {
		out = append(out, named(2, widget.Inner, "", ran(c, r)...),
			named(5, widget.Nowhere, textTook, p.took(c)...), named(5, widget.Nowhere, textCost, p.cost(c)...))
	}
	out = append(out, named(3, widget.Nowhere, textPings, p.pings()...), blank)
	for i, next := range p.past.Next {
		name := textNext
		if i > 0 {
			name = ""
		}
		out = append(out, named(1+2*i, widget.Nowhere, name, fires(c, next)...))
	}
	if len(p.past.Next) == 0 {
		out = append(out, named(1, widget.Nowhere, textNext, widget.Span{Role: theme.Dim, Text: textNever}))
	}
	return out
}

// nameCells is how wide the column of names is.
const nameCells = 10

// kind is what the task is, and what it may.
func kind(t *schedule.TaskView) []widget.Span {
	text := textBackground
	switch {
	case t.Foreground:
		text = textForeground
	case t.Silent:
		text = textSilent
	}
	out := []widget.Span{{Role: theme.Dim, Text: string(t.Kind) + " · " + text}}
	if t.Paused {
		out = append(out, widget.Span{Role: theme.Warn, Text: " · " + textPaused})
	}
	return out
}

// sign is how a run went, in one cell.
func sign(t *theme.Theme, r *fork.View) (string, theme.Role) {
	switch {
	case r.State.Failed():
		return t.Glyph(theme.Cross), theme.Bad
	case r.State == fork.Stopped || r.State == fork.Interrupted:
		return t.Glyph(theme.Stopped), theme.Dim
	case r.Pings > 0:
		return t.Glyph(theme.Message), theme.Ping
	}
	return t.Glyph(theme.Check), theme.Good
}

// strip is a sign for each run, the oldest first; the one that is looked at is marked.
// Where there is little room the oldest are left out.
func (p *Page) strip(c pane.Context, w int) []widget.Span {
	if len(p.past.Runs) == 0 {
		return []widget.Span{{Role: theme.Dim, Text: textNoRunYet}}
	}
	var out []widget.Span
	n := len(p.past.Runs)
	for i := max(0, min(n-w+2, p.run)); i < n; i++ {
		text, role := sign(c.Theme, &p.past.Runs[i])
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

// ran is the run that is looked at, in words.
func ran(c pane.Context, r *fork.View) []widget.Span {
	text := clock(c, r.Started) + " · " + string(r.State)
	if !r.Started.IsZero() && !r.Ended.IsZero() {
		text += " · " + words.Elapsed(r.Ended.Sub(r.Started))
	}
	text += " · " + words.Dollars(r.Usage.CostUSD)
	if r.Pings > 0 {
		text += " · " + words.Count(r.Pings, "ping")
	}
	if r.Refused > 0 {
		text += " · " + textRefused(r.Refused)
	}
	out := []widget.Span{{Text: text}}
	if r.Error != "" {
		out = append(out, widget.Span{Role: theme.Warn, Text: "  " + r.Error})
	}
	return out
}

// took is how long the runs have taken.
func (p *Page) took(c pane.Context) []widget.Span {
	values, longest := make([]float64, 0, len(p.past.Runs)), time.Duration(0)
	for i := range p.past.Runs {
		r := &p.past.Runs[i]
		d := max(0, r.Ended.Sub(r.Started))
		values, longest = append(values, d.Seconds()), max(longest, d)
	}
	return append(chart.Spark(c.Theme, values, 0), widget.Span{Role: theme.Dim, Text: "  " + textLongest + words.Elapsed(longest)})
}

// cost is what the runs have cost.
func (p *Page) cost(c pane.Context) []widget.Span {
	values, sum := make([]float64, 0, len(p.past.Runs)), 0.0
	for i := range p.past.Runs {
		v := max(0, p.past.Runs[i].Usage.CostUSD)
		values, sum = append(values, v), sum+v
	}
	return append(chart.Spark(c.Theme, values, 0), widget.Span{Role: theme.Dim, Text: "  " + words.Dollars(sum/float64(max(1, len(values)))) + textARun})
}

// pings is how often a run pings and how soon that is answered.
func (p *Page) pings() []widget.Span {
	rate, answers := p.past.Rate, p.past.Answers
	if rate.Runs == 0 {
		return []widget.Span{{Role: theme.Dim, Text: textNoRunYet}}
	}
	out := []widget.Span{{Text: textRate(rate)}}
	switch {
	case answers.Pings == 0:
	case answers.Answered == 0:
		out = append(out, widget.Span{Role: theme.Warn, Text: " · " + textNoneAnswered(answers.Pings)})
	default:
		out = append(out, widget.Span{Role: theme.Dim, Text: " · " + textAnswers(answers)})
	}
	return out
}

// fires is a fire to come and what the forecast says of it.
func fires(c pane.Context, next command.NextFire) []widget.Span {
	out := []widget.Span{{Text: clock(c, next.At)}, {Role: theme.Dim, Text: "  " + words.Ahead(next.At.Sub(c.Snap.At))}}
	role := theme.Warn
	switch next.Verdict {
	case command.VerdictNone:
		return out
	case command.VerdictSure:
		role = theme.Good
	case command.VerdictQuiet:
		role = theme.Dim
	}
	return append(out, widget.Span{Role: role, Text: "  " + string(next.Verdict)})
}

// told is the prompt below a rule, as much of it as fits.
func (p *Page) told(c pane.Context, w, h int) []widget.Row {
	if h < 2 {
		return nil
	}
	b := widget.Brush{Theme: c.Theme}
	text := p.prompt
	if text == "" {
		text = textReading
	}
	lines := widget.Wrap(text, max(1, w-2))
	p.total, p.lines = len(lines), h-1
	p.top = max(0, min(p.top, p.total-p.lines))
	end := min(p.total, p.top+p.lines)
	where := ""
	if p.total > p.lines {
		where = textLines(p.top+1, end, p.total)
	}
	head := b.Rule(w, []widget.Span{{Role: theme.Strong, Text: textPrompt}}, []widget.Span{{Role: theme.Dim, Text: where}})
	rows := []widget.Row{{Text: head, Place: widget.Ruled}}
	for _, l := range lines[p.top:end] {
		rows = append(rows, widget.Row{Text: b.Line(w, widget.Span{Text: " " + l}), Place: widget.Nowhere})
	}
	return rows
}

// clock is a moment of the days around now.
func clock(c pane.Context, at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return c.Snap.When(at, cron.Layouts{Today: "15:04", Else: "Mon 2 Jan 15:04"})
}
