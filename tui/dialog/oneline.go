package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// The form of a task where there is no screen: one field on a line.

// names are how a field can be named on a line: by its key, or by its label in one word.
func (l editLine) names() [2]string {
	return [2]string{cmp.Or(l.key, "prompt"), strings.ReplaceAll(strings.ToLower(l.field.Label), " ", "-")}
}

func (l editLine) named(word string) bool {
	names := l.names()
	return slices.Contains(names[:], strings.ToLower(word))
}

// EditNames reports whether a word names a field of the form of some task.
func EditNames(word string) bool {
	return slices.ContainsFunc([]routines.Kind{routines.KindRoutine, routines.KindReminder}, func(k routines.Kind) bool {
		return slices.ContainsFunc(editingOf(command.TaskFile{Task: routines.Task{Kind: k}}).lines, func(l editLine) bool { return l.named(word) })
	})
}

// EditRows are the fields of a task's form, with their values and what they take.
func EditRows(file command.TaskFile) (rows []Row) {
	for _, l := range editingOf(file).lines {
		text := clean.Line(l.field.Text())
		if l.field.choices != nil {
			text += ", one of: " + strings.Join(l.field.choices, ", ")
		}
		rows = append(rows, Row{l.names()[1], text})
	}
	return rows
}

// EditField changes one field of a task as its form does. The note explains the value; ok is
// false if it says what is wrong with it.
func EditField(c pane.Context, file command.TaskFile, name, value string) (do command.Value, note string, ok bool) {
	e := editingOf(file)
	i := slices.IndexFunc(e.lines, func(l editLine) bool { return l.named(name) })
	if i < 0 {
		return nil, fmt.Sprintf(textNoField, file.Title(), name), false
	}
	f := e.lines[i].field
	switch at := slices.IndexFunc(f.choices, func(choice string) bool { return strings.EqualFold(choice, value) }); {
	case at >= 0:
		f.chosen = at
	case f.choices != nil:
		return nil, fmt.Sprintf(textFieldTakes, f.Label, strings.Join(f.choices, ", ")), false
	case f.area != nil:
		f.area = &widget.Area{}
		f.area.Insert(value)
	default:
		f.input.Set(value)
	}
	switch note, ok = f.check(c, true); {
	case !ok:
		return nil, note, false
	case f.Text() == f.before:
		return nil, fmt.Sprintf("%s is already %s", f.Label, short(value)), false
	}
	if f.Check == nil { // the note is only a hint
		note = ""
	}
	return e.command(c), note, true
}
