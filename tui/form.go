package tui

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// form is a new routine or reminder that is being written. What the fields say
// is checked with every key; what is wrong stands below its field.
type form struct {
	at                 fieldID
	when, name, prompt widget.Input
	reminder           bool
	foreground, silent bool

	now   time.Time // of the last drawing, in the bot's zone
	tried bool      // enter was pressed: also what is empty is shown as missing
	sent  bool      // the core is writing the file
	fault string    // what the core has said against it
	// leaving: esc was pressed once while something was written.
	leaving bool
	// lines are the fields that stood in the lines of the last drawing.
	lines []fieldID
}

// fieldID is a field of the form, from the top.
type fieldID int

const (
	fieldKind fieldID = iota
	fieldWhen
	fieldTitle
	fieldPrompt
	fieldPlace
	fieldPings
	numFields
)

func newForm(s *core.Snapshot) *form {
	f := &form{at: fieldWhen}
	f.look(s)
	return f
}

func (f *form) title() string { return textFormTitle }

func (f *form) look(s *core.Snapshot) {
	f.now = s.At
	if s.Zone != nil {
		f.now = f.now.In(s.Zone)
	}
}

// input is the text field of an id, or nil.
func (f *form) input(id fieldID) *widget.Input {
	switch id {
	case fieldWhen:
		return &f.when
	case fieldTitle:
		return &f.name
	case fieldPrompt:
		return &f.prompt
	default:
		return nil
	}
}

// note is what a field comes to, or what is wrong with it.
func (f *form) note(id fieldID) (text string, bad bool) {
	switch id {
	case fieldKind:
		if f.reminder {
			return textKindReminder, false
		}
		return textKindRoutine, false
	case fieldWhen:
		if f.when.Text() == "" {
			return f.missing()
		}
		_, text, ok := f.moment()
		return text, !ok
	case fieldTitle:
		return textTitleNote, false
	case fieldPrompt:
		if strings.TrimSpace(f.prompt.Text()) == "" && f.tried {
			return textPromptNeeded, true
		} else if f.prompt.Text() == "" {
			return textPromptNote, false
		}
	default:
	}
	return "", false
}

// missing is the second field without a text: a hint, and after enter what is
// needed.
func (f *form) missing() (string, bool) {
	text := textWhenRoutine
	if f.reminder {
		text = textWhenReminder
	}
	if f.tried {
		text = textNeeded + text
	}
	return text, f.tried
}

// moment reads the second field; text says what it means, or what is wrong.
func (f *form) moment() (at time.Time, text string, ok bool) {
	if f.reminder {
		return readMoment(f.when.Text(), f.now)
	}
	return readCron(f.when.Text(), f.now)
}

// task is the command, once every field is right; else the first that is not.
func (f *form) task() (c command.AddTask, wrong fieldID, ok bool) {
	at, _, ok := f.moment()
	if !ok {
		return c, fieldWhen, false
	}
	if strings.TrimSpace(f.prompt.Text()) == "" {
		return c, fieldPrompt, false
	}
	c = command.AddTask{
		Description: strings.TrimSpace(f.name.Text()), Message: strings.TrimSpace(f.prompt.Text()),
		Foreground: f.foreground, Silent: f.silent,
	}
	if f.reminder {
		c.At = at
	} else {
		c.Cron = strings.TrimSpace(f.when.Text())
	}
	return c, 0, true
}

func (f *form) key(msg tea.KeyPressMsg) verdict {
	if f.sent {
		return verdict{}
	}
	f.goesOn()
	input := f.input(f.at)
	switch {
	case key.Matches(msg, formKeys.next):
		f.at = (f.at + 1) % numFields
	case key.Matches(msg, formKeys.previous):
		f.at = (f.at + numFields - 1) % numFields
	case key.Matches(msg, formKeys.create):
		return f.create()
	case input == nil && key.Matches(msg, formKeys.toggle):
		f.toggle()
	case input != nil && input.Take(msg):
		f.fault = ""
	}
	return verdict{}
}

// goesOn takes back the warning of esc.
func (f *form) goesOn() {
	if f.leaving {
		f.leaving, f.fault = false, ""
	}
}

// click goes to the field under the pointer; a choice that is marked changes.
func (f *form) click(_, y int) verdict {
	if f.sent || y >= len(f.lines) {
		return verdict{}
	}
	f.goesOn()
	if f.at == f.lines[y] {
		f.toggle()
	}
	f.at = f.lines[y]
	return verdict{}
}

// create sends the task off. The form stays until the core has written it, so
// that nothing that was typed is lost.
func (f *form) create() verdict {
	f.tried, f.fault = true, ""
	c, wrong, ok := f.task()
	if !ok {
		f.at = wrong
		return verdict{}
	}
	f.sent = true
	return verdict{ask: c}
}

func (f *form) toggle() {
	switch f.at {
	case fieldKind:
		f.reminder = !f.reminder
	case fieldPlace:
		f.foreground = !f.foreground
	case fieldPings:
		f.silent = !f.silent
	default:
	}
}

