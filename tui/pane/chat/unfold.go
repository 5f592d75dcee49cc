package chat

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/pane"
)

// unfoldKey shows what a token stands for. It is the chat's own, as the other keys
// of a line that is being written.
const unfoldKey = "ctrl+o"

// unfoldLines is how many lines are unfolded in place. More is read on a page: in
// a few lines of a pane nobody finds the way around in it.
const unfoldLines = 400

var unfoldHint = key.NewBinding(key.WithKeys(unfoldKey), key.WithHelp(unfoldKey, textUnfold))

// unfold puts a pasted text in the place of its token at the caret, which then
// stands behind it. What is sent stays the same: a text that the line does not
// bear, or that would mean something else in it, is shown as a page.
func (p *Pane) unfold() pane.Answer {
	before, after := p.field.Around()
	part, behind, ok := p.folds.at(before, after)
	if !ok {
		return pane.Answer{}
	}
	line, end := before+after, len(before)+behind
	open := line[:end-len(part.token)] + part.text + line[end:]
	if strings.Count(part.text, "\n") >= unfoldLines || !p.field.Bears(open) || p.folds.unfold(open) != p.folds.unfold(line) {
		return pane.Answer{Show: &pane.Page{Title: strings.Trim(part.token, "[]"), Body: part.text}}
	}
	for range behind {
		p.field.Take(tea.KeyPressMsg{Code: tea.KeyRight})
	}
	for range len(part.token) {
		p.field.Take(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	p.field.Insert(part.text)
	return pane.Answer{}
}

// folded reports whether the caret stands at a token.
func (p *Pane) folded() bool {
	if len(p.folds.parts) == 0 {
		return false
	}
	_, _, ok := p.folds.at(p.field.Around())
	return ok
}

// withUnfold adds the key to the help line where it does something, before the
// keys that a narrow line leaves out.
func (p *Pane) withUnfold(keys []key.Binding) []key.Binding {
	if !p.folded() {
		return keys
	}
	return append([]key.Binding{keys[0], unfoldHint}, keys[1:]...)
}
