package forks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/routines/cron"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/query"
	"ollimbot/tui/widget/table"
)

// columns returns the columns of the list. If there is less room, COST is dropped first, then TIME; TASK and the
// outcome stay. Figures have columns only on a wide screen.
func (k *book) columns() []table.Column[*row] {
	took := table.Number("TIME", 7, theme.Text, k.took, words.Elapsed)
	took.Essential = true
	return []table.Column[*row]{
		{Cells: 1, Essential: true, Cell: k.sign},
		{Head: "START", Descending: true, Essential: true, Cell: k.start, Compare: func(a, b *row) int { return a.Started.Compare(b.Started) }},
		{Head: "TASK", Least: 20, Cell: func(r *row) widget.Span { return widget.Span{Role: k.faded(r), Text: r.Title} }},
		table.Number("PING", 5, theme.Ping, func(r *row) int { return r.Pings }, strconv.Itoa),
		table.Number("REPORT", 7, theme.Report, func(r *row) int { return r.Reports }, strconv.Itoa),
		table.Number("REFUSED", 8, theme.Warn, func(r *row) int { return r.Refused }, strconv.Itoa),
		table.Number("TOOLS", 6, theme.Dim, func(r *row) int { return r.Tools }, strconv.Itoa),
		table.Number("TOKENS", 7, theme.Dim, func(r *row) int { return r.Usage.Tokens() }, words.Big),
		table.Number("COST", 6, theme.Dim, func(r *row) float64 { return r.Usage.CostUSD }, words.Cents),
		took,
	}
}

const (
	startColumn, firstFigure, lastFigure = 1, 3, 7
	// shortStart shows the day of a run or its time.
	shortStart = 7
	// The widths from which START is shown, and the long START with figures.
	narrow, figures = 40, 116
)

// states are the filters that the state key cycles through.
var states = []string{"", "is:failed", "is:pinged", "is:done", "is:stopped"}

// row is a run of the list.
type row = fork.View

// book is the list: unseen failures, running and waiting runs above a rule, and finished runs below it; on a page,
// all stored runs.
type book struct {
	pane.List[*row]
	past  past
	pins  int    // number of rows above the rule
	made  string // the input of the rows below the rule: the number of ended runs, and the failures above
	snap  *core.Snapshot
	theme *theme.Theme
	fresh func(at time.Time) bool
}

// fill updates the list from a snapshot: above the rule are the running runs, newest first, then the waiting ones,
// then the pinned failures.
func (k *book) fill(s *core.Snapshot, pinned []fork.View) {
	k.snap = s
	k.past.ended(s.Forks)
	var above []*row
	for i := range s.Forks {
		if s.Forks[i].Live() {
			above = append(above, &s.Forks[i])
		}
	}
	slices.SortStableFunc(above, func(a, b *row) int { return b.Started.Compare(a.Started) })
	made := strconv.Itoa(len(k.past.known))
	for i := range pinned {
		above = append(above, &pinned[i])
		made += " " + pinned[i].ID
	}
	k.Pin(above)
	k.pins, k.More = len(above), !k.past.all()
	if made != k.made {
		k.made = made
		k.Fill(slices.DeleteFunc(slices.Clone(k.past.rows), func(r *row) bool {
			return slices.ContainsFunc(pinned, func(f fork.View) bool { return f.ID == r.ID })
		}))
	}
}

// fit fits the columns to a width.
func (k *book) fit(c pane.Context, w int) {
	k.theme, k.fresh = c.Theme, c.Fresh
	start := &k.Columns[startColumn]
	start.Cells, start.Hidden = shortStart, w < narrow
	if w >= figures {
		start.Cells += k.snap.ClockCells() // the day and the time
	}
	for i := firstFigure; i <= lastFigure; i++ {
		k.Columns[i].Hidden = w < figures
	}
}

// run returns the ID of the selected row, or "".
func (k *book) run() string {
	if r, ok := k.Row(); ok {
		return r.ID
	}
	return ""
}

// choose selects a run and reports whether it is shown.
func (k *book) choose(id string) bool { return k.Select(func(r *row) bool { return r.ID == id }) }

// hungry reports whether there are more runs to read.
func (k *book) hungry() bool { return !k.past.all() && (k.NearEnd() || k.NeedsAll()) }

func (k *book) sign(r *row) widget.Span {
	glyph, role := pane.Look(r.State)
	return widget.Span{Role: role, Text: k.theme.Glyph(glyph)}
}

// start returns when a run started, as far as the column has room: the time if it was today, else the day.
func (k *book) start(r *row) widget.Span {
	if r.Started.IsZero() {
		return widget.Span{}
	}
	layouts := cron.Layouts{Today: "15:04", Else: "2 Jan"}
	if k.Columns[startColumn].Cells > shortStart {
		layouts.Else = "2 Jan 15:04"
	}
	role := theme.Dim
	if k.fresh(r.Started) {
		role = theme.Here
	}
	return widget.Span{Role: role, Text: k.snap.When(r.Started, layouts)}
}

