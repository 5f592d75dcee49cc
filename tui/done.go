package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/notice"
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
		return r.haveRead(msg)
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
		if len(r.undo) > undoDepth {
			r.undo = r.undo[len(r.undo)-undoDepth:]
		}
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
