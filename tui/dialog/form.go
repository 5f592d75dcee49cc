package dialog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Form is a column of fields that make a command; every form of the dashboard is one.
// Every key checks the fields; an error is shown below its field, with how to fix it.
// Enter sends the command once every field is valid. The form stays open until the core
// has carried out the command: if the core refuses it, the form shows why, and nothing
// that was typed is lost. A pane opens one with Answer.Open:
//
//	every := dialog.Text("Refill (min)", "90", checkMinutes)
//	form := &dialog.Form{
//		Name: "The budget", Fields: []*dialog.Field{every},
//		Make: func(pane.Context) command.Value { return setRefill(every.Text()) },
//	}
//	return pane.Answer{Open: form}
type Form struct {
	Name   string // the heading of the box
	Fields []*Field
	// Make is the command, or nil if there is nothing to do; it is called once every
	// field is valid.
	Make func(c pane.Context) command.Value
	// Then returns the dialog that enter opens instead, for the option at an index that needs
	// more than a choice; nil for all others. A nil function means none.
	Then func(c pane.Context, at int) pane.Dialog
	// effect describes, below the fields, what they would do, or with ok false why they
	// cannot be sent together. Nil shows nothing.
	effect func(c pane.Context) (text string, ok bool)
	Send   string // what enter does, in the help line; empty: "set"
	// keeps asks for a second esc before changes are discarded.
	keeps bool
	// picks means that the fields are options: enter or a second click sends the selected
	// one, and typed text goes to the last one.
	picks bool
	types key.Binding // what can be typed into the last field of a form that picks

	at     int
	tried  bool   // enter was pressed: empty fields are shown as missing
	sent   bool   // the core is carrying it out
	fault  string // why the core refused it, or the warning after the first esc
	opened time.Time
	lines  []int // the field of each line of the last drawing
}

// Pick is a form to choose one of several options, at first the one at an index; of makes the
// command for one.
func Pick(title string, words []string, at int, of func(i int) command.Value) *Form {
	f := &Form{Name: title, picks: true, at: at, opened: time.Now()}
	for _, word := range words {
		f.Fields = append(f.Fields, Choice(word, "", ""))
	}
	f.Make = func(pane.Context) command.Value { return of(f.at) }
	return f
}

// Title implements pane.Dialog.
func (f *Form) Title() string { return f.Name }

// Unsaved reports whether closing the form would lose changes, so that it asks first.
func (f *Form) Unsaved() bool {
	return f.keeps && slices.ContainsFunc(f.Fields, func(field *Field) bool { return field.Text() != field.before })
}

// Update implements pane.Dialog.
func (f *Form) Update(c pane.Context, msg tea.Msg) pane.Answer {
	switch msg := msg.(type) {
	case pane.Done:
		if msg.Err == nil {
			return pane.Answer{Close: true}
		}
		f.sent, f.fault = false, clean.Line(msg.Err.Error())
	case pane.Click:
		return f.click(c, msg)
	case tea.PasteMsg:
		if !f.sent {
			f.write(msg)
		}
	case tea.KeyPressMsg:
		return f.key(c, msg)
	}
	return pane.Answer{}
}

func (f *Form) key(c pane.Context, msg tea.KeyPressMsg) pane.Answer {
	if closes(msg) {
		if f.fault == textLeaveForm || f.sent || !f.Unsaved() {
			return pane.Answer{Close: true}
		}
		f.fault = textLeaveForm
		return pane.Answer{}
	}
	if f.sent {
		return pane.Answer{}
	}
	f.keepEditing()
	n := len(f.Fields)
	switch field := f.Fields[f.at]; {
	case field.area != nil && field.inside(msg):
		f.write(msg)
	case key.Matches(msg, formKeys.next):
		f.at = (f.at + 1) % n
	case key.Matches(msg, formKeys.previous):
		f.at = (f.at + n - 1) % n
	case field.more != nil && key.Matches(msg, formKeys.open):
		f.open()
	case key.Matches(msg, formKeys.send):
		return f.send(c)
	case field.choices != nil && key.Matches(msg, formKeys.turn):
		field.turn()
	default:
		f.write(msg)
	}
	return pane.Answer{}
}