func (f *form) paste(msg tea.PasteMsg) {
	if input := f.input(f.at); input != nil && !f.sent {
		input.Take(msg)
		f.fault = ""
	}
}

func (f *form) wheel(bool) {}

// escape keeps what was written from being lost by one key.
func (f *form) escape() bool {
	if f.leaving || f.sent || !f.written() {
		return false
	}
	f.leaving, f.fault = true, textLeaveForm
	return true
}

// written reports that something would be lost with the form.
func (f *form) written() bool { return f.when.Text()+f.name.Text()+f.prompt.Text() != "" }

func (f *form) hint() []key.Binding {
	out := []key.Binding{formKeys.create, formKeys.next}
	if f.input(f.at) == nil {
		out = append(out, formKeys.toggle)
	}
	if f.written() { // the first esc only warns then
		return append(out, named(formKeys.leave, textLeaveFormKey))
	}
	return append(out, formKeys.leave)
}

// refused implements asking.
func (f *form) refused(why string) { f.sent, f.fault = false, why }

// value is what stands in a field that is no text.
func (f *form) value(id fieldID) string {
	switch {
	case id == fieldKind && f.reminder, id == fieldPlace && f.foreground, id == fieldPings && f.silent:
		return textFormOn[id]
	}
	return textFormOff[id]
}

// formName is the column of the fields' names.
const formName = 12

// faultRows is how many lines a refusal may take; on a narrow screen its cure
// needs one more.
const (
	noteRows    = 2
	wrongRows   = 4 // below a field: what is wrong is of no use when its cure is cut
	faultRows   = 2
	faultNarrow = 40
)

func (f *form) draw(l look, w, h int) []string {
	w = min(w, 76)
	f.look(l.snap)
	foot := f.foot(l, w)
	foot = foot[:min(len(foot), max(0, h-1))]
	var lines []string
	from, to := 0, 0
	f.lines = f.lines[:0]
	for id := range numFields {
		if id == f.at {
			from = len(lines)
		}
		lines = append(lines, f.row(l, w, id))
		if text, bad := f.note(id); text != "" && (bad || id == f.at || h >= int(numFields)*2+2) {
			lines = append(lines, f.noted(l, w, id, text, bad)...)
		}
		if id == f.at {
			to = len(lines)
		}
		for len(f.lines) < len(lines) {
			f.lines = append(f.lines, id)
		}
	}
	// The field that is being written stays in sight with what is below it, and
	// so does what the core has said.
	room := h - len(foot)
	if to-from < room {
		from-- // the line above it too
	}
	top := max(0, min(from, len(lines)-room))
	end := min(len(lines), top+room)
	f.lines = f.lines[top:end]
	return append(lines[top:end], foot...)
}

// noted is what stands below a field.
func (f *form) noted(l look, w int, id fieldID, text string, bad bool) []string {
	role, rows := theme.Dim, noteRows
	if bad {
		rows = wrongRows
		role, text = theme.Warn, l.theme.Glyph(theme.Bang)+" "+text
	} else if id == fieldWhen && f.when.Text() != "" {
		role = theme.Accent
	}
	var out []string
	for _, s := range widget.WrapN(text, max(1, w-formName-4), rows, l.theme.Glyph(theme.Ellipsis)) {
		out = append(out, l.brush.Line(w, widget.Span{Text: widget.Blank(formName + 3)}, widget.Span{Role: role, Text: s}))
	}
	return out
}

// foot is what becomes of the task: on its way, or refused.
func (f *form) foot(l look, w int) []string {
	if f.sent {
		return []string{l.brush.Line(w, widget.Span{Role: theme.Dim, Text: " " + textFormSent})}
	}
	if f.fault == "" {
		return nil
	}
	rows := faultRows
	if w < faultNarrow {
		rows++
	}
	mark := l.theme.Glyph(theme.Cross) + " "
	var out []string
	for _, s := range widget.WrapN(f.fault, max(1, w-4), rows, l.theme.Glyph(theme.Ellipsis)) {
		out = append(out, l.brush.Line(w, widget.Span{Role: theme.Bad, Text: " " + mark + s}))
		mark = "  "
	}
	return out
}

func (f *form) row(l look, w int, id fieldID) string {
	b, mark := l.brush, "  "
	if id == f.at {
		b.Back, mark = theme.Select, l.theme.Glyph(theme.Pointer)+" "
	}
	head := b.Line(min(w, formName+3), widget.Span{Text: " "}, widget.Span{Role: theme.Focus, Text: mark}, widget.Span{Text: textFormFields[id]})
	room := max(0, w-formName-3)
	if input := f.input(id); input != nil {
		return head + input.Line(b, room, id == f.at)
	}
	return head + b.Line(room, widget.Span{Text: f.value(id)})
}

var formKeys = struct{ create, next, previous, toggle, leave key.Binding }{
	create:   binding("enter", textCreate, "enter", "ctrl+s"),
	next:     binding("tab", textOtherField, "tab", "down"),
	previous: binding("", "", "shift+tab", "up"),
	toggle:   binding("space", textChange, "space", "left", "right"),
	leave:    binding("esc", textLeave, "esc"),
}
