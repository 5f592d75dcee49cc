// Package logs is the dashboard's pane of the program's own log: a tail view. It must not
// know where the log is stored.
package logs

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

const (
	textEmpty = "No lines of a running bot."
	textTeach = "Its activity and errors appear here and in the log file in the data directory."
)

// Pane is the log pane. Use New.
type Pane struct {
	pane.Still
	view *widget.TailView
}

// New returns the pane.
func New() *Pane { return &Pane{view: widget.NewTailView(core.LogTail, false)} }

// State implements pane.Pane.
func (p *Pane) State(pane.Context) string { return p.view.State() }

// Draw implements pane.Pane.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	if p.view.Len() == 0 {
		return widget.Rows(widget.Nowhere, widget.Brush{Theme: c.Theme}.Empty(w, h, textEmpty, textTeach)...)
	}
	p.view.Names = c.Names(action.Logs)
	return widget.Rows(widget.Nowhere, p.view.Lines(c.Theme, w, h, focused)...)
}

// Line implements pane.Pane: the newest line of the log.
func (p *Pane) Line(c pane.Context, w int) string {
	spans := []widget.Span{{Role: theme.Strong, Text: "Logs     "}}
	last, ok := p.view.Last()
	out := p.view.LeftOut()
	if out != "" {
		spans = append(spans, widget.Span{Role: theme.Accent, Text: out + "  "})
	}
	switch {
	case !ok && out != "":
		spans = append(spans, widget.Span{Role: theme.Dim, Text: "no line is shown"})
	case !ok:
		spans = append(spans, widget.Span{Role: theme.Dim, Text: textEmpty})
	case last.Kind == tail.Error, last.Kind == tail.Warn:
		spans = append(spans, widget.Span{Role: theme.Warn, Text: string(last.Kind) + " "}, widget.Span{Text: last.Text})
	default:
		spans = append(spans, widget.Span{Role: theme.Dim, Text: last.Text})
	}
	return widget.Brush{Theme: c.Theme}.Line(w, spans...)
}

// Do implements pane.Pane.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	if id == action.Back {
		p.view.EndFind()
		p.read(c)
		return pane.Answer{}
	}
	p.view.Names = c.Names(action.Logs)
	reply, _ := p.view.Do(id.Verb())
	p.read(c)
	return pane.Answer{Copy: reply.Copy, Toast: reply.Toast}
}

// Capture implements pane.Pane.
func (p *Pane) Capture() bool { return p.view.Finding() }

// Hint is the help line while the pane takes every key.
func (p *Pane) Hint() []key.Binding { return p.view.Hint() }

// Type implements pane.Pane.
func (p *Pane) Type(c pane.Context, msg tea.Msg) pane.Answer {
	p.view.Type(msg)
	p.read(c)
	return pane.Answer{}
}

// Sync implements pane.Pane.
func (p *Pane) Sync(c pane.Context) { p.read(c) }

// read reads the new lines of the log.
func (p *Pane) read(c pane.Context) {
	p.view.Twelve, p.view.Now = c.Snap.TwelveHours, c.Snap.At
	p.view.Sync(c.Tail, c.Snap.LogLines, c.Snap.Zone)
}
