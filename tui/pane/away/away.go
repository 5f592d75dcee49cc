// Package away is the page of what the bot did while its user was away, and of the
// decisions that were made.
package away

import (
	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/core/words"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

const (
	textTitle = "While you were away"
	textNone  = "No run has ended yet."
)

// Page is the page of what was missed. Use New.
type Page struct{ pane.Still }

// New returns the page.
func New() *Page { return &Page{} }

// Title implements pane.Pane.
func (*Page) Title(pane.Context) (name, state string) { return textTitle, "" }

// Draw implements pane.Pane: the runs that have ended, newest first.
func (*Page) Draw(c pane.Context, w, h int, _ bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	var lines []string
	for i := range c.Snap.Forks {
		if f := &c.Snap.Forks[i]; !f.Live() {
			lines = append(lines, b.Line(w, run(c.Snap, f)...))
		}
	}
	if len(lines) == 0 {
		lines = b.Empty(w, h, textNone)
	}
	return widget.FillRows(widget.Rows(widget.Nowhere, lines...), w, h)
}

// run is one run: when it ended, what became of it, its task.
func run(s *core.Snapshot, f *fork.View) []widget.Span {
	at := f.Ended
	if s.Zone != nil {
		at = at.In(s.Zone)
	}
	role := theme.Dim
	if f.State == fork.Failed {
		role = theme.Bad
	}
	return []widget.Span{
		{Role: theme.Dim, Text: " " + at.Format("15:04") + "  "},
		{Role: role, Text: string(f.State) + "  "},
		{Text: f.Title},
		{Role: theme.Dim, Text: "  " + words.Dollars(f.Usage.CostUSD)},
	}
}
