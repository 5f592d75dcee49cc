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
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/query"
	"ollimbot/tui/widget/table"
)

// columns are those of the list. Where there is less room, COST goes first, then TIME; TASK and
// what came of the run stay. Figures have columns on a wide screen only.
func (k *book) columns() []table.Column[*row] {
	took := table.Number("TIME", 7, theme.Text, k.took, words.Elapsed)
	took.Essential = true
	return []table.Column[*row]{
		{Cells: 1, Essential: true, Cell: k.sign},
		{Head: "START", Descending: true, Essential: true, Cell: k.start, Compare: func(a, b *row) int { return a.started.Compare(b.started) }},
		{Head: "TASK", Least: 20, Cell: func(r *row) widget.Span { return widget.Span{Role: theme.Strong, Text: r.title} }},
		table.Number("PING", 5, theme.Ping, func(r *row) int { return r.pings }, strconv.Itoa),
		table.Number("REPORT", 7, theme.Report, func(r *row) int { return r.reports }, strconv.Itoa),
		table.Number("REFUSED", 8, theme.Warn, func(r *row) int { return r.refused }, strconv.Itoa),
		table.Number("TOOLS", 6, theme.Dim, func(r *row) int { return r.tools }, strconv.Itoa),
		table.Number("TOKENS", 7, theme.Dim, func(r *row) int { return r.tokens }, words.Big),
		table.Number("COST", 6, theme.Dim, func(r *row) float64 { return r.cost }, words.Cents),
		took,
	}
}

const (
	startColumn, firstFigure, lastFigure = 1, 3, 7
	// shortStart shows the day of a run or its time.
	shortStart = 7
	// From narrow cells on there is START, from figures on the long one and figures.
	narrow, figures = 40, 116
)

// states are what the key of states filters by, in turn.
var states = []string{"", "is:failed", "is:pinged", "is:done", "is:stopped"}

// book is the list: unseen failures and running and waiting runs above a rule, and finished
// runs below it, on the page all that are stored.
type book struct {
	pane.List[*row]
	past  past
	pins  int    // how many rows are above the rule
	made  string // what the rows below the rule were made of: how many have ended, and the failures above
	snap  *core.Snapshot
	theme *theme.Theme
}

// fill brings the list up to a snapshot: above the rule are the running runs, the newest
// first, then those that wait, then the pinned failures.
func (k *book) fill(s *core.Snapshot, pinned []fork.View) {
	k.snap = s
	k.past.ended(s.Forks)
	var above []*row
	for i := range s.Forks {
		f := &s.Forks[i]
		if !f.Live() {
			continue
		}
		r := rowOf(f)
		if f.State == fork.Waiting {
			r.why = queued(s, *f)
		}
		above = append(above, r)
	}
	slices.SortStableFunc(above, func(a, b *row) int { return b.started.Compare(a.started) })
	made := strconv.Itoa(len(k.past.known))
	for i := range pinned {
		above = append(above, rowOf(&pinned[i]))
		made += " " + pinned[i].ID
	}
	k.Pin(above)
	k.pins, k.More = len(above), !k.past.all()
	if made != k.made {
		k.made = made
		k.Fill(slices.DeleteFunc(slices.Clone(k.past.rows), func(r *row) bool {
			return slices.ContainsFunc(pinned, func(f fork.View) bool { return f.ID == r.id })
		}))
	}
}

// fit makes the columns fit a width.
func (k *book) fit(t *theme.Theme, w int) {
	k.theme = t
	start := &k.Columns[startColumn]
	start.Cells, start.Hidden = shortStart, w < narrow
	if w >= figures {
		start.Cells += k.snap.ClockCells() // the day and the time
	}
	for i := firstFigure; i <= lastFigure; i++ {
		k.Columns[i].Hidden = w < figures
	}
}

// run is the id of the selected row, "" for none.
func (k *book) run() string {
	if r, ok := k.Row(); ok {
		return r.id
	}
	return ""
}

// choose selects a run and reports whether it is shown.
func (k *book) choose(id string) bool { return k.Select(func(r *row) bool { return r.id == id }) }

// hungry reports that there are runs to be read.
func (k *book) hungry() bool { return !k.past.all() && (k.NearEnd() || k.NeedsAll()) }

func (k *book) sign(r *row) widget.Span {
	glyph, role := pane.Look(r.state)
	return widget.Span{Role: role, Text: k.theme.Glyph(glyph)}
}

// start is when a run began, as much of it as the column has room for: the time of
// today's, else the day.
func (k *book) start(r *row) widget.Span {
	if r.started.IsZero() {
		return widget.Span{}
	}
	layouts := cron.Layouts{Today: "15:04", Else: "2 Jan"}
	if k.Columns[startColumn].Cells > shortStart {
		layouts.Else = "2 Jan 15:04"
	}
	return widget.Span{Role: theme.Dim, Text: k.snap.When(r.started, layouts)}
}

