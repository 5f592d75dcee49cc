package chat

import (
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/pane"
)

// compose takes the keys and pastes of a message that is being written.
func (p *Pane) compose(c pane.Context, msg tea.Msg) pane.Answer {
	if press, ok := msg.(tea.KeyPressMsg); ok {
		if press.Keystroke() == "tab" {
			p.complete()
			return pane.Answer{}
		}
		p.tab = completion{}
		if a, done := p.composeKey(c, press.Keystroke()); done {
			return a
		}
	}
	p.tab = completion{}
	if paste, ok := msg.(tea.PasteMsg); ok {
		text, cut := p.folds.fold(paste.Content, p.field.Text())
		p.field.Insert(text)
		if cut {
			return pane.Answer{Toast: textPasteCut}
		}
		return pane.Answer{}
	}
	p.field.Take(msg)
	return pane.Answer{}
}

// composeKey carries out a key that is the chat's own, and reports whether it was
// one; the others are the editor's.
func (p *Pane) composeKey(c pane.Context, k string) (a pane.Answer, done bool) {
	switch k {
	case "esc":
		p.writing = false
		if p.field.Text() == "" {
			p.reply = ""
		}
	case "enter":
		return p.send(c), true
	case "alt+enter", "shift+enter", "ctrl+j":
		p.field.Insert("\n")
	case unfoldKey:
		return p.unfold(), true
	case "pgup":
		p.view.Page(-1)
	case "pgdown":
		p.view.Page(1)
	case "up", "down":
		return pane.Answer{}, p.leaf(k)
	case "backspace":
		if p.field.Text() == "" {
			p.reply = ""
			return pane.Answer{}, true
		}
		before, _ := p.field.Around()
		n := p.folds.last(before)
		for range n {
			p.field.Take(tea.KeyPressMsg{Code: tea.KeyBackspace})
		}
		return pane.Answer{}, n > 0
	default:
		return pane.Answer{}, false
	}
	return pane.Answer{}, true
}

// leaf goes through what was sent before, from the first and the last line on;
// elsewhere the caret moves.
func (p *Pane) leaf(k string) bool {
	top, bottom := p.field.Edges()
	by := 1
	if k == "up" {
		by = -1
	}
	if k == "up" && !top || k == "down" && !bottom {
		return false
	}
	text, ok := p.past.step(by, p.folds.unfold(p.field.Text()))
	if ok {
		p.recall(text)
	}
	return ok
}

// recall writes a text anew; a long one by a word of its own.
func (p *Pane) recall(text string) {
	p.field.Clear()
	p.folds = folds{}
	text, _ = p.folds.fold(text, "")
	p.field.Insert(text)
}
