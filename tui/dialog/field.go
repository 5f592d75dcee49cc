package dialog

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// Check says what a text comes to, which may be empty, or with ok false what is
// wrong with it and the cure. tried is false until enter was pressed: until then an
// empty field is a hint and no fault.
type Check func(c pane.Context, text string, tried bool) (note string, ok bool)

// Field is a line of a form. Text and Choice make one.
type Field struct {
	Label string
	Unit  string // behind what is written; may be empty
	Most  int    // characters that fit into it; 0: any number
	Check Check  // nil takes everything
	// Fresh lets the first character replace what stands there.
	Fresh bool

	choices []string // nil for a text
	shown   string   // of a field that cannot be changed
	chosen  int
	input   widget.Input
	area    *widget.Area // of a text of several lines; nil for one
	before  string       // its value when the form opened
}

// Text is a field to write in.
func Text(label, text string, check Check) *Field {
	f := &Field{Label: label, Check: check, before: text}
	f.input.Set(text)
	return f
}

// Lines is a field to write several lines in: enter sends the form, alt+enter breaks one.
func Lines(label, text string, check Check) *Field {
	f := &Field{Label: label, Check: check, area: &widget.Area{}}
	f.area.Insert(text)
	f.before = f.area.Text()
	return f
}

// Choice is a field that is one of a few words: space goes on to the next.
func Choice(label, chosen string, words ...string) *Field {
	f := &Field{Label: label, choices: words, before: chosen}
	for i, w := range words {
		if w == chosen {
			f.chosen = i
		}
	}
	return f
}

// inside reports a key that moves between the lines of a field.
func (f *Field) inside(msg tea.KeyPressMsg) bool {
	top, bottom := f.area.Edges()
	return msg.String() == "up" && !top || msg.String() == "down" && !bottom
}

func (f *Field) turn() { f.chosen = (f.chosen + 1) % len(f.choices) }

func (f *Field) check(c pane.Context, tried bool) (note string, ok bool) {
	if f.Check == nil {
		return "", true
	}
	return f.Check(c, f.Text(), tried)
}

// Set puts a text into a field.
func (f *Field) Set(text string) {
	if f.area != nil {
		f.area.Clear()
		f.area.Insert(text)
		return
	}
	f.input.Set(text)
}

// take gives a key or a paste to the field. What cannot be right goes in too, and is
// refused with its field: to leave it out would make 15 of 1.5.
func (f *Field) take(msg tea.Msg) {
	text := typed(msg)
	if k, ok := msg.(tea.KeyPressMsg); f.area != nil {
		if ok && key.Matches(k, formKeys.line) {
			f.area.Insert("\n")
		} else {
			f.area.Take(msg)
		}
		return
	}
	if f.Fresh && text != "" {
		f.input.Set("")
	}
	before := f.input.Text()
	switch {
	case f.choices != nil || f.shown != "":
		return
	case f.Most > 0 && text != "":
		for _, r := range text {
			if len([]rune(f.input.Text())) < f.Most {
				f.input.Insert(string(r))
			}
		}
	default:
		f.input.Take(msg)
	}
	f.Fresh = f.Fresh && f.input.Text() == before && text == ""
}

// typed are the characters of a key or a paste.
func typed(msg tea.Msg) string {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return msg.Text
	case tea.PasteMsg:
		return msg.Content
	}
	return ""
}
