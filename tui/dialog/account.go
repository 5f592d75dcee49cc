package dialog

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/routines/account"
	"ollimbot/routines/cron"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	language "ollimbot/tui/widget/query"
	"ollimbot/tui/widget/table"
)

// The texts of the account.
const (
	textAccount     = "Due times since "
	textNoRun       = "it had no run"
	textRunUnknown  = "its run is not known: it ran in the conversation, or its record has been cut"
	textOpensDueRun = "enter opens it"
)

// Account lists due times and what became of each, newest first, with the marked one in full
// below.
type Account struct {
	table  table.Table[DueTime]
	report command.DueTimes
	title  string
	drawn  []widget.Row // the table's
	above  int          // lines above it
}

// DueTime is a row of the account.
type DueTime struct {
	account.Row
	run   fork.View // without an ID: none is known
	facts language.Facts
	due   string
	more  string
}

// OpenAccount reads the account from a day on, which account.ReadDay can read.
func OpenAccount(c pane.Context, day string) (pane.Answer, error) {
	since, err := account.ReadDay(day, now(c))
	if err != nil {
		return pane.Answer{}, err
	}
	title := textAccount + since.Format("Mon 2 Jan")
	return Load(title, func(ctx context.Context, r pane.Reader) (pane.Dialog, error) {
		got, err := r.DueTimes(ctx, since)
		return newAccount(c.Snap, title, got), err
	}), nil
}

func newAccount(s *core.Snapshot, title string, report command.DueTimes) *Account {
	a := &Account{title: title, report: report}
	a.table.Noun = "due time"
	a.table.Facts = func(d DueTime) language.Facts { return d.facts }
	a.table.Note = func(d DueTime) widget.Span {
		return widget.Span{Role: theme.Dim, Text: cmp.Or(d.more, result(s, d.run))}
	}
	fate := func(d DueTime) widget.Span { return widget.Span{Role: fateRole(d.Fate), Text: string(d.Fate)} }
	a.table.Columns = []table.Column[DueTime]{
		{
			Head: "DUE", Cells: len("Mon 23 Nov 12:04pm"), Essential: true, Descending: true,
			Cell:    func(d DueTime) widget.Span { return widget.Span{Role: theme.Dim, Text: d.due} },
			Compare: func(a, b DueTime) int { return a.Due.Compare(b.Due) },
		},
		{Head: "BECAME", Cells: len(account.Interrupted) + 1, Essential: true, Cell: fate},
		{Head: "TASK", Least: 12, Cell: func(d DueTime) widget.Span { return widget.Span{Text: d.Title} }},
	}
	a.table.Fill(dueTimes(s, report))
	return a
}

// dueTimes are the rows of the account, newest first.
func dueTimes(s *core.Snapshot, report command.DueTimes) (rows []DueTime) {
	for _, r := range slices.Backward(report.Rows) {
		r.Title, r.Why = clean.Line(cmp.Or(r.Title, r.ID)), clean.Line(r.Why)
		d := DueTime{Row: r, run: report.Runs[r.Key()], due: s.Clock(r.Due, "Mon _2 Jan 15:04"), more: r.More(s.Moment)}
		d.facts = language.Facts{Text: d.Title + " " + d.ID + " " + d.more, Is: []string{string(r.Fate), r.Kind}, At: s.Local(r.Due), Now: s.Local(s.At)}
		if r.Late {
			d.facts.Is = append(d.facts.Is, "late")
		}
		rows = append(rows, d)
	}
	return rows
}

// whole is everything about the row, in lines.
func (d DueTime) whole(s *core.Snapshot) []string {
	became := string(d.Fate)
	if d.more != "" {
		became += ": " + d.more
	}
	lines := []string{words.Joined(d.Title, d.Kind+" "+d.ID, "due "+s.When(d.Due, cron.Layouts{Today: "15:04", Else: "Mon 2 Jan 2006 15:04"})), became}
	switch f := d.run; {
	case f.ID != "":
		run := "run " + f.ID + ": " + string(f.State)
		if !f.Started.IsZero() {
			run += " at " + s.Clock(f.Started, "15:04:05")
		}
		if said := result(s, f); said != "" {
			run += " " + said
		}
		return append(lines, run+"; "+textOpensDueRun)
	case d.Fate == account.Ran, d.Fate == account.Failed, d.Fate == account.Interrupted, d.Fate == account.Running:
		return append(lines, textRunUnknown)
	}
	return append(lines, textNoRun)
}

