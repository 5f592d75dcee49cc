package forks

import (
	"cmp"
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
	"ollimbot/tui/widget/table"
)

// columns are those of the list, the first one at the left. Where there is less room
// they go from the right: $ first, then TOKENS and so on to PING, then TIME. In few
// cells START goes too and STATE becomes its sign; TASK stays.
func (k *book) columns() []table.Column[*row] {
	dollars := func(v float64) string { return strings.TrimPrefix(words.Dollars(v), "$") }
	took := table.Number("TIME", 6, theme.Text, k.took, words.Elapsed)
	took.Essential = true
	return []table.Column[*row]{
		{Head: "START", Cells: shortStart, Descending: true, Essential: true, Cell: k.start, Compare: func(a, b *row) int { return a.started.Compare(b.started) }},
		{Head: "STATE", Cells: stateCells, Essential: true, Cell: k.state, Compare: func(a, b *row) int { return cmp.Compare(a.state, b.state) }},
		{Head: "TASK", Least: 14, Most: 34, Cell: func(r *row) widget.Span { return widget.Span{Role: theme.Strong, Text: r.title} }},
		table.Number("PING", 5, theme.Ping, func(r *row) int { return r.pings }, strconv.Itoa),
		table.Number("REPORT", 7, theme.Report, func(r *row) int { return r.reports }, strconv.Itoa),
		table.Number("REFUSED", 8, theme.Warn, func(r *row) int { return r.refused }, strconv.Itoa),
		table.Number("TOOLS", 6, theme.Dim, func(r *row) int { return r.tools }, strconv.Itoa),
		table.Number("TOKENS", 7, theme.Dim, func(r *row) int { return r.tokens }, words.Big),
		table.Number("$", 6, theme.Dim, func(r *row) float64 { return r.cost }, dollars),
		took,
	}
}

const (
	startColumn, stateColumn = 0, 1
	// shortStart shows the day of a run or its time; longStart both, from wideStart
	// cells on.
	shortStart, longStart = 7, 14
	wideStart             = 96
	// stateCells hold the longest state; below narrow cells its sign stands alone.
	stateCells, signCells = 13, 1
	narrow                = 40
)

// states are what the key of states filters by, in turn.
var states = []string{"", "is:failed", "is:pinged", "is:done", "is:stopped"}

// book is the list: unseen failures and running and waiting runs above a rule, and finished
// runs below it, on the page all that are stored.
type book struct {
	pane.List[*row]
	past  past
	made  string // what the rows below the rule were made of: how many have ended, and the failures above
	snap  *core.Snapshot
	theme *theme.Theme
}

// fill brings the list up to a snapshot. pinned are the failures that stand above
// everything, also above what runs and waits.
func (k *book) fill(s *core.Snapshot, pinned []fork.View) {
	k.snap = s
	k.past.ended(s.Forks)
	var above []*row
	made := strconv.Itoa(len(k.past.known))
	for i, f := range slices.Concat(pinned, s.Forks) {
		if i >= len(pinned) && !f.Live() {
			continue
		}
		r := rowOf(&f)
		if f.State == fork.Waiting {
			r.why = queued(s, f)
		}
		above = append(above, r)
		if i < len(pinned) {
			made += " " + f.ID
		}
	}
	k.Pin(above)
	k.More = !k.past.all()
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
	start, state := &k.Columns[startColumn], &k.Columns[stateColumn]
	start.Cells, start.Hidden, state.Cells, state.Head = shortStart, w < narrow, stateCells, "STATE"
	switch {
	case w >= wideStart:
		start.Cells = longStart
	case w < narrow:
		state.Cells, state.Head = signCells, ""
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

func (k *book) state(r *row) widget.Span {
	glyph, role := pane.Look(r.state)
	text := k.theme.Glyph(glyph)
	if k.Columns[stateColumn].Cells != signCells {
		text += " " + string(r.state)
	}
	return widget.Span{Role: role, Text: text}
}

// start is when a run began, as much of it as the column has room for: the time of
// today's, else the day.
func (k *book) start(r *row) widget.Span {
	if r.started.IsZero() {
		return widget.Span{}
	}
	layouts := cron.Layouts{Today: "15:04", Else: "2 Jan"}
	if k.Columns[startColumn].Cells == longStart {
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

// text is all that a filter finds a run by: what can be read of it, and states.
func (k *book) text(r *row) string {
	text := r.title + " " + string(r.state) + " " + k.start(r).Text + " " + r.why
	switch {
	case r.state.Failed():
		text += " is:failed"
	case r.state == fork.Done:
		text += " is:done"
	case r.state == fork.Stopped, r.state == fork.Interrupted:
		text += " is:stopped"
	}
	if r.pings > 0 {
		text += " is:pinged"
	}
	return text
}

// note is why a run failed, or what it does.
func note(r *row) widget.Span {
	text, role := r.why, theme.Dim
	if r.warned {
		role = theme.Warn
	}
	if r.late {
		role = theme.Warn
		if !strings.HasPrefix(text, textLate) { // its first line says the same at more length
			text = strings.TrimSuffix(textLate+" · "+text, " · ")
		}
	}
	return widget.Span{Role: role, Text: text}
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
	r := p.known[id]
	if r == nil {
		return f, false
	}
	f = fork.View{ID: r.id, Kind: r.kind, TaskID: r.task, Title: r.title, State: r.state, Session: r.session}
	if !r.warned { // otherwise the note is about what it read
		f.Error = r.why
	}
	return f, true
}