// open puts the fields of the current row in its place.
func (f *Form) open() { f.Fields = slices.Replace(f.Fields, f.at, f.at+1, f.Fields[f.at].more...) }

// write passes a key or a paste to the current field.
func (f *Form) write(msg tea.Msg) {
	f.fault = ""
	if f.picks && typed(msg) != "" {
		f.at = len(f.Fields) - 1
	}
	f.Fields[f.at].take(msg)
}

// keepEditing removes the warning of esc.
func (f *Form) keepEditing() {
	if f.fault == textLeaveForm {
		f.fault = ""
	}
}

// click selects the field under the pointer. A second click changes a choice, or sends
// it. A click just after the form opened sends nothing, because it was not meant for it.
func (f *Form) click(c pane.Context, at pane.Click) pane.Answer {
	if f.sent || at.Beside || at.Y >= len(f.lines) {
		return pane.Answer{}
	}
	f.keepEditing()
	i := f.lines[at.Y]
	again, field := f.at == i, f.Fields[i]
	f.at = i
	switch {
	case field.more != nil:
		f.open()
	case !again || field.choices == nil:
	case !f.picks:
		field.turn()
	case time.Since(f.opened) >= grace:
		return f.send(c)
	}
	return pane.Answer{}
}

func (f *Form) send(c pane.Context) pane.Answer {
	f.tried, f.fault = true, ""
	for i, field := range f.Fields {
		if f.picks && i != f.at {
			continue
		}
		if _, ok := field.check(c, true); !ok {
			f.at = i
			return pane.Answer{}
		}
	}
	if f.effect != nil {
		if _, ok := f.effect(c); !ok {
			return pane.Answer{}
		}
	}
	if f.Then != nil {
		if d := f.Then(c, f.at); d != nil {
			return pane.Answer{Close: true, Open: d}
		}
	}
	do := f.Make(c)
	f.sent = do != nil
	return pane.Answer{Send: do, Close: do == nil}
}

// Hint implements pane.Dialog.
func (f *Form) Hint() []key.Binding {
	out := []key.Binding{named(formKeys.send, cmp.Or(f.Send, formKeys.send.Help().Desc))}
	switch {
	case f.Fields[f.at].more != nil:
		out = []key.Binding{formKeys.open, formKeys.next, named(formKeys.save, f.Send)}
	case f.picks:
		out = append(out, formKeys.pick)
		if f.types.Help().Key != "" {
			out = append(out, f.types)
		}
	case len(f.Fields) > 1:
		out = append(out, formKeys.next)
	}
	switch field := f.Fields[f.at]; {
	case field.choices != nil && !f.picks:
		out = append(out, formKeys.turn)
	case field.area != nil:
		out = append(out, formKeys.line)
	}
	if f.Unsaved() {
		return append(out, formKeys.warn)
	}
	return append(out, formKeys.leave)
}

// The width of the form, and the maximum height of notes, errors and the foot. Errors get
// more lines, so that their fix is not cut off.
const (
	formWidth = 76
	noteRows  = 2
	wrongRows = 4
	footRows  = 3
	narrow    = 48 // below this width notes are not aligned with the column
)

// Draw implements pane.Dialog.
func (f *Form) Draw(c pane.Context, w, h int) []string {
	w = min(w-Air, formWidth)
	foot := f.foot(c, w, h > len(f.Fields)+footRows)
	foot = foot[:min(len(foot), max(0, h-1))]
	var lines []string
	f.lines = f.lines[:0]
	for i, field := range f.Fields {
		lines = append(lines, f.rows(c, w, i)...)
		if note, ok := field.check(c, f.tried); note != "" && (!ok || i == f.at || h >= len(f.Fields)*2+2) {
			lines = append(lines, f.noted(c, w, field, note, ok)...)
		}
		for len(f.lines) < len(lines) {
			f.lines = append(f.lines, i)
		}
	}
	// The current field with its note and the foot stay visible.
	room := h - len(foot)
	top := max(0, min(slices.Index(f.lines, f.at), len(lines)-room))
	end := min(len(lines), top+room)
	f.lines = f.lines[top:end]
	return append(lines[top:end], foot...)
}

