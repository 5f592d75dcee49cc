package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
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
	if r.tiny() {
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
	if r.tiny() {
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

// The keys of the dialogs. Those of the panes are rows of tui/action: they
// depend on the focus, have effects and reasons, and are found by name.

var pageKeys = struct {
	shut, find, next, previous, copied          key.Binding
	up, down, pageUp, pageDown, top, end        key.Binding
	found, dropped, findUp, findDown, scrolling key.Binding
}{
	shut:     binding("esc", textClose, "q", "?", "!", "enter"),
	find:     binding("/", textFindWord, "/"),
	next:     binding("n/N", textNextPrevious, "n"),
	previous: binding("", "", "N"),
	copied:   binding("y", textCopy, "y", "Y"),

	up:        binding("", "", "up", "k"),
	down:      binding("", "", "down", "j"),
	pageUp:    binding("", "", "pgup", "ctrl+b"),
	pageDown:  binding("", "", "pgdown", "ctrl+f", "space"),
	top:       binding("", "", "home", "g"),
	end:       binding("", "", "end", "G"),
	scrolling: binding("PgUp/PgDn", textScroll, "pgup", "pgdown"),

	found:    binding("enter", textKeep, "enter"),
	dropped:  binding("esc", textDrop, "esc"),
	findUp:   binding("", "", "up", "ctrl+p"),
	findDown: binding("", "", "down", "ctrl+n"),
}

var paletteKeys = struct{ run, up, down, pageUp, pageDown, shut key.Binding }{
	run:      binding("enter", textRun, "enter"),
	up:       binding("", "", "up", "ctrl+p", "shift+tab"),
	down:     binding("tab", textNextOne, "down", "ctrl+n", "tab"),
	pageUp:   binding("", "", "pgup"),
	pageDown: binding("", "", "pgdown"),
	shut:     binding("esc", textClose, "esc"),
}

var entryKeys = struct{ digits, other, set, leave key.Binding }{
	digits: binding("0-9", textType, "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
	other:  binding("tab", textOtherField, "tab", "shift+tab", "up", "down"),
	set:    binding("enter", textSet, "enter"),
	leave:  binding("esc", textLeave, "esc"),
}

var welcomeKeys = struct{ around, demo, begin key.Binding }{
	around: binding("enter", textLookAround, "enter", "q"),
	demo:   binding("d", textSeeDemo, "d"),
	begin:  binding("i", textSetUp, "i"),
}

var loginKeys = struct{ copy, send, leave key.Binding }{
	copy:  binding("ctrl+y", textLoginCopy, "ctrl+y"),
	send:  binding("enter", textLoginSend, "enter"),
	leave: binding("esc", textNotNow, "esc"),
}

var questionKeys = struct{ yes, no, chosen, other key.Binding }{
	yes:    binding("y", "", "y", "Y"),
	no:     binding("n", "", "n", "N", "q"),
	chosen: binding("enter", textChosen, "enter"),
	other:  binding("", "", "tab", "shift+tab", "up", "down", "left", "right", "j", "k", "h", "l"),
}

// binding is keys, and how the help line names them; without a word they are
// not in it.
func binding(shown, word string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, word))
}

// named is a binding under another word.
func named(b key.Binding, word string) key.Binding {
	b.SetHelp(b.Help().Key, word)
	return b
}