// took is how long a run has taken, which is more than nothing once it has begun.
func (k *book) took(r *row) time.Duration {
	end := r.ended
	if end.IsZero() {
		end = k.snap.At
	}
	if r.started.IsZero() {
		return 0
	}
	return max(1, end.Sub(r.started))
}

// facts are what a filter finds a run by.
func (k *book) facts(r *row) query.Facts {
	view := r.view()
	return query.Facts{
		Text: r.title + " " + string(r.state) + " " + k.start(r).Text + " " + k.outcome(r).Text,
		At:   k.snap.Local(r.started), Now: k.snap.Local(k.snap.At), Is: append(pane.OutcomeOf(k.snap, &view).Is, string(r.kind)),
	}
}

// outcome is what came of a run, why it failed, or what it does.
func (k *book) outcome(r *row) widget.Span {
	view := r.view()
	said := pane.OutcomeOf(k.snap, &view).Full
	if r.late && !strings.HasPrefix(r.why, textLate) { // its first line says the same at more length
		said = slices.Insert(said, 0, widget.Span{Role: theme.Warn, Text: textLate})
	}
	switch {
	case r.warned || r.late && r.why != "":
		said = append(said, widget.Span{Role: theme.Warn, Text: r.why})
	case r.why != "":
		said = append(said, widget.Span{Role: theme.Dim, Text: r.why})
	case len(said) == 0 || r.state != fork.Done:
		said = append(said, widget.Span{Role: theme.Dim, Text: string(r.state)})
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

// Summary is a run in words, for lists without a screen.
type Summary struct {
	Outcome string        // what came of it, why it failed, or what it does
	Took    time.Duration // 0 if it has not begun
	Facts   query.Facts   // what a filter finds it by
}

// Summarize puts a run into words.
func Summarize(s *core.Snapshot, f fork.View) Summary {
	k := New().book
	k.snap = s
	r := rowOf(&f)
	if f.State == fork.Waiting {
		r.why = queued(s, f)
	}
	t := Summary{Outcome: k.outcome(r).Text, Took: k.took(r), Facts: k.facts(r)}
	if f.State != fork.Done && !strings.Contains(t.Outcome, string(f.State)) { // the list has a sign for it
		t.Outcome = words.Joined(string(f.State), t.Outcome)
	}
	return t
}

// row is a run as the list keeps it: ten thousand of them take three megabytes.
type row struct {
	id, title, task, session string
	kind                     routines.Kind
	state                    fork.State
	why                      string // why it failed, or what it does
	warned, late             bool   // its tools are off; it fired late
	started, ended           time.Time
	pings, reports, refused  int
	tools, tokens            int
	cost                     float64 // dollars
}

func rowOf(f *fork.View) *row {
	r := &row{
		id: f.ID, title: f.Title, task: f.TaskID, session: f.Session, kind: f.Kind, state: f.State, why: f.Error, late: f.Late,
		started: f.Started, ended: f.Ended, pings: f.Pings, reports: f.Reports, refused: f.Refused,
		tools: f.Tools, tokens: f.Usage.Tokens(), cost: f.Usage.CostUSD,
	}
	switch {
	case r.why != "":
	case f.Label != "" && !f.Trusted:
		r.why, r.warned = fmt.Sprintf(textLabeled, f.Label), true
	case f.State == fork.Running:
		r.why = f.Activity
	}
	return r
}

// view is the run as far as it is kept.
func (r *row) view() fork.View {
	f := fork.View{
		ID: r.id, Kind: r.kind, TaskID: r.task, Title: r.title, State: r.state, Session: r.session, Late: r.late,
		Started: r.started, Ended: r.ended, Pings: r.pings, Reports: r.reports, Refused: r.refused,
	}
	if !r.warned { // otherwise the note is about what it read
		f.Error = r.why
	}
	return f
}

// past are the runs that have ended, as far as they were read, newest first.
type past struct {
	rows    []*row
	known   map[string]*row
	next    command.Mark
	damaged int
	whole   bool // there is nothing more to read, or reading has failed
}

// pageRows is how many runs are read at once, mostRows how many are kept.
const (
	pageRows = 250
	mostRows = 50_000
)

// all reports that there is nothing more to read.
func (p *past) all() bool { return p.whole || len(p.rows) >= mostRows }

// ended takes over runs of a snapshot that have ended, newest first, which are newer
// than what was read.
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

// add adds a run to rows if it was not known.
func (p *past) add(rows []*row, f *fork.View) []*row {
	if p.known[f.ID] != nil {
		return rows
	}
	p.known[f.ID] = rowOf(f)
	return append(rows, p.known[f.ID])
}

// read adds a page of stored runs.
func (p *past) read(page *fork.Page) {
	p.next, p.whole, p.damaged = page.Next, page.All, p.damaged+page.Damaged
	for i := range page.Runs {
		p.rows = p.add(p.rows, &page.Runs[i])
	}
}

// find is the run of an id among them, as far as it is kept.
func (p *past) find(id string) (f fork.View, ok bool) {
	if r := p.known[id]; r != nil {
		return r.view(), true
	}
	return f, false
}
