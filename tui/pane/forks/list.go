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
	"ollimbot/routines/cron"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// columns are those of the list, the first one at the left. Where there is less room
// they go from the right: $ first, then TOKENS and so on to PING, then TIME. In few
// cells START goes too and STATE becomes its sign; TASK stays.
func (k *book) columns() []table.Column[*row] {
	columns := []table.Column[*row]{
		{Head: "START", Cells: shortStart, Falls: true, Stays: true, Cell: k.start, Compare: func(a, b *row) int { return cmp.Compare(a.started, b.started) }},
		{Head: "STATE", Cells: stateCells, Stays: true, Cell: k.state, Compare: func(a, b *row) int { return cmp.Compare(a.state, b.state) }},
		{Head: "TASK", Least: 14, Most: 34, Cell: func(r *row) widget.Span { return widget.Span{Role: theme.Strong, Text: r.title} }},
	}
	for i, role := range []theme.Role{theme.Ping, theme.Report, theme.Warn, theme.Dim} {
		head := []string{"PING", "REPORT", "REFUSED", "TOOLS"}[i]
		count := func(r *row) int { return int(r.counts[i]) }
		columns = append(columns, table.Number(head, max(5, len(head)+1), role, count, strconv.Itoa))
	}
	dollars := func(v float64) string { return strings.TrimPrefix(cost(v), "$") }
	took := table.Number("TIME", 6, theme.Text, k.took, words.Elapsed)
	took.Stays = true
	return append(columns,
		table.Number("TOKENS", 7, theme.Dim, func(r *row) int { return int(r.tokens) }, words.Big),
		table.Number("$", 6, theme.Dim, func(r *row) float64 { return float64(r.cost) }, dollars),
		took)
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
	pane.List[*row]
	past  past
	class class
	made  made // what the rows below the rule were made of
	snap  *core.Snapshot
	theme *theme.Theme
}

// made is what the rows below the rule depend on.
type made struct {
	version uint64
	class   class
	pins    string
}

func newBook() *book {
	k := &book{snap: &core.Snapshot{}, past: past{known: map[string]*row{}, words: map[string]string{}}}
	k.Columns, k.Noun, k.Text, k.Note, k.Open = k.columns(), textRun, k.text, note, action.ForksTail
	return k
}

// fill brings the list up to a snapshot. pinned are the failures that stand above
// everything, live what runs and waits.
func (k *book) fill(s *core.Snapshot, pinned, live []fork.View) {
	k.snap = s
	k.past.ended(s.Forks)
	var above []*row
	pins := ""
	for i, f := range slices.Concat(pinned, live) {
		r := k.past.pack(&f)
		if f.State == fork.Waiting {
			r.why = queued(s, f)
		}
		if k.class.has(r) {
			above = append(above, r)
		}
		if i < len(pinned) {
			pins += f.ID + " "
		}
	}
	k.Pin(above)
	k.More = !k.past.all()
	if now := (made{k.past.version, k.class, pins}); now != k.made {
		k.made = now
		k.Fill(slices.DeleteFunc(slices.Clone(k.past.rows), func(r *row) bool {
			return !k.class.has(r) || slices.ContainsFunc(pinned, func(f fork.View) bool { return f.ID == r.id })
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
func (k *book) hungry() bool {
	return !k.past.all() && (k.Near() || k.Whole() || k.class != everyRun)
}

func (k *book) state(r *row) widget.Span {
	look := lookOf(r.state)
	text := k.theme.Glyph(look.glyph)
	if k.Columns[stateColumn].Cells != signCells {
		text += " " + string(r.state)
	}
	return widget.Span{Role: look.role, Text: text}
}

// start is when a run began, as much of it as the column has room for: the time of
// today's, else the day.
func (k *book) start(r *row) widget.Span {
	if r.started == 0 {
		return widget.Span{}
	}
	layouts := cron.Layouts{Today: "15:04", Else: "2 Jan"}
	if k.Columns[startColumn].Cells == longStart {
		layouts.Else = "2 Jan 15:04"
	}
	return widget.Span{Role: theme.Dim, Text: k.snap.When(time.Unix(r.started, 0), layouts)}
}

// took is how long a run has taken, which is more than nothing once it has begun.
func (k *book) took(r *row) time.Duration {
	if r.started == 0 {
		return 0
	}
	return max(1, time.Duration(cmp.Or(r.ended, k.snap.At.Unix())-r.started)*time.Second)
}

func (k *book) text(r *row) string {
	return r.title + " " + string(r.state) + " " + k.start(r).Text + " " + r.why
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

// states is what the border says of the list.
func (k *book) states() (parts []string) {
	if k.class != everyRun {
		parts = append(parts, textClasses[k.class])
	}
	if head, turned := k.Order(); head != "" {
		parts = append(parts, textOrder(head, turned))
	}
	return parts
}
