package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

func (r *root) undoLast() tea.Cmd {
	n := len(r.undo) - 1 // else it is off
	c := r.undo[n]
	r.undo = r.undo[:n]
	return r.command(doneMsg{command: c, undoing: true})
}

// done says what came of a command, and remembers how to undo it.
func (r *root) done(msg doneMsg) tea.Cmd {
	if r.ctx.Err() != nil {
		return nil
	}
	r.see(msg.snap)
	if msg.reader != action.Everywhere {
		delete(r.reading, msg.reader)
		return r.answer(r.panes[msg.reader].(pane.Reader).Read(r.paneContext(msg.reader), msg.outcome, msg.err))
	}
	if msg.asker != nil && slices.Contains(r.dialogs, msg.asker) { // else it was left meanwhile
		cmd := r.tell(msg.asker, pane.Done{Outcome: msg.outcome, Err: msg.err})
		if reads(msg.command) || msg.err != nil { // it stands in the dialog
			return cmd
		}
	}
	if reads(msg.command) {
		return nil
	}
	if msg.err != nil {
		if msg.undoing { // nothing was taken back: it can be tried again
			r.undo = append(r.undo, msg.command)
		}
		r.say(notice.Alert, clean.Line(msg.err.Error()))
		switch c := msg.command.(type) {
		case command.Say:
			r.chat().Return(c.Text) // to whoever wrote it
		case command.Answer:
			delete(r.desk.answered, c.ID)
		}
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
	text := r.outcome(msg.command, msg.outcome.Message)
	switch {
	case msg.undoing && text != "":
		text = textUndone + text
	case msg.undoing:
		text = textUndoneBare
	case msg.outcome.Undo != nil:
		r.undo = append(r.undo, msg.outcome.Undo)
		r.undo = r.undo[max(0, len(r.undo)-undoDepth):]
		text += fmt.Sprintf(textUndoKey, r.names().Name(action.Undo))
	}
	if text != "" {
		r.say(notice.Info, text)
	}
	return nil
}

// outcome is what is said of a command that was carried out.
func (r *root) outcome(c command.Value, message string) string {
	switch c := c.(type) {
	case command.Interrupt:
		if message == "" {
			return textInterrupted
		}
	case command.Answer:
		return r.answeredText(c, message)
	case command.Say:
		if r.focus == action.Chat {
			return "" // the reply stands in the conversation
		}
		message, _, _ = strings.Cut(message, "\n")
	}
	return message
}

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
