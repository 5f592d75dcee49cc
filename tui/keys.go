package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
)

// key gives a key to the topmost dialog, else to a pane that takes text, else
// to the action that it stands for.
func (r *root) key(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	r.lookKeys()
	r.speech.read(time.Now())
	if k == "ctrl+l" {
		r.screen.Forget()
		return nil
	}
	if len(r.dialogs) > 0 {
		return r.dialogKey(k, msg)
	}
	p := r.panes[r.focus]
	if p.Capture() && k != "ctrl+c" {
		return r.answer(p.Type(r.context(), msg))
	}
	a, ok := r.keys.ByKey(r.focus, k, *r.snap)
	if !ok {
		return nil
	}
	return r.act(a)
}

// paste goes where text is taken; elsewhere it is not read as keys.
func (r *root) paste(msg tea.PasteMsg) tea.Cmd {
	if len(r.dialogs) > 0 {
		if t, ok := r.dialogs[len(r.dialogs)-1].(typist); ok {
			t.paste(msg)
		}
		return nil
	}
	if p := r.panes[r.focus]; p.Capture() {
		return r.answer(p.Type(r.context(), msg))
	}
	r.say(core.Info, textNoPaste)
	return nil
}

// click focuses the pane under the pointer, or the tab, and selects the row.
func (r *root) click(m tea.Mouse) tea.Cmd {
	if len(r.dialogs) > 0 || m.Button != tea.MouseLeft {
		return nil
	}
	plan := r.plan()
	if plan.Mode == layout.Strip && !r.zoom {
		if i := m.Y - 1; i >= 0 && i < len(action.Panes) {
			r.setFocus(action.Panes[i])
		}
		return nil
	}
	b, ok := plan.At(m.X, m.Y)
	if !ok {
		return nil
	}
	if m.Y == b.Y-1 && len(b.Tabs) > 0 {
		if p, ok := r.tabAt(b, m.X); ok {
			r.setFocus(p)
			return nil
		}
	}
	r.setFocus(b.Pane)
	r.pick(b, m.Y)
	return nil
}

// wheelLines is how far one notch of the wheel goes.
const wheelLines = 3

// wheel scrolls the pane under the pointer; the focus stays.
func (r *root) wheel(m tea.Mouse) tea.Cmd {
	up := m.Button == tea.MouseWheelUp
	if !up && m.Button != tea.MouseWheelDown {
		return nil
	}
	if len(r.dialogs) > 0 {
		r.dialogs[len(r.dialogs)-1].wheel(up)
		return nil
	}
	b, ok := r.plan().At(m.X, m.Y)
	if !ok {
		return nil
	}
	id, n := wheelAction(b.Pane, up)
	if id == "" {
		return nil
	}
	var cmds []tea.Cmd
	for range n {
		cmds = append(cmds, r.answer(r.panes[b.Pane].Do(r.context(), id)))
	}
	return tea.Batch(cmds...)
}

// wheelAction is what a notch means in a pane: lines where text scrolls, one
// row where rows are selected.
func wheelAction(p action.Pane, up bool) (action.ID, int) {
	pick := func(a, b action.ID) action.ID {
		if up {
			return a
		}
		return b
	}
	switch p {
	case action.Schedule:
		return pick(action.ScheduleUp, action.ScheduleDown), 1
	case action.Updates:
		return pick(action.UpdatesUp, action.UpdatesDown), 1
	case action.Forks, action.Chat, action.Logs:
		return pick(action.TailUp, action.TailDown), wheelLines
	}
	return "", 0
}
