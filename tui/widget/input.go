package widget

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/theme"
)

// Input is one line of text that is being written. The zero Input is empty.
//
// It edits with bubbles' textinput and draws by itself: on the screen every
// character must be exactly as wide as it is counted, and nothing may blink.
type Input struct {
	edit *textinput.Model
}

// editor is made with the first key: most inputs are never written in.
func (in *Input) editor() *textinput.Model {
	if in.edit == nil {
		m := textinput.New()
		m.SetVirtualCursor(false)
		// A paste comes from the terminal, never from a program that we would
		// have to start; the others have no meaning in one line.
		m.KeyMap.Paste.SetEnabled(false)
		m.KeyMap.AcceptSuggestion.SetEnabled(false)
		m.KeyMap.NextSuggestion.SetEnabled(false)
		m.KeyMap.PrevSuggestion.SetEnabled(false)
		m.KeyMap.DeleteCharacterBackward.SetKeys(backspaces...)
		m.Focus()
		in.edit = &m
	}
	return in.edit
}

// Text is what has been written.
func (in *Input) Text() string {
	if in.edit == nil {
		return ""
	}
	return in.edit.Value()
}

// Set replaces the text and puts the caret at its end.
func (in *Input) Set(s string) {
	in.edit = nil
	in.Insert(s)
}

// Insert puts text at the caret, cleaned, a line break as a space. What is too
// long is cut.
func (in *Input) Insert(s string) {
	s = fitting(strings.ReplaceAll(cleaned(s), "\n", " "), maxField-len(in.Text()))
	if s != "" {
		in.update(tea.PasteMsg{Content: s})
	}
}

// Take handles a message that writes, deletes or moves the caret, and reports
// whether it was one.
func (in *Input) Take(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		in.Insert(msg.Content)
		return true
	case tea.KeyPressMsg:
		if writes(msg) {
			in.Insert(msg.Text)
			return true
		}
		return in.press(msg)
	}
	return false
}

// press carries out a key that writes nothing.
func (in *Input) press(msg tea.KeyPressMsg) bool {
	m := in.editor()
	k := m.KeyMap
	before, after := in.around()
	n := 1
	switch {
	case key.Matches(msg, k.CharacterBackward, k.DeleteCharacterBackward):
		n = runes(lastCharacter(before))
	case key.Matches(msg, k.CharacterForward, k.DeleteCharacterForward):
		n = runes(firstCharacter(after))
	case key.Matches(msg, k.DeleteWordForward) && runes(after) <= 1:
		// textinput 2.2.1 looks behind the end of the text here, and panics.
		msg = tea.KeyPressMsg{Code: 'k', Mod: tea.ModCtrl}
	case key.Matches(msg, k.WordForward, k.WordBackward, k.DeleteWordBackward, k.DeleteWordForward,
		k.DeleteAfterCursor, k.DeleteBeforeCursor, k.LineStart, k.LineEnd):
	default:
		return false
	}
	for range n {
		in.update(msg)
	}
	return true
}

func (in *Input) update(msg tea.Msg) {
	m, _ := in.editor().Update(msg) // its commands blink a cursor or start programs
	in.edit = &m
}

// around is the text before and behind the caret.
func (in *Input) around() (before, after string) {
	if in.edit == nil {
		return "", ""
	}
	all := []rune(in.edit.Value())
	at := min(in.edit.Position(), len(all))
	return string(all[:at]), string(all[at:])
}

// Line draws the text in exactly w cells, the part around the caret where it is
// longer.
func (in *Input) Line(b Brush, w int, caret bool) string {
	before, after := in.around()
	before, after = Tidy(before), Tidy(after)
	if !caret {
		return b.Line(w, Span{Text: before + after})
	}
	for before != "" && Cells(before) >= max(1, w) {
		before = before[len(firstCharacter(before)):]
	}
	return b.Line(w, caretRow(before+after, len(before), w)...)
}

// caretRow is tidy text with a caret on the character at a byte, in at most w
// cells and without a mark where it is cut.
func caretRow(s string, at, w int) []Span {
	if Cells(s[:at]) >= w { // a column of one cell
		s, at = s[at:], 0
	}
	under := firstCharacter(s[at:])
	rest := s[at+len(under):]
	if under == "" || Cells(under) > w-Cells(s[:at]) {
		under, rest = " ", ""
	}
	rest, _ = cut(rest, w-Cells(s[:at])-Cells(under), "")
	return []Span{{Text: s[:at]}, {theme.Caret, under}, {Text: rest}}
}
