package dialog

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

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
