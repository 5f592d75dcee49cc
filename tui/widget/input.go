package widget

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"ollimbot/core/base/clean"
	"ollimbot/tui/theme"
)

// Input is one line of text that is being written. The zero Input is empty.
type Input struct{ area Area }

// Text is what has been written.
func (in *Input) Text() string { return in.area.Text() }

// Set replaces the text and puts the caret at its end.
func (in *Input) Set(s string) {
	in.area.Clear()
	in.Insert(s)
}

// Insert puts text at the caret, cleaned, a line break as a space. What is too
// long is cut.
func (in *Input) Insert(s string) { in.area.Insert(strings.ReplaceAll(cleaned(s), "\n", " ")) }

// Take handles a message that writes, deletes or moves the caret, and reports
// whether it was one.
func (in *Input) Take(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		in.Insert(msg.Content)
		return true
	case tea.KeyPressMsg:
		if !writes(msg) && key.Matches(msg, betweenLines...) {
			return false
		}
	}
	return in.area.Take(msg)
}

// Line draws the text in exactly w cells, the part around the caret where it is
// longer.
func (in *Input) Line(b Brush, w int, caret bool) string {
	before, after := in.area.Around()
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
// cells and without a mark where it is cut. It may stand behind the text, among spaces
// that are not drawn.
func caretRow(s string, at, w int) []Span {
	if at > len(s) {
		s += Blank(min(at-len(s), w-1-Cells(s)))
		at = len(s)
	}
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

// maxField is the most bytes that can be written: a long message, not a book.
const maxField = 16 << 10

// backspaces are the keys that delete backwards; with shift it is a slip.
var backspaces = []string{"backspace", "ctrl+h", "shift+backspace"}

// writes reports that a key writes what stands on it.
func writes(msg tea.KeyPressMsg) bool {
	return msg.Text != "" && msg.Mod&^tea.ModShift == 0
}

// cleaned is foreign text without what the editors would drop or change by
// themselves, so that what they hold is known.
func cleaned(s string) string {
	return strings.ReplaceAll(clean.Text(s), "\ufffd", "?")
}

// The editors count code points, people count characters: a key that goes over
// one character goes over all of its code points.
func runes(character string) int { return utf8.RuneCountInString(character) }

func firstCharacter(s string) string {
	g := displaywidth.StringGraphemes(s)
	if !g.Next() {
		return ""
	}
	return g.Value()
}

// lastCharacter looks at the end of the last line only: characters do not
// reach over a line break.
func lastCharacter(s string) string {
	line := s[strings.LastIndexByte(s, '\n')+1:]
	if line == "" {
		return s[max(0, len(s)-1):]
	}
	last := ""
	for g := displaywidth.StringGraphemes(line); g.Next(); {
		last = g.Value()
	}
	return last
}

// Area is a text of several lines that is being written. The zero Area is
// empty.
//
// It edits with bubbles' textarea and draws by itself: on the screen every
// character must be exactly as wide as it is counted, and nothing may blink.
type Area struct {
	edit *textarea.Model // made when something is written: it takes a quarter of a megabyte
	w    int             // when it was drawn last: "up" and "down" go by the lines on the screen
}

// minEdit is the least width that the editor knows of: textarea 2.2.1 panics when
// a wide character and the space behind it do not fit into its line.
const minEdit = 8

// editKeys are the editor's keys; betweenLines are those of them that have no meaning
// in one line.
var (
	editKeys     = textarea.DefaultKeyMap()
	betweenLines = []key.Binding{editKeys.LineNext, editKeys.LinePrevious, editKeys.InputBegin, editKeys.InputEnd, editKeys.TransposeCharacterBackward}
)

func (a *Area) editor() *textarea.Model {
	if a.edit == nil {
		a.edit = fresh(a.w)
	}
	return a.edit
}

// fresh is an empty editor of that width, or of the usual one for 0.
func fresh(w int) *textarea.Model {
	m := textarea.New()
	m.SetVirtualCursor(false)
	m.Prompt, m.ShowLineNumbers = "", false
	// What may be written is limited by Insert alone. MaxHeight is how many
	// broken lines the editor remembers.
	m.MaxWidth, m.MaxHeight, m.MaxContentHeight = 0, 64, maxField
	m.KeyMap.DeleteCharacterBackward.SetKeys(backspaces...)
	m.Focus()
	if w > 0 {
		m.SetWidth(max(w, minEdit))
	}
	return &m
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
	s = cleaned(s)
	s = strings.ToValidUTF8(s[:max(0, min(len(s), maxField-len(a.Text())))], "") // no half character
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
	before, after := a.Around()
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
		k.DeleteAfterCursor, k.DeleteBeforeCursor, k.LineStart, k.LineEnd), key.Matches(msg, betweenLines...):
	default:
		return false
	}
	for range n {
		a.update(msg)
	}
	return true
}

// update lets the editor carry out a message. textarea 2.2.1 panics where a character of two
// code points ends a line and the caret is on the space behind it: then an editor that breaks no
// line starts from the text before.
func (a *Area) update(msg tea.Msg) {
	before, after := a.Around()
	if a.tries(msg) {
		return
	}
	wide := fresh(maxField)
	wide.SetValue(before + after)
	for range strings.Count(after, "\n") {
		wide.CursorUp()
	}
	wide.SetCursorColumn(utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]))
	a.edit, a.w = wide, 0 // Lines sets the width again
	a.tries(msg)
}

// tries reports whether the editor has carried out a message.
func (a *Area) tries(msg tea.Msg) (done bool) {
	defer func() {
		if !done {
			_ = recover()
		}
	}()
	m, _ := a.editor().Update(msg) // its commands blink a cursor or start programs
	a.edit = &m
	return true
}

// Bears reports whether the text as a whole is short enough to be written.
func (a *Area) Bears(text string) bool { return len(text) <= maxField }

// Around is the text before and behind the caret.
func (a *Area) Around() (before, after string) {
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
	before, after := a.Around()
	var rows [][]Span
	mine, left := 0, len(before) // bytes up to the caret
	for line := range strings.SplitSeq(before+after, "\n") {
		n, at := len(line), -1
		if left >= 0 && left <= n {
			head := Tidy(line[:left])
			line, at = head+Tidy(line[left:]), len(head)
		} else {
			line = Tidy(line)
		}
		left -= n + 1
		pieces := breaks(line, max(1, w-1)) // every row leaves a cell for the caret at its end
		for i, p := range pieces {
			row := []Span{{Text: line[p.from:p.to]}}
			if at >= p.from && (i == len(pieces)-1 || at < pieces[i+1].from) {
				mine = len(rows)
				if caret {
					row = caretRow(line[p.from:p.to], at-p.from, w)
				}
			}
			rows = append(rows, row)
		}
	}
	first := max(0, min(mine-h/2, len(rows)-h))
	var out []string
	for _, row := range rows[first:min(len(rows), first+h)] {
		out = append(out, b.Line(w, row...))
	}
	return out
}

// Edges report whether the caret is on the first line and on the last one, as
// they stand on the screen.
func (a *Area) Edges() (top, bottom bool) {
	if a.Text() == "" {
		return true, true
	}
	at := a.editor().LineInfo()
	return a.edit.Line() == 0 && at.RowOffset == 0,
		a.edit.Line() == a.edit.LineCount()-1 && at.RowOffset >= at.Height-1
}
