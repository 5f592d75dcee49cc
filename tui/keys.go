package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/notice"
	"ollimbot/tui/action"
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
	if r.tiny() {
		return r.smallKey(msg)
	}
	r.speech.read(time.Now())
	if d := r.top(); d != nil {
		return r.tell(d, msg)
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
	if r.tiny() {
		return nil
	}
	if d := r.top(); d != nil {
		return r.tell(d, msg)
	}
	if p := r.panes[r.focus]; p.Capture() {
		return r.answer(p.Type(r.context(), msg))
	}
	n := r.names()
	r.say(notice.Info, fmt.Sprintf(textNoPaste, n.Name(action.Chat.Go()), n.Name(action.ChatWrite)))
	return nil
}
