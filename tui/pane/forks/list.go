package forks

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/core/words"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// The columns of the list, the first one at the left. Where there is less room they go
// from the right: $ first, then TOKENS and so on to PING, then TIME. In few cells START
// goes too and STATE becomes its sign; TASK stays.
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

func columns() []table.Column {
	number := func(head string) table.Column {
		return table.Column{Head: head, Cells: max(5, len(head)+1), Right: true, Falls: true}
	}
	return []table.Column{
		startColumn: {Head: "START", Cells: shortStart, Falls: true, Stays: true}, stateColumn: {Head: "STATE", Cells: stateCells, Stays: true},
		taskColumn: {Head: "TASK", Least: 14, Most: 34},
		pingColumn: number("PING"), reportColumn: number("REPORT"), refusedColumn: number("REFUSED"), toolsColumn: number("TOOLS"),
		tokensColumn: number("TOKENS"), costColumn: {Head: "$", Cells: 6, Right: true, Falls: true},
		tookColumn: {Head: "TIME", Cells: 6, Right: true, Falls: true, Stays: true},
	}
}

const (
	// shortStart shows the day of a run or its time; longStart both, from wideStart
	// cells on.
	shortStart, longStart = 7, 14
	wideStart             = 96
	// stateCells hold the longest state; below narrow cells its sign stands alone.
	stateCells, signCells = 13, 1
	narrow                = 40
)

// class is which runs are listed, by their state.
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
		return r.counts[0] > 0
	case doneRuns:
		return r.state == fork.Done
	case stoppedRuns:
		return r.state == fork.Stopped || r.state == fork.Interrupted
	}
	return true
}

// book is what the list shows: rows above the rule, and which of the past stand below
// it. On the page that is every run that is stored; failures that nobody has looked at
// and what runs and waits stand above the rule.
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
	snap  *core.Snapshot
	theme *theme.Theme
}

// made is what the rows below the rule depend on.
type made struct {
	version uint64
	class   class
	pins    string
}

// fill brings the list up to a snapshot. pinned are the failures that stand above
// everything, live what runs and waits.
func (k *book) fill(s *core.Snapshot, pinned, live []fork.View) {
	was := k.snap
	second, day := was.At.Unix() != s.At.Unix(), was.At.Day() != s.At.Day() || was.TwelveHours != s.TwelveHours
	k.snap = s
	k.past.ended(s.Forks)
	k.above, k.was = k.was[:0], k.above
	pins := " "
	for _, list := range [][]fork.View{pinned, live} {
		for i := range list {
			r := k.past.pack(&list[i])
			if list[i].State == fork.Waiting {
				r.why = queued(s, list[i])
			}
			if k.class.has(&r) {
				k.above = append(k.above, r)
			}
		}
	}
	for i := range pinned {
		pins += pinned[i].ID + " "
	}
	if now := (made{k.past.version, k.class, pins}); now != k.made || k.from == 0 {
		k.made = now
		k.from++
		k.body = k.body[:0]
		for i := range k.past.rows {
			if r := &k.past.rows[i]; k.class.has(r) && !strings.Contains(pins, " "+r.id+" ") {
				k.body = append(k.body, int32(i))
			}
		}
	}
	if day || second && len(live) > 0 || !slices.Equal(k.above, k.was) {
		k.look++
	}
	k.table.Fill(table.Source{
		Len: k.len(), Above: len(k.above), Version: k.from, Look: k.look,
		Cell: k.cell, Text: k.text, Compare: k.compare, Note: k.note,
	})
}

// fit makes the columns fit a width.
func (k *book) fit(t *theme.Theme, w int) {
	k.theme = t
	start, state := &k.table.Columns[startColumn], &k.table.Columns[stateColumn]
	start.Cells, start.Hidden, state.Cells, state.Head = shortStart, w < narrow, stateCells, "STATE"
	switch {
	case w >= wideStart:
		start.Cells = longStart
	case w < narrow:
		state.Cells, state.Head = signCells, ""
	}
}

// len is how many rows there are, whatever the filter leaves out.
func (k *book) len() int { return len(k.above) + len(k.body) }

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
		return k.at(i).id
	}
	return ""
}

// choose selects a run and reports whether it is shown.
func (k *book) choose(id string) bool {
	if k.run() == id {
		return true
	}
	for i := range k.len() {
		if k.at(i).id == id {
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
		look := lookOf(r.state)
		if k.table.Columns[stateColumn].Cells == signCells {
			return widget.Span{Role: look.role, Text: k.theme.Glyph(look.glyph)}
		}
		return widget.Span{Role: look.role, Text: k.theme.Glyph(look.glyph) + " " + string(r.state)}
	case taskColumn:
		return widget.Span{Role: theme.Strong, Text: r.title}
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
	default:
		if n := r.counts[column-pingColumn]; n > 0 {
			return widget.Span{Role: countRoles[column-pingColumn], Text: strconv.Itoa(int(n))}
		}
	}
	return table.Blank()
}

// countRoles are those of the numbers behind a task's name.
var countRoles = [...]theme.Role{theme.Ping, theme.Report, theme.Warn, theme.Dim}

// start is when a run began, as much of it as the column has room for: the time of
// today's, else the day.
func (k *book) start(r *row) string {
	if r.started == 0 {
		return ""
	}
	at := time.Unix(r.started, 0)
	switch {
	case k.snap.IsToday(at):
		return k.snap.Clock(at, "15:04")
	case k.table.Columns[startColumn].Cells == longStart:
		return k.snap.Clock(at, "2 Jan 15:04")
	}
	return k.snap.Clock(at, "2 Jan")
}

func (k *book) took(r *row) time.Duration {
	end := r.ended
	if end == 0 {
		end = k.snap.At.Unix()
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
		role = theme.Warn
		if !strings.HasPrefix(text, textLate) { // its first line says the same at more length
			text = strings.TrimSuffix(textLate+" · "+text, " · ")
		}
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
	case tokensColumn:
		return cmp.Compare(a.tokens, b.tokens)
	case costColumn:
		return cmp.Compare(a.cost, b.cost)
	case tookColumn:
		return cmp.Compare(k.took(a), k.took(b))
	}
	return cmp.Compare(a.counts[column-pingColumn], b.counts[column-pingColumn])
}

// found is how many runs the filter shows.
func (k *book) found() string { return textFound(k.table.Shown(), k.len(), k.past.all()) }

// state is what the border says of the list.
func (k *book) state() (parts []string) {
	if k.class != everyRun {
		parts = append(parts, textClasses[k.class])
	}
	if head, turned := k.table.Order(); head != "" {
		parts = append(parts, textOrder(head, turned))
	}
	return parts
}
