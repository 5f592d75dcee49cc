package widget

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
)

// Area is a text of several lines that is being written. The zero Area is
// empty. It edits with bubbles' textarea and draws by itself, as Input does.
type Area struct {
	edit *textarea.Model
	w    int // when it was drawn last: "up" and "down" go by the lines on the screen
}

// minEdit is the least width that the editor knows of: textarea 2.2.1 panics when
// a wide character and the space behind it do not fit into its line.
const minEdit = 8

// editor is made with the first key: it takes a quarter of a megabyte.
func (a *Area) editor() *textarea.Model {
	if a.edit == nil {
		m := textarea.New()
		m.SetVirtualCursor(false)
		m.Prompt, m.ShowLineNumbers = "", false
		// What may be written is limited by Insert alone. MaxHeight is how many
		// broken lines the editor remembers.
		m.MaxWidth, m.MaxHeight, m.MaxContentHeight = 0, 64, maxField
		m.KeyMap.DeleteCharacterBackward.SetKeys(backspaces...)
		m.Focus()
		if a.w > 0 {
			m.SetWidth(max(a.w, minEdit))
		}
		a.edit = &m
	}
	return a.edit
}

// Text is what has been written.
func (a *Area) Text() string {
	if a.edit == nil {
		return ""
	}
	return a.edit.Value()
}

// Clear takes the text away.
func (a *Area) Clear() { a.edit = nil }

// Insert puts text at the caret, cleaned. What is too long is cut.
func (a *Area) Insert(s string) {
	s = fitting(cleaned(s), maxField-len(a.Text()))
	if s != "" {
		a.update(tea.PasteMsg{Content: s})
	}
}

// Take handles a message that writes, deletes or moves the caret, and reports
// whether it was one. Enter is none: what it means is its owner's.
func (a *Area) Take(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		a.Insert(msg.Content)
		return true
	case tea.KeyPressMsg:
		if writes(msg) {
			a.Insert(msg.Text)
			return true
		}
		return a.press(msg)
	}
	return false
}

// press carries out a key that writes nothing. What selects is left out, as no
// selection is drawn.
func (a *Area) press(msg tea.KeyPressMsg) bool {
	k := a.editor().KeyMap
	before, after := a.around()
	n := 1
	switch {
	case key.Matches(msg, k.CharacterBackward, k.DeleteCharacterBackward):
		n = runes(lastCharacter(before))
	case key.Matches(msg, k.CharacterForward):
		n = runes(firstCharacter(after))
	case key.Matches(msg, k.DeleteCharacterForward):
		// textarea 2.2.1 joins the next line on when the last letter of a line
		// is deleted: go over the character, then back.
		n = runes(firstCharacter(after))
		for range n {
			a.update(tea.KeyPressMsg{Code: tea.KeyRight})
		}
		msg = tea.KeyPressMsg{Code: tea.KeyBackspace}
	case key.Matches(msg, k.WordForward, k.WordBackward, k.DeleteWordBackward, k.DeleteWordForward,
		k.DeleteAfterCursor, k.DeleteBeforeCursor, k.LineStart, k.LineEnd, k.LineNext, k.LinePrevious,
		k.InputBegin, k.InputEnd, k.TransposeCharacterBackward):
	default:
		return false
	}
	for range n {
		a.update(msg)
	}
	return true
}

func (a *Area) update(msg tea.Msg) {
	m, _ := a.editor().Update(msg) // its commands blink a cursor or start programs
	a.edit = &m
}

// Bears reports whether the text as a whole is short enough to be written.
func (a *Area) Bears(text string) bool { return len(text) <= maxField }

// Around is the text before and behind the caret.
func (a *Area) Around() (before, after string) { return a.around() }

func (a *Area) around() (before, after string) {
	if a.edit == nil {
		return "", ""
	}
	lines := strings.SplitAfter(a.edit.Value(), "\n")
	row := min(a.edit.Line(), len(lines)-1)
	line := []rune(lines[row])
	at := min(a.edit.Column(), len(line))
	return strings.Join(lines[:row], "") + string(line[:at]), string(line[at:]) + strings.Join(lines[row+1:], "")
}

// Lines draws the text in at most h lines of exactly w cells, those around the
// caret. It gives at least one line. Without caret, a draft is shown as it is.
func (a *Area) Lines(b Brush, w, h int, caret bool) []string {
	w, h = max(1, w), max(1, h)
	if a.edit != nil && a.w != w {
		a.edit.SetWidth(max(w, minEdit))
	}
	a.w = w
	before, after := a.around()
	head, tail := lastLine(before), firstLine(after)
	rows := wrapped(before[:len(before)-len(head)], w)
	// The line with the caret: every row leaves a cell for it at its end.
	line, at := Tidy(head)+Tidy(tail), len(Tidy(head))
	mine := len(rows)
	pieces := breaks(line, max(1, w-1))
	for i, p := range pieces {
		last := i == len(pieces)-1
		if caret && at >= p.from && (last || at < pieces[i+1].from) {
			mine = len(rows)
			row, on := line[p.from:p.to], at-p.from
			if on >= len(row) { // behind it, among spaces that are not drawn
				row += Blank(min(on-len(row), w-1-Cells(row)))
				on = len(row)
			}
			rows = append(rows, caretRow(row, on, w))
			continue
		}
		rows = append(rows, []Span{{Text: line[p.from:p.to]}})
	}
	if after = after[len(tail):]; after != "" {
		rows = append(rows, wrapped(after[1:]+"\n", w)...)
	}
	first := max(0, min(mine-h/2, len(rows)-h))
	var out []string
	for _, row := range rows[first:min(len(rows), first+h)] {
		out = append(out, b.Line(w, row...))
	}
	return out
}

// wrapped breaks whole lines, each of which ends in a line break.
func wrapped(s string, w int) [][]Span {
	var rows [][]Span
	for line := range strings.Lines(s) {
		line = Tidy(strings.TrimSuffix(line, "\n"))
		for _, p := range breaks(line, max(1, w-1)) {
			rows = append(rows, []Span{{Text: line[p.from:p.to]}})
		}
	}
	return rows
}

// Edges report whether the caret is on the first line and on the last one, as
// they stand on the screen.
func (a *Area) Edges() (top, bottom bool) {
	if a.edit == nil {
		return true, true
	}
	at := a.edit.LineInfo()
	return a.edit.Line() == 0 && at.RowOffset == 0,
		a.edit.Line() == a.edit.LineCount()-1 && at.RowOffset >= at.Height-1
}
