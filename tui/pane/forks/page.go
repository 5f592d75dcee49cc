package forks

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/fork"
	"ollimbot/core/words"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// The page of runs: the pane when it has the whole body. It has every run that is
// stored, in a table; failures that nobody has looked at and what runs and waits stand
// above its rule.

// The columns of the page, the first one at the left. Where there is less room they go
// from the right: TIME first, then $, TOKENS and so on; TASK stays.
const (
	startColumn = iota
	stateColumn
	taskColumn
	pingColumn
	reportColumn
	refusedColumn
	toolsColumn
	tokensColumn
	costColumn
	tookColumn
)

func pageColumns() []table.Column {
	return []table.Column{
		startColumn:   {Head: "START", Cells: shortStart, Falls: true},
		stateColumn:   {Head: "STATE", Cells: 13},
		taskColumn:    {Head: "TASK", Least: 14, Most: 34},
		pingColumn:    {Head: "PING", Cells: 5, Right: true, Falls: true},
		reportColumn:  {Head: "REPORT", Cells: 7, Right: true, Falls: true},
		refusedColumn: {Head: "REFUSED", Cells: 8, Right: true, Falls: true},
		toolsColumn:   {Head: "TOOLS", Cells: 6, Right: true, Falls: true},
		tokensColumn:  {Head: "TOKENS", Cells: 7, Right: true, Falls: true},
		costColumn:    {Head: "$", Cells: 6, Right: true, Falls: true},
		tookColumn:    {Head: "TIME", Cells: 6, Right: true, Falls: true},
	}
}

const (
	// shortStart shows the day of a run or its time; longStart both, from wideStart
	// cells on.
	shortStart, longStart = 7, 13
	wideStart             = 96
)

// class is which runs the page shows, by their state.
type class uint8

const (
	everyRun class = iota
	failedRuns
	pingedRuns
	doneRuns
	stoppedRuns
	numClasses
)

// has reports whether a run is of the class.
func (c class) has(r *row) bool {
	switch c {
	case failedRuns:
		return r.state.Failed()
	case pingedRuns:
		return r.pings > 0
	case doneRuns:
		return r.state == fork.Done
	case stoppedRuns:
		return r.state == fork.Stopped || r.state == fork.Interrupted
	}
	return true
}

// book is what the page shows: rows above the rule, and which of the past stand below
// it.
type book struct {
	table table.Table
	past  past
	class class
	above []row
	was   []row // above, as it was before
	look  uint64
	body  []int32
	made  made // what body was made of
	from  uint64
	zone  *time.Location
	now   time.Time
	theme *theme.Theme
}

// made is what the rows below the rule depend on.
type made struct {
	version uint64
	class   class
	pins    string
}

// fill brings the page up to a snapshot. pinned are the failures that stand above
// everything, live what runs and waits.
func (k *book) fill(s *core.Snapshot, pinned, live []fork.View) {
	if k.table.Columns == nil {
		k.table.Columns = pageColumns()
	}
	second, day := k.now.Unix() != s.At.Unix(), k.now.Day() != s.At.Day()
	k.zone, k.now = s.Zone, s.At
	k.past.ended(s.Forks)
	k.above, k.was = k.was[:0], k.above
	pins := ""
	for i := range pinned {
		k.put(&pinned[i])
		pins += pinned[i].ID
	}
	for i := range live {
		k.put(&live[i])
	}
	if now := (made{k.past.version, k.class, pins}); now != k.made || k.from == 0 {
		k.made = now
		k.from++
		k.body = k.body[:0]
		for i := range k.past.rows {
			r := &k.past.rows[i]
			if k.class.has(r) && !strings.Contains(pins, r.name()) {
				k.body = append(k.body, int32(i))
			}
		}
	}
	if day || second && len(live) > 0 || !slices.Equal(k.above, k.was) {
		k.look++
	}
	k.table.Fill(table.Source{
		Len: len(k.above) + len(k.body), Above: len(k.above), Version: k.from, Look: k.look,
		Cell: k.cell, Text: k.text, Compare: k.compare, Note: k.note,
	})
}

func (k *book) put(f *fork.View) {
	if r, ok := k.past.pack(f); ok && k.class.has(&r) {
		k.above = append(k.above, r)
	}
}