// column is where the texts of the fields start.
func (f *Form) column() int {
	n := 0
	for _, field := range f.Fields {
		n = max(n, widget.Cells(field.Label))
		for _, later := range field.more { // so that nothing moves when they open
			n = max(n, widget.Cells(later.Label))
		}
	}
	return n + 5
}

// areaRows is how many lines of a long text are visible while it is edited.
const areaRows = 6

// rows are the lines of a field, after the pointer and its name.
func (f *Form) rows(c pane.Context, w, i int) (lines []string) {
	field, b, mark := f.Fields[i], brush(c), "  "
	if i == f.at {
		b.Back, mark = theme.Select, c.Theme.Glyph(theme.Pointer)+" "
	}
	n := min(w, f.column())
	room := w - n
	switch {
	case field.area != nil && i == f.at:
		lines = field.area.Lines(b, max(1, room), areaRows, true)
	case field.area != nil:
		first := widget.WrapN(field.Text(), max(1, room), 1, c.Theme.Glyph(theme.Ellipsis))[0]
		lines = []string{b.Line(room, widget.Span{Text: first})}
	case field.choices != nil:
		lines = []string{b.Line(room, widget.Span{Text: field.Text()})}
	case field.Selected && i == f.at && field.Text() != "":
		lines = []string{b.Line(room, widget.Span{Role: theme.Caret, Text: field.Text()})}
	default:
		lines = []string{field.input.Line(b, room, i == f.at)}
	}
	head := b.Line(n, widget.Span{Text: " "}, widget.Span{Role: theme.Focus, Text: mark}, widget.Span{Text: field.Label})
	for y := range lines {
		lines[y] = head + lines[y]
		head = b.Line(n)
	}
	return lines
}

// noted is the note below a field.
func (f *Form) noted(c pane.Context, w int, field *Field, text string, ok bool) []string {
	role, rows := theme.Dim, noteRows
	switch {
	case !ok:
		role, rows, text = theme.Warn, wrongRows, c.Theme.Glyph(theme.Bang)+" "+text
	case field.Check != nil && field.choices == nil && field.Text() != "":
		role = theme.Accent
	}
	n := f.column()
	if w < narrow {
		n = 4
	}
	var out []string
	for _, s := range widget.WrapN(text, max(1, w-n-1), rows, c.Theme.Glyph(theme.Ellipsis)) {
		out = append(out, brush(c).Line(w, widget.Span{Text: widget.Blank(n)}, widget.Span{Role: role, Text: s}))
	}
	return out
}

// foot is the end of the form: the effect of the fields, that they are being sent, or
// why they were refused.
func (f *Form) foot(c pane.Context, w int, air bool) []string {
	text, role, mark := "", theme.Accent, ""
	switch {
	case f.sent:
		text, role = "saving the file…", theme.Dim
	case f.fault != "":
		text, role, mark = f.fault, theme.Bad, c.Theme.Glyph(theme.Cross)+" "
	case f.effect != nil:
		var ok bool
		if text, ok = f.effect(c); !ok {
			role = theme.Warn
		}
	}
	if text == "" && !f.picks {
		return nil
	}
	out, least := []string{}, footRows-1
	if air && (f.picks || role != theme.Bad && role != theme.Dim) {
		out, least = append(out, widget.Blank(w)), footRows+1
	}
	for _, s := range widget.WrapN(text, max(1, w-4), footRows, c.Theme.Glyph(theme.Ellipsis)) {
		out = append(out, brush(c).Line(w, widget.Span{Role: role, Text: " " + mark + s}))
		mark = widget.Blank(widget.Cells(mark))
	}
	for f.picks && len(out) < least { // so that the options do not move when another is selected
		out = append(out, widget.Blank(w))
	}
	return out
}

