package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

// readMore begins what panes want to have read beside the snapshot: one thing at a
// time for each, off the frame.
func (r *root) readMore() tea.Cmd {
	if r.ctx.Err() != nil {
		return nil
	}
	var cmds []tea.Cmd
	for _, p := range action.AllPanes {
		reader, ok := r.panes[p].(pane.Reader)
		if !ok || r.reading[p] {
			continue
		}
		if c := reader.Wants(r.paneContext(p)); c != nil {
			r.reading[p] = true
			cmds = append(cmds, r.begin(doneMsg{command: c, reader: p}))
		}
	}
	return tea.Batch(cmds...)
}

// hereEvery is how often the core is told that the user is at work here.
const hereEvery = time.Minute

// present tells the core that the user is here.
func (r *root) present() tea.Cmd {
	now := time.Now()
	if r.o.ReadOnly || now.Sub(r.here) < hereEvery {
		return nil
	}
	r.here = now
	return r.begin(doneMsg{command: command.Here{}})
}

// paneContext is the context of one pane: whether it has the whole body.
func (r *root) paneContext(p action.Pane) pane.Context {
	c := r.context()
	c.Zoomed = c.Zoomed && r.focus == p
	return c
}

// haveRead gives a pane what was read for it.
func (r *root) haveRead(msg doneMsg) tea.Cmd {
	delete(r.reading, msg.reader)
	return r.answer(r.panes[msg.reader].(pane.Reader).Read(r.paneContext(msg.reader), msg.outcome, msg.err))
}

// mostReads is how often a pane of a single frame may ask.
const mostReads = 20

// readAll reads what the focused pane of a single frame wants.
func (r *root) readAll() {
	reader, ok := r.panes[r.focus].(pane.Reader)
	for n := 0; ok && n < mostReads; n++ {
		want := reader.Wants(r.paneContext(r.focus))
		if want == nil {
			return
		}
		o, err := r.core.Do(r.ctx, want)
		reader.Read(r.paneContext(r.focus), o, err)
	}
}
