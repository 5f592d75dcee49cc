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

// Input is a field for one line of text. The zero Input is empty.
type Input struct{ area Area }

// Text is the current text.
func (in *Input) Text() string { return in.area.Text() }

// Set replaces the text and moves the caret to its end.
func (in *Input) Set(s string) {
	in.area.Clear()
	in.Insert(s)
}

// Insert inserts cleaned text at the caret, with spaces for line breaks. Text beyond the
// field's limit is dropped.
func (in *Input) Insert(s string) { in.area.Insert(strings.ReplaceAll(cleaned(s), "\n", " ")) }

// Update handles a message that edits the text or moves the caret, and reports whether it
// was one.
func (in *Input) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		in.Insert(msg.Content)
		return true
	case tea.KeyPressMsg:
		if !writes(msg) && key.Matches(msg, betweenLines...) {
			return false
		}
	}
	return in.area.Update(msg)
}

// Line draws the text in exactly w cells. Of a longer text, it shows the part around the
// caret.
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

// caretRow is tidy text with a caret on the character at byte offset at, in at most w
// cells and cut without a mark. The caret may be beyond the text, in the spaces that
// wrapping dropped.
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

// maxField is the maximum length of a text, in bytes: a long message, not a book.
const maxField = 16 << 10

// backspaces are the keys that delete backwards; shift is accepted as a slip.
var backspaces = []string{"backspace", "ctrl+h", "shift+backspace"}

// writes reports whether a key inserts its character.
func writes(msg tea.KeyPressMsg) bool {
	return msg.Text != "" && msg.Mod&^tea.ModShift == 0
}

// cleaned is external text without the characters that the editor would drop or change,
// so that its contents are predictable.
func cleaned(s string) string {
	return strings.ReplaceAll(clean.Text(s), "\ufffd", "?")
}

func firstCharacter(s string) string {
	g := displaywidth.StringGraphemes(s)
	if !g.Next() {
		return ""
	}
	return g.Value()
}

// lastCharacter segments only the last line: characters do not cross a line break.
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

// Area is a field for several lines of text. The zero Area is empty.
//
// It edits with bubbles' textarea but draws itself: every character on the screen must
// have the width that we count, and nothing may blink.
type Area struct {
	edit *textarea.Model // created on the first edit: it takes a quarter of a megabyte
	w    int             // of the last drawing: "up" and "down" move by lines on the screen
}

// minEdit is the minimum width of the editor: textarea 2.2.1 panics if a wide character
// and the space after it do not fit on a line.
const minEdit = 8

// editKeys are the editor's keys; betweenLines are those that have no meaning in a
// single line.
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
	// Insert limits the length. MaxHeight is how many wrapped lines the editor
	// caches.
	m.MaxWidth, m.MaxHeight, m.MaxContentHeight = 0, 64, maxField
	m.KeyMap.DeleteCharacterBackward.SetKeys(backspaces...)
	m.Focus()
	if w > 0 {
		m.SetWidth(max(w, minEdit))
	}
	return &m
}

// Text is the current text.
func (a *Area) Text() string {
	if a.edit == nil {
		return ""
	}
	return a.edit.Value()
}

// Clear removes the text.
func (a *Area) Clear() { a.edit = nil }

// Insert inserts cleaned text at the caret. Text beyond the field's limit is dropped.
func (a *Area) Insert(s string) {
	s = cleaned(s)
	s = strings.ToValidUTF8(s[:max(0, min(len(s), maxField-len(a.Text())))], "") // no half character
	if s != "" {
		a.update(tea.PasteMsg{Content: s})
	}
}

// Update handles a message that edits the text or moves the caret, and reports whether it
// was one. It leaves Enter to its owner.
func (a *Area) Update(msg tea.Msg) bool {
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

// press handles a key that inserts no text. Keys that select are ignored, because no
// selection is drawn.
func (a *Area) press(msg tea.KeyPressMsg) bool {
	k := a.editor().KeyMap
	before, after := a.Around()
	n := 1 // how often the editor gets the key: it counts code points, not characters
	switch {
	case key.Matches(msg, k.CharacterBackward, k.DeleteCharacterBackward):
		n = utf8.RuneCountInString(lastCharacter(before))
	case key.Matches(msg, k.CharacterForward):
		n = utf8.RuneCountInString(firstCharacter(after))
	case key.Matches(msg, k.DeleteCharacterForward):
		// textarea 2.2.1 appends the next line when the last letter of a line is
		// deleted: move over the character, then delete backwards.
		n = utf8.RuneCountInString(firstCharacter(after))
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

// update passes a message to the editor. textarea 2.2.1 panics if a line ends in a character
// of two code points and the caret is on the space after it. After a panic, the previous text
// goes into an editor that does not wrap lines.
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
	m, _ := a.editor().Update(msg) // drop its commands: they blink a cursor or start programs
	a.edit = &m
	return true
}

// Fits reports whether a text is within the field's limit.
func (a *Area) Fits(text string) bool { return len(text) <= maxField }

// Around is the text before and after the caret.
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

// Lines draws the lines around the caret: at least one, at most h, of exactly w cells. If
// caret is false, no caret is drawn.
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

// Edges reports whether the caret is on the first line and on the last line of the
// screen.
func (a *Area) Edges() (top, bottom bool) {
	if a.Text() == "" {
		return true, true
	}
	at := a.editor().LineInfo()
	return a.edit.Line() == 0 && at.RowOffset == 0,
		a.edit.Line() == a.edit.LineCount()-1 && at.RowOffset >= at.Height-1
}

// namedKeys are the keys that have a name in the help line.
var namedKeys = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace, "PgUp": tea.KeyPgUp,
	"PgDn": tea.KeyPgDown, "↑": tea.KeyUp, "↓": tea.KeyDown, "←": tea.KeyLeft, "→": tea.KeyRight,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
}

// Key returns the key with a name of the help line. ok is false for names of several
// keys, such as "0-9".
func Key(name string) (msg tea.KeyPressMsg, ok bool) {
	for mark, mod := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt} {
		if rest, found := strings.CutPrefix(name, mark); found {
			name, msg.Mod = rest, mod
		}
	}
	if msg.Code, ok = namedKeys[name]; ok {
		if msg.Code == tea.KeySpace {
			msg.Text = " "
		}
		return msg, true
	}
	letters := []rune(name)
	if len(letters) != 1 {
		return tea.KeyPressMsg{}, false
	}
	msg.Code = letters[0]
	if msg.Mod == 0 {
		msg.Text = name
	}
	return msg, true
}