// faded returns the role of a run's title: the older the run, the less it stands out.
func (k *book) faded(r *row) theme.Role {
	switch {
	case r.Ended.IsZero() || r.State.Failed() || k.snap.At.Sub(r.Ended) < time.Hour:
		return theme.Strong
	case k.snap.IsToday(r.Started):
		return theme.Text
	}
	return theme.Dim
}

// took returns a run's duration, which is positive once it has started.
func (k *book) took(r *row) time.Duration {
	end := r.Ended
	if end.IsZero() {
		end = k.snap.At
	}
	if r.Started.IsZero() {
		return 0
	}
	return max(1, end.Sub(r.Started))
}

// facts returns the searchable properties of a run.
func (k *book) facts(r *row) query.Facts {
	return query.Facts{
		Text: r.Title + " " + string(r.State) + " " + k.start(r).Text + " " + k.outcome(r).Text,
		At:   k.snap.Local(r.Started), Now: k.snap.Local(k.snap.At), Is: append(pane.OutcomeOf(k.snap, r).Is, string(r.Kind)),
	}
}

// outcome describes a run's result, failure or current activity.
func (k *book) outcome(r *row) widget.Span {
	said, why := pane.OutcomeOf(k.snap, r).Full, r.Error
	warned := why == "" && r.Label != "" && !r.Trusted // its tools are off
	switch {
	case warned:
		why = fmt.Sprintf(textLabeled, r.Label)
	case why == "" && r.State == fork.Running:
		why = r.Activity
	case r.State == fork.Waiting:
		why = queued(k.snap, *r)
	}
	if r.Late && !strings.HasPrefix(why, textLate) { // its first line has the same information
		said = slices.Insert(said, 0, widget.Span{Role: theme.Warn, Text: textLate})
	}
	switch {
	case warned || r.Late && why != "":
		said = append(said, widget.Span{Role: theme.Warn, Text: why})
	case why != "":
		said = append(said, widget.Span{Role: theme.Dim, Text: why})
	case len(said) == 0 || r.State != fork.Done:
		said = append(said, widget.Span{Role: theme.Dim, Text: string(r.State)})
	}
	out := said[0]
	for _, more := range said[1:] {
		out.Text += " · " + more.Text
		if out.Role == theme.Dim {
			out.Role = more.Role
		}
	}
	return out
}

// Summary is a run as text, for plain mode.
type Summary struct {
	Outcome string        // its result, failure or current activity
	Took    time.Duration // 0 if it has not started
	Facts   query.Facts   // its searchable properties
}

// Summarize describes a run as text.
func Summarize(s *core.Snapshot, f fork.View) Summary {
	k := New().book
	k.snap = s
	t := Summary{Outcome: k.outcome(&f).Text, Took: k.took(&f), Facts: k.facts(&f)}
	if f.State != fork.Done && !strings.Contains(t.Outcome, string(f.State)) { // the list shows a sign instead
		t.Outcome = words.Joined(string(f.State), t.Outcome)
	}
	return t
}

// past is the ended runs read so far, newest first.
type past struct {
	rows    []*row
	known   map[string]*row
	next    command.Mark
	damaged int
	whole   bool // everything was read, or reading has failed
}

// pageRows is the number of runs read at once, mostRows the number kept.
const (
	pageRows = 250
	mostRows = 50_000
)

// all reports whether everything was read.
func (p *past) all() bool { return p.whole || len(p.rows) >= mostRows }

// ended adds a snapshot's ended runs, newest first, that are newer than those read.
func (p *past) ended(runs []fork.View) {
	var fresh []*row
	for i := range runs {
		if !runs[i].Live() {
			fresh = p.add(fresh, &runs[i])
		}
	}
	if len(fresh) > 0 {
		p.rows = append(fresh, p.rows...)
	}
}

// add adds a run to rows unless it is already listed.
func (p *past) add(rows []*row, f *fork.View) []*row {
	if p.known[f.ID] != nil {
		return rows
	}
	kept := *f // not the whole list of its snapshot
	p.known[f.ID] = &kept
	return append(rows, &kept)
}

// read adds a page of stored runs.
func (p *past) read(page *fork.Page) {
	p.next, p.whole, p.damaged = page.Next, page.All, p.damaged+page.Damaged
	for i := range page.Runs {
		p.rows = p.add(p.rows, &page.Runs[i])
	}
}

// find returns the stored part of the run with an ID.
func (p *past) find(id string) (f fork.View, ok bool) {
	if r := p.known[id]; r != nil {
		return *r, true
	}
	return f, false
}