// at is a row of the table.
func (k *book) at(i int) *row {
	if i < len(k.above) {
		return &k.above[i]
	}
	return &k.past.rows[k.body[i-len(k.above)]]
}

// run is the id of the selected row, "" for none.
func (k *book) run() string {
	if i := k.table.Row(); i >= 0 {
		return k.at(i).name()
	}
	return ""
}

// choose selects a run and reports whether it is shown.
func (k *book) choose(id string) bool {
	if k.run() == id {
		return true
	}
	n, ok := runID(id)
	for i := range len(k.above) + len(k.body) {
		if ok && k.at(i).id == n {
			return k.table.Select(i)
		}
	}
	return false
}

// turn goes on to the next class of runs.
func (k *book) turn() { k.class = (k.class + 1) % numClasses }

// hungry reports that there are runs to be read.
func (k *book) hungry() bool {
	return !k.past.all() && (k.table.Near() || k.table.Whole() || k.class != everyRun)
}

func (k *book) cell(i, column int) widget.Span {
	r := k.at(i)
	switch column {
	case startColumn:
		return widget.Span{Role: theme.Dim, Text: k.start(r)}
	case stateColumn:
		look := looks[r.state]
		return widget.Span{Role: look.role, Text: k.theme.Glyph(look.glyph) + " " + string(r.state)}
	case taskColumn:
		return widget.Span{Role: theme.Strong, Text: r.title}
	case pingColumn:
		return number(theme.Ping, r.pings)
	case reportColumn:
		return number(theme.Report, r.reports)
	case refusedColumn:
		return number(theme.Warn, r.refused)
	case toolsColumn:
		return number(theme.Dim, r.tools)
	case tokensColumn:
		if r.tokens > 0 {
			return widget.Span{Role: theme.Dim, Text: words.Big(int(r.tokens))}
		}
	case costColumn:
		if r.cost > 0 {
			return widget.Span{Role: theme.Dim, Text: strings.TrimPrefix(cost(float64(r.cost)), "$")}
		}
	case tookColumn:
		if r.started > 0 {
			return widget.Span{Text: words.Elapsed(k.took(r))}
		}
	}
	return table.Blank()
}

func number(role theme.Role, n int32) widget.Span {
	if n == 0 {
		return table.Blank()
	}
	return widget.Span{Role: role, Text: strconv.Itoa(int(n))}
}

// start is when a run began, as much of it as the column has room for: the time of
// today's, else the day.
func (k *book) start(r *row) string {
	if r.started == 0 {
		return ""
	}
	at := time.Unix(r.started, 0).In(k.zone)
	switch {
	case words.SameDay(at, k.now, k.zone):
		return at.Format("15:04")
	case k.table.Columns[startColumn].Cells == longStart:
		return at.Format("2 Jan 15:04")
	}
	return at.Format("2 Jan")
}

func (k *book) took(r *row) time.Duration {
	end := r.ended
	if end == 0 {
		end = k.now.Unix()
	}
	return time.Duration(end-r.started) * time.Second
}

func (k *book) text(i int) string {
	r := k.at(i)
	return r.title + " " + string(r.state) + " " + k.start(r) + " " + r.why
}

// note is why a run failed, or what it does.
func (k *book) note(i int) widget.Span {
	r := k.at(i)
	text, role := r.why, theme.Dim
	if r.warned {
		role = theme.Warn
	}
	if r.late {
		text, role = strings.TrimSuffix(textLate+" · "+text, " · "), theme.Warn
	}
	return widget.Span{Role: role, Text: text}
}

func (k *book) compare(column, i, j int) int {
	a, b := k.at(i), k.at(j)
	switch column {
	case startColumn:
		return cmp.Compare(a.started, b.started)
	case stateColumn:
		return cmp.Compare(a.state, b.state)
	case taskColumn:
		return strings.Compare(strings.ToLower(a.title), strings.ToLower(b.title))
	case pingColumn:
		return cmp.Compare(a.pings, b.pings)
	case reportColumn:
		return cmp.Compare(a.reports, b.reports)
	case refusedColumn:
		return cmp.Compare(a.refused, b.refused)
	case toolsColumn:
		return cmp.Compare(a.tools, b.tools)
	case tokensColumn:
		return cmp.Compare(a.tokens, b.tokens)
	case costColumn:
		return cmp.Compare(a.cost, b.cost)
	}
	return cmp.Compare(k.took(a), k.took(b))
}

