package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

// undoDepth is how many changes can be undone, newest first.
const undoDepth = 50

// answer carries out what a pane wants.
func (r *root) answer(a pane.Answer) tea.Cmd {
	if a.Toast != "" {
		r.say(notice.Info, a.Toast)
	}
	if a.Copy != "" {
		r.fail(r.screen.Copy(a.Copy))
	}
	if a.Focus != action.Everywhere {
		r.setFocus(a.Focus)
	}
	if a.Window != "" {
		r.setFocus(action.Forks)
		if p, ok := r.panes[action.Forks].(windower); ok {
			p.Show(r.context(), a.Window)
		}
	}
	if a.Zoom {
		r.zoom = true
	}
	if a.Ask != nil {
		r.open(newQuestion(*a.Ask))
	}
	if a.Until != nil {
		r.open(newUntil(*a.Until, r.snap))
	}
	if a.Create {
		r.open(newForm(r.snap))
	}
	var cmds []tea.Cmd
	if a.Edit != nil {
		cmds = append(cmds, r.edit(*a.Edit))
	}
	if a.Show != nil {
		cmds = append(cmds, r.openPage(*a.Show))
	}
	if a.Do != nil {
		cmds = append(cmds, r.do(a.Do))
	}
	return tea.Batch(cmds...)
}

// asking is a dialog that stays until the core has taken what it asks for.
type asking interface {
	dialog
	// refused tells it why the core has not.
	refused(why string)
}

// windower is the pane of runs: it can show the tail of one by its id, and knows
// which failures nobody has looked at.
type windower interface {
	Show(c pane.Context, id string)
	Unseen(s *core.Snapshot) []string
}

// openPage opens a page at once; a body that has to be loaded follows.
func (r *root) openPage(p pane.Page) tea.Cmd {
	pg := newPage(p.Title, p.Body)
	r.open(pg)
	if p.Load == nil {
		return nil
	}
	_, pg.named = p.Load.(command.Describe) // a prompt is shown as it is
	pg.loading = true
	return r.command(doneMsg{command: p.Load, page: pg})
}

// do runs a command. With --read-only nothing that changes the bot passes,
// whoever asks.
func (r *root) do(c command.Value) tea.Cmd { return r.doFor(c, nil) }

// doFor is do for a dialog that waits for what comes of it; nil for none.
func (r *root) doFor(c command.Value, d asking) tea.Cmd {
	if _, reads := c.(command.Preview); r.o.ReadOnly && !reads {
		r.say(notice.Info, textReadOnly)
		return nil
	}
	if a, ok := c.(command.Answer); ok {
		r.answering(a)
	}
	return r.command(doneMsg{command: c, asker: d})
}

func (r *root) undoLast() tea.Cmd {
	n := len(r.undo)
	if n == 0 {
		return nil
	}
	c := r.undo[n-1]
	r.undo = r.undo[:n-1]
	return r.command(doneMsg{command: c, undoing: true})
}

// done says what came of a command, and remembers how to undo it.
func (r *root) done(msg doneMsg) tea.Cmd {
	if r.ctx.Err() != nil {
		return nil
	}
	r.see(msg.snap)
	if msg.page != nil {
		msg.page.loaded(msg.outcome.Body, msg.err)
		return nil
	}
	if msg.asker != nil && r.settled(msg.asker, msg.err) {
		return nil
	}
	if msg.err != nil {
		if msg.undoing { // nothing was taken back: it can be tried again
			r.undo = append(r.undo, msg.command)
		}
		r.say(notice.Alert, clean.Line(msg.err.Error()))
		switch c := msg.command.(type) {
		case command.Say:
			r.unsaid(c.Text)
		case command.Answer:
			delete(r.desk.answered, c.ID)
		}
		return nil
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
		text += textUndoKey(r.names())
	}
	if text != "" {
		r.say(notice.Info, text)
	}
	return nil
}

// settled tells a dialog what came of its command: it closes, or says why not.
// It reports whether the dialog has told that, so that a toast need not.
func (r *root) settled(d asking, err error) (told bool) {
	i := slices.Index(r.dialogs, dialog(d))
	switch {
	case i < 0: // it was left meanwhile
		return false
	case err == nil:
		r.dialogs = slices.Delete(r.dialogs, i, i+1)
		return false
	}
	d.refused(clean.Line(err.Error()))
	return true
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

// unsaid gives words that could not be sent back to whoever wrote them.
func (r *root) unsaid(text string) {
	if p, ok := r.panes[action.Chat].(interface{ Return(text string) }); ok {
		p.Return(text)
	}
}
