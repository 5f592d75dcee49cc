package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/notice"
)

// key gives a key to the topmost dialog, else to a pane that takes text, else
// to the action that it stands for.
func (r *root) key(msg tea.KeyPressMsg) tea.Cmd {
	if msg.String() == "alt+esc" { // two quick escapes, as the terminal sends them
		msg = tea.KeyPressMsg{Code: tea.KeyEscape}
	}
	k := msg.String()
	r.lookKeys()
	if k == "ctrl+l" {
		r.screen.Forget()
		return nil
	}
	if r.hopeless() {
		return r.smallKey(k)
	}
	r.speech.read(time.Now())
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
	if r.hopeless() {
		return nil
	}
	if len(r.dialogs) > 0 {
		if t, ok := r.dialogs[len(r.dialogs)-1].(typist); ok {
			t.paste(msg)
		}
		return nil
	}
	if p := r.panes[r.focus]; p.Capture() {
		return r.answer(p.Type(r.context(), msg))
	}
	r.say(notice.Info, textNoPaste(r.names()))
	return nil
}
