package widget

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

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
	if paste, ok := msg.(tea.PasteMsg); ok {
		in.Insert(paste.Content)
		return true
	}
	return in.area.update(msg, false)
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
type Area struct {
	text string
	at   int // the byte before which the caret is
	w    int // of the last drawing: "up" and "down" move by lines on the screen
	goal int // the cell that "up" and "down" aim for, from 1; 0 after any other key
}

// areaKeys are the keys that move the caret, or erase the text up to where they would move it. Those of lines have no
// meaning in a single line. Keys that select are left out, because no selection is drawn.
var areaKeys = []struct {
	names         string
	to            func(a *Area) int
	erases, lines bool
}{
	{names: "left ctrl+b", to: (*Area).left},
	{names: "right ctrl+f", to: (*Area).right},
	{names: "alt+left ctrl+left alt+b", to: (*Area).wordLeft},
	{names: "alt+right ctrl+right alt+f", to: (*Area).wordRight},
	{names: "home ctrl+a", to: func(a *Area) int { from, _ := a.line(); return from }},
	{names: "end ctrl+e", to: func(a *Area) int { _, end := a.line(); return end }},
	{names: "up ctrl+p", to: func(a *Area) int { return a.vertical(-1) }, lines: true},
	{names: "down ctrl+n", to: func(a *Area) int { return a.vertical(+1) }, lines: true},
	{names: "ctrl+home alt+<", to: func(a *Area) int { a.goal = 0; return 0 }, lines: true},
	{names: "ctrl+end alt+>", to: func(a *Area) int { a.goal = 0; return len(a.text) }, lines: true},
	{names: "backspace ctrl+h shift+backspace", to: (*Area).left, erases: true}, // shift is accepted as a slip
	{names: "delete ctrl+d", to: (*Area).right, erases: true},
	// What erases more than a character stays in its line, unless the caret is at the end of it.
	{names: "ctrl+u", to: (*Area).back, erases: true},
	{names: "ctrl+k", to: (*Area).ahead, erases: true},
	{names: "ctrl+w alt+backspace ctrl+backspace", to: func(a *Area) int { return max(a.wordLeft(), a.back()) }, erases: true},
	{names: "alt+d alt+delete ctrl+delete", to: func(a *Area) int { return min(a.wordRight(), a.ahead()) }, erases: true},
}

// Text is the current text.
func (a *Area) Text() string { return a.text }

// Clear removes the text.
func (a *Area) Clear() { *a = Area{w: a.w} }

// Insert inserts cleaned text at the caret. Text beyond the field's limit is dropped.
func (a *Area) Insert(s string) {
	s = cleaned(s)
	s = strings.ToValidUTF8(s[:max(0, min(len(s), maxField-len(a.text)))], "") // no half character
	a.text, a.at, a.goal = a.text[:a.at]+s+a.text[a.at:], a.at+len(s), 0
}

// Update handles a message that edits the text or moves the caret, and reports whether it was one. It leaves Enter to
// its owner.
func (a *Area) Update(msg tea.Msg) bool { return a.update(msg, true) }

// update is Update; without lines, it leaves alone the keys that have no meaning in a single line.
func (a *Area) update(msg tea.Msg, lines bool) bool {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		a.Insert(msg.Content)
		return true
	case tea.KeyPressMsg:
		if msg.Text != "" && msg.Mod&^tea.ModShift == 0 { // the key writes its character
			a.Insert(msg.Text)
			return true
		}
		for _, k := range areaKeys {
			if (lines || !k.lines) && slices.Contains(strings.Fields(k.names), msg.String()) {
				to := k.to(a)
				if !k.lines {
					a.goal = 0
				}
				if k.erases {
					a.text = a.text[:min(a.at, to)] + a.text[max(a.at, to):]
					to = min(a.at, to)
				}
				a.at = to
				return true
			}
		}
	}
	return false
}

// left and right are before and after the caret by a character.
func (a *Area) left() int  { return a.at - len(lastCharacter(a.text[:a.at])) }
func (a *Area) right() int { return a.at + len(firstCharacter(a.text[a.at:])) }

// wordLeft is where the word before the caret starts, and wordRight where the one after it ends.
func (a *Area) wordLeft() int {
	before := strings.TrimRightFunc(a.text[:a.at], unicode.IsSpace)
	return len(strings.TrimRightFunc(before, func(r rune) bool { return !unicode.IsSpace(r) }))
}

func (a *Area) wordRight() int {
	after := strings.TrimLeftFunc(a.text[a.at:], unicode.IsSpace)
	return len(a.text) - len(strings.TrimLeftFunc(after, func(r rune) bool { return !unicode.IsSpace(r) }))
}

// line is where the line of the caret starts and ends.
func (a *Area) line() (from, end int) {
	before, _, _ := strings.Cut(a.text[a.at:], "\n")
	return strings.LastIndexByte(a.text[:a.at], '\n') + 1, a.at + len(before)
}

// back and ahead are the start and the end of the line; the caret there, they are in the next one.
func (a *Area) back() int {
	from, _ := a.line()
	return max(0, min(from, a.at-1))
}

func (a *Area) ahead() int {
	_, end := a.line()
	return min(len(a.text), max(end, a.at+1))
}

// rows are the lines on the screen, and the one with the caret.
func (a *Area) rows() (rows []piece, mine int) {
	from := 0
	for line := range strings.SplitSeq(a.text, "\n") {
		for _, p := range breaks(line, max(1, cmp.Or(a.w, maxField)-1)) {
			if from+p.from <= a.at {
				mine = len(rows)
			}
			rows = append(rows, piece{from + p.from, from + p.to})
		}
		from += len(line) + 1
	}
	return rows, mine
}

// vertical is the place in the row above or below the caret, as near as possible to the cell from which vertical moves
// began.
func (a *Area) vertical(by int) int {
	rows, mine := a.rows()
	a.goal = cmp.Or(a.goal, Cells(a.text[rows[mine].from:a.at])+1)
	if mine += by; mine < 0 || mine >= len(rows) {
		return a.at
	}
	n, _ := skip(a.text[rows[mine].from:rows[mine].to], a.goal-1)
	return rows[mine].from + n
}

// Fits reports whether a text is within the field's limit.
func (a *Area) Fits(text string) bool { return len(text) <= maxField }

// Around is the text before and after the caret.
func (a *Area) Around() (before, after string) { return a.text[:a.at], a.text[a.at:] }

// Lines draws the lines around the caret: at least one, at most h, of exactly w cells. If
// caret is false, no caret is drawn.
func (a *Area) Lines(b Brush, w, h int, caret bool) []string {
	w, h = max(1, w), max(1, h)
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
	rows, mine := a.rows()
	return mine == 0, mine == len(rows)-1
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