// page draws the table, as tall as it needs to be, a rule that names the run, and its
// tail.
func (p *Pane) page(c pane.Context, w, h int, focused bool) []widget.Row {
	k := &p.book
	k.theme = c.Theme
	if k.table.Columns[startColumn].Cells = shortStart; w >= wideStart {
		k.table.Columns[startColumn].Cells = longStart
	}
	list := h
	if h >= 6 {
		list = min(k.table.Lines(), max(h/2, h-1-pageTail))
	}
	rows := k.table.Draw(c.Theme, w, list, focused && !p.tail, k.found())
	if list == h {
		return rows
	}
	f, ok := p.selected()
	if !ok {
		return widget.FillRows(append(rows, widget.Rows(widget.Inner, widget.Brush{Theme: c.Theme}.Empty(w, h-list, textNoneShown)...)...), w, h)
	}
	rows = append(rows, widget.Row{Text: p.rule(c, f, w, focused), Place: widget.Ruled})
	return append(rows, p.words(c, f, w, h-len(rows), focused)...)
}

// pageTail is how many lines the tail has at most where the table could use them.
const pageTail = 16

// found is how many runs the filter shows.
func (k *book) found() string {
	return textFound(k.table.Shown(), len(k.above)+len(k.body), k.past.all())
}

// state is what the border says of the page.
func (k *book) state() (parts []string) {
	if k.class != everyRun {
		parts = append(parts, textClasses[k.class])
	}
	if head, turned := k.table.Order(); head != "" {
		parts = append(parts, textOrder(head, turned))
	}
	return append(parts, textAllRuns(len(k.above)+len(k.body), k.past.all()))
}

// Wants implements pane.Reader.
func (p *Pane) Wants(c pane.Context) command.Value {
	switch {
	case len(p.noted) > 0 && !c.ReadOnly:
		return command.Looked{Runs: p.noted}
	case c.Zoomed && (p.book.hungry() || p.wanted != "" && !p.book.past.all()):
		return command.Runs{From: p.book.past.next, Most: pageRows}
	}
	return nil
}

// Read implements pane.Reader. Damaged lines are said once.
func (p *Pane) Read(c pane.Context, o command.Outcome, err error) pane.Answer {
	k := &p.book
	if o.Runs == nil {
		p.noted = nil // what cannot be kept is asked again at the next start
		if err != nil && !k.past.whole {
			k.past.whole = true
			return pane.Answer{Toast: err.Error()}
		}
		return pane.Answer{}
	}
	said := k.past.damaged > 0
	k.past.read(o.Runs)
	p.Sync(c)
	if k.past.damaged > 0 && !said {
		return pane.Answer{Toast: textDamaged}
	}
	return pane.Answer{}
}

// onPage carries out an action on the table; ok is false for one that is the tail's.
func (p *Pane) onPage(c pane.Context, id action.ID) (a pane.Answer, ok bool) {
	k := &p.book
	_, verb, _ := strings.Cut(string(id), ".")
	switch id {
	case action.ForksState:
		k.turn()
		p.Sync(c)
	case action.ForksSort:
		k.table.Next()
	case action.ForksTurn:
		k.table.Turn()
	case action.TailFind:
		if p.tail {
			return a, false
		}
		k.table.Query.Open()
	case action.ForksUp, action.ForksDown, action.TailPageUp, action.TailPageDown, action.TailHome, action.TailFollow:
		if p.tail {
			return a, false
		}
		k.table.Move(verb)
		p.follow(c)
	default:
		return a, false
	}
	return a, true
}

// End takes the filter away, then the choice of states, and reports whether there was
// one of them.
func (p *Pane) End(c pane.Context) bool {
	k := &p.book
	switch {
	case p.tail || !c.Zoomed:
		return false
	case k.table.EndQuery():
	case k.class != everyRun:
		k.class = everyRun
	default:
		return false
	}
	p.Sync(c)
	return true
}

// follow takes the selection of the table over.
func (p *Pane) follow(c pane.Context) {
	if id := p.book.run(); id != "" {
		p.run, p.chosen = id, true
		p.visit(c.Snap)
		p.read(c)
	}
}