// Check explains the meaning of a text; the note may be empty. If ok is false, the note
// says what is wrong and how to fix it.
type Check func(c pane.Context, text string) (note string, ok bool)

// Field is a field of a form. Use Text, Lines or Choice.
type Field struct {
	Label string
	Hint  string // shown below the field while it is empty, or has no Check
	// needed means that it must not be empty; the error appears only after enter.
	needed bool
	Check  Check // nil accepts everything
	// Selected means that the text is selected: what is typed first replaces it.
	Selected bool

	choices []string // nil for a text
	chosen  int
	input   widget.Input
	area    *widget.Area // of a text of several lines; nil for one
	more    []*Field     // the fields that this row opens; nil for a field
	before  string       // its value when the form opened
}

// Text is a field for one line of text.
func Text(label, text string, check Check) *Field {
	f := &Field{Label: label, Hint: fieldNotes[label], Check: check, before: text}
	f.input.Set(text)
	return f
}

// Lines is a field for several lines of text: alt+enter starts a line, enter sends the form.
func Lines(label, text string) *Field {
	f := &Field{Label: label, Hint: fieldNotes[label], area: &widget.Area{}}
	f.area.Insert(text)
	f.before = f.area.Text()
	return f
}

// Choice is a field with a few options: space selects the next one.
func Choice(label, chosen string, words ...string) *Field {
	return &Field{Label: label, Hint: fieldNotes[label], choices: words, before: chosen, chosen: max(0, slices.Index(words, chosen))}
}

// moreOptions is the row that opens other fields.
func moreOptions(fields []*Field) *Field {
	var names []string
	for _, f := range fields {
		names = append(names, f.Label)
	}
	return &Field{Label: "More options…", Hint: strings.Join(names, ", "), more: fields}
}

// Text is the field's text or its chosen option.
func (f *Field) Text() string {
	switch {
	case f.choices != nil:
		return f.choices[f.chosen]
	case f.area != nil:
		return f.area.Text()
	}
	return f.input.Text()
}

// inside reports whether a key moves between the lines of the field.
func (f *Field) inside(msg tea.KeyPressMsg) bool {
	top, bottom := f.area.Edges()
	return msg.String() == "up" && !top || msg.String() == "down" && !bottom
}

func (f *Field) turn() { f.chosen = (f.chosen + 1) % len(f.choices) }

// check is the note below the field; tried means that enter was pressed.
func (f *Field) check(c pane.Context, tried bool) (note string, ok bool) {
	text := f.Text()
	switch {
	case strings.TrimSpace(text) != "" || f.Hint == "":
	case f.needed && tried:
		return "needed: " + f.Hint, false
	default:
		return f.Hint, true
	}
	if f.Check == nil {
		return f.Hint, true
	}
	return f.Check(c, text)
}

// take passes a key or a paste to the field. Invalid characters are kept, so that the
// field's check fails: dropping them would turn 1.5 into 15.
func (f *Field) take(msg tea.Msg) {
	k, _ := msg.(tea.KeyPressMsg)
	switch {
	case f.choices != nil || f.more != nil:
	case f.area != nil && key.Matches(k, formKeys.line):
		f.area.Insert("\n")
	case f.area != nil:
		f.area.Update(msg)
	default:
		deletes := key.Matches(k, formKeys.erase)
		if f.Selected && (deletes || typed(msg) != "") {
			f.input.Set("")
		}
		f.Selected = false
		f.input.Update(msg)
	}
}

// typed is the text of a key or a paste.
func typed(msg tea.Msg) string {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return msg.Text
	case tea.PasteMsg:
		return msg.Content
	}
	return ""
}
