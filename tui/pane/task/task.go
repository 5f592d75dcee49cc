// Package task is the page of one routine or reminder: how its runs went, how its
// pings are answered, when it fires next.
package task

import (
	"cmp"
	"time"

	"ollimbot/core/clean"
	"ollimbot/routines/schedule"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

const (
	textTitle = "Task"
	textNone  = "There is no task."
	textNext  = "next "
	textNever = "it never fires again"
)

// Page is the page of one task. Use New.
type Page struct {
	pane.Still
	id string // of the task; empty, or of one that is gone: the first is shown
}

// New returns the page.
func New() *Page { return &Page{} }

// Show shows the task of an id.
func (p *Page) Show(id string) { p.id = id }

// task is the one that is shown; nil where there is none.
func (p *Page) task(c pane.Context) *schedule.TaskView {
	tasks := c.Snap.Schedule.Tasks
	for i := range tasks {
		if tasks[i].ID == p.id {
			return &tasks[i]
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	return &tasks[0]
}

// Title implements pane.Pane.
func (p *Page) Title(c pane.Context) (name, state string) {
	if t := p.task(c); t != nil {
		return textTitle, clean.Line(t.Path)
	}
	return textTitle, ""
}

// Draw implements pane.Pane.
func (p *Page) Draw(c pane.Context, w, h int, _ bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	t := p.task(c)
	if t == nil {
		return widget.Rows(widget.Nowhere, b.Empty(w, h, textNone)...)
	}
	next := textNever
	if !t.Next.IsZero() {
		next = textNext + t.Next.In(cmp.Or(c.Snap.Zone, time.UTC)).Format("Mon 15:04")
	}
	return widget.FillRows(widget.Rows(widget.Nowhere,
		b.Line(w, widget.Span{Role: theme.Strong, Text: " " + t.Title}),
		b.Line(w, widget.Span{Role: theme.Dim, Text: " " + cmp.Or(t.When, t.Label)}),
		b.Line(w, widget.Span{Text: " " + next}),
	), w, h)
}
