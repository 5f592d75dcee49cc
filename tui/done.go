package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

// done handles the end of a command, and remembers how to undo it.
func (r *root) done(msg doneMsg) tea.Cmd {
	if r.ctx.Err() != nil {
		return nil
	}
	r.update(msg.snap)
	if msg.reader != action.Everywhere {
		delete(r.reading, msg.reader)
		return r.answer(r.panes[msg.reader].(pane.Reader).Read(r.context(msg.reader), msg.outcome, msg.err))
	}
	if msg.asker != nil && slices.Contains(r.dialogs, msg.asker) { // else it has been closed
		cmd := r.tell(msg.asker, pane.Done{Outcome: msg.outcome, Err: msg.err})
		if silent(msg.command) || msg.err != nil { // the dialog shows it
			return cmd
		}
	}
	switch {
	case silent(msg.command):
		return nil
	case msg.err != nil:
		r.failed(msg)
		return nil
	}
	switch c := msg.command.(type) {
	case command.SetLook:
		r.wear(c.Name, c.Value)
	case command.SetConfig:
		if msg.outcome.Follows != "" {
			c.Sure = true
			return r.answer(pane.Answer{Ask: &pane.Question{Text: msg.outcome.Follows + ".", Yes: textSetIt, No: textLeaveIt, Do: c}})
		}
	}
	r.succeeded(msg)
	return nil
}

// readMore starts what panes want to read beyond the snapshot, one thing at a time for
// each, without holding up the frame.
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
		if c := reader.Wants(r.context(p)); c != nil {
			r.reading[p] = true
			cmds = append(cmds, r.queue.start(doneMsg{command: c, reader: p}))
		}
	}
	return tea.Batch(cmds...)
}

// present records input, and tells the core that the user is active.
func (r *root) present() tea.Cmd {
	r.presence.focus()
	if r.o.ReadOnly || !r.presence.here(time.Now()) {
		return nil
	}
	return r.queue.start(doneMsg{command: command.Here{}})
}