// result is how long a run took, and what it sent.
func result(s *core.Snapshot, f fork.View) string {
	var said []string
	if !f.Ended.IsZero() && !f.Started.IsZero() {
		said = append(said, "after "+words.Elapsed(f.Ended.Sub(f.Started)))
	}
	for _, sent := range pane.OutcomeOf(s, &f).Full {
		said = append(said, sent.Text)
	}
	return strings.Join(said, ", ")
}

func fateRole(f account.Fate) theme.Role {
	switch f {
	case account.Ran:
		return theme.Text
	case account.Running:
		return theme.Accent
	case account.Missed, account.Failed:
		return theme.Bad
	}
	return theme.Warn
}

// Title implements pane.Dialog.
func (a *Account) Title() string { return a.title }

// leastDetail is the height from which the marked row is shown in full.
const leastDetail = 12

// Draw implements pane.Dialog.
func (a *Account) Draw(c pane.Context, w, h int) []string {
	head, detail := pane.Sheet{Context: c, W: w}, pane.Sheet{Context: c, W: w}
	for _, text := range append([]string{a.report.Summary()}, a.report.Warnings()...) {
		head.Say(widget.Nowhere, theme.Strong, text, max(1, h/4))
	}
	if d, ok := a.table.Row(); ok && h >= leastDetail {
		detail.Rows = append(detail.Rows, widget.Row{Text: brush(c).Rule(w, nil, nil)})
		for i, text := range d.whole(c.Snap) {
			role := theme.Text
			if i == 1 {
				role = fateRole(d.Fate)
			}
			detail.Say(widget.Nowhere, role, text, 2)
		}
	}
	a.above = len(head.Rows)
	whole := a.table.Len() + 1 // with the heads
	if a.table.Query.Shown() {
		whole++
	}
	a.drawn = a.table.Draw(c.Theme, w, min(max(0, h-a.above-len(detail.Rows)), whole), true)
	var out []string
	for _, row := range slices.Concat(head.Rows, a.drawn, detail.Rows) {
		out = append(out, row.Text)
	}
	return widget.Fill(out, w, min(h, max(1, len(out))))
}

// Update implements pane.Dialog.
func (a *Account) Update(_ pane.Context, msg tea.Msg) pane.Answer {
	switch msg := msg.(type) {
	case pane.Click:
		if at := msg.Y - a.above; !msg.Beside && at >= 0 && at < len(a.drawn) && a.table.Press(a.drawn[at].At(msg.X)) {
			return a.open()
		}
		return pane.Answer{Close: msg.Beside}
	case pane.Wheel:
		a.table.Do(map[bool]string{true: "up", false: "down"}[msg.Up])
	case tea.PasteMsg:
		a.table.Type(msg)
	case tea.KeyPressMsg:
		return a.key(msg)
	}
	return pane.Answer{}
}

func (a *Account) key(msg tea.KeyPressMsg) pane.Answer {
	switch k := msg.String(); {
	case a.table.Query.Typing():
		a.table.Type(msg)
	case k == "esc" && a.table.EndQuery():
	case k == "enter":
		return a.open()
	case key.Matches(msg, pageKeys.shut), k == "ctrl+c":
		return pane.Answer{Close: true}
	case key.Matches(msg, accountKeys.sort):
		a.table.Do("sort")
	default:
		a.table.Do(pageVerbs[k])
	}
	return pane.Answer{}
}

// open goes to the run of the marked row.
func (a *Account) open() pane.Answer {
	d, ok := a.table.Row()
	switch {
	case !ok:
		return pane.Answer{}
	case d.run.ID == "":
		return pane.Answer{Toast: d.Title + ": " + d.whole(&core.Snapshot{})[2]}
	}
	return pane.Answer{Close: true, Focus: action.Forks, Item: d.run.ID, Zoom: true}
}

// Hint implements pane.Dialog.
func (a *Account) Hint() []key.Binding {
	if a.table.Query.Typing() {
		return a.table.Query.Hint()
	}
	return []key.Binding{pageKeys.shut, accountKeys.run, pageKeys.find, accountKeys.sort, pageKeys.scroll}
}

var accountKeys = struct{ run, sort key.Binding }{binding("enter", "open the run", "enter"), binding("O", "sort", "O")}
