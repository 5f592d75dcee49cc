package dialog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/leeway"
	"ollimbot/routines/when"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// editing is the form of an existing task. Only the fields that were changed are
// written; the rest of the file stays unchanged.
type editing struct {
	*Form
	file  command.TaskFile // the version that the user has seen
	lines []editLine
}

// editLine is a field and its key in the file; the prompt has none.
type editLine struct {
	key   string
	field *Field
	// show returns the field's text for a file.
	show func(command.TaskFile) string
	// value returns the file's value for the field's text; nil removes the key.
	value func(c pane.Context, text string) any
}

func editTask(file command.TaskFile) *editing {
	e := &editing{file: file, Form: &Form{Name: file.Title(), Send: "save the file", keeps: true}}
	e.Make = e.command
	routine := file.Kind == routines.KindRoutine
	e.when()
	e.add(editLine{"description", Text(fieldTitle, file.Description, nil), func(f command.TaskFile) string { return f.Description }, textOrNone})
	e.prompt()
	e.choice("allow-ping", fieldPings, textMayPing, textNeverPings, func(f command.TaskFile) bool { return f.AllowPing })
	if routine {
		e.option("missed", fieldMissed, "run", [2]string{"run late, once", "only note it"}, func(f command.TaskFile) bool { return f.RunMissed })
	} else {
		e.option("until", fieldUntil, "done", [2]string{"repeat until done", "fire once"}, func(f command.TaskFile) bool { return f.UntilDone })
	}
	basic := len(e.Fields)
	e.choice("background", fieldRuns, textBackground, textForeground, func(f command.TaskFile) bool { return f.Background })
	e.add(editLine{"window", windowField(showWindow(file)), showWindow, textOrNone})
	e.add(editLine{"jitter", Text(fieldJitter, showJitter(file), checkJitter), showJitter, textOrNone})
	if routine {
		e.add(editLine{"late", Text(fieldLate, showLate(file), checkLate), showLate, lateOf})
	} else {
		e.add(editLine{"ahead", aheadField(showAhead(file)), showAhead, aheadOf})
	}
	e.oneOf("update-main-session", fieldReports, func(f command.TaskFile) string { return string(f.Mode) },
		string(routines.OnPing), string(routines.Always), string(routines.Freely), string(routines.Blocked))
	if routine {
		e.add(editLine{"check", Text(fieldCheck, file.Check, nil), func(f command.TaskFile) string { return f.Check }, textOrNone})
		e.option("say", fieldMessage, "check", [2]string{"what the check prints", "from the model"}, func(f command.TaskFile) bool { return f.Says })
	}
	if !file.Says {
		e.model()
	}
	e.choice("critical", fieldCritical, textYes, textNo, func(f command.TaskFile) bool { return f.Critical })
	if !file.Says {
		e.list("allowed-tools", fieldAllowed, func(f command.TaskFile) []string { return f.Allowed })
		e.list("disallowed-tools", fieldDenied, func(f command.TaskFile) []string { return f.Disallowed })
		e.list("skills", fieldSkills, func(f command.TaskFile) []string { return f.Skills })
	}
	e.choice("trust-input", fieldTrusts, textYes, textNo, func(f command.TaskFile) bool { return f.TrustInput })
	if !routine {
		e.chain()
	}
	e.Fields = append(e.Fields[:basic:basic], moreOptions(e.Fields[basic:]))
	return e
}

// model adds the fields of the model that runs the task.
func (e *editing) model() {
	models := slices.Clone(taskModels)
	if !slices.Contains(models, e.file.Model) {
		models = append(models, e.file.Model)
	}
	e.oneOf("model", fieldModel, func(f command.TaskFile) string { return f.Model }, models...)
	e.choice("thinking", fieldThinking, textYes, textNo, func(f command.TaskFile) bool { return f.Thinking })
	e.choice("isolated", fieldIsolated, textYes, textNo, func(f command.TaskFile) bool { return f.Isolated })
}

// taskModels are the usual models of a task; the first is the default.
var taskModels = []string{"", "opus", "sonnet", "haiku"}

func (e *editing) add(l editLine) {
	e.lines, e.Fields = append(e.lines, l), append(e.Fields, l.field)
}

// when adds the field of the cron line or the moment.
func (e *editing) when() {
	show := func(f command.TaskFile) string { return f.Cron }
	if e.file.Kind == routines.KindRoutine {
		e.add(editLine{"cron", whenField(show(e.file), false), show, func(c pane.Context, text string) any { return cronOf(c, text) }})
		return
	}
	show = func(f command.TaskFile) string { return f.RunAt.Format("2006-01-02 15:04") }
	field := whenField(show(e.file), true)
	field.Check = func(c pane.Context, text string) (string, bool) {
		if text == field.before { // valid even if it is in the past by now
			return "", true
		}
		return checkMoment(c, text)
	}
	e.add(editLine{"run-at", field, show, func(c pane.Context, text string) any {
		at, _, _ := readMoment(text, c.Snap.Times())
		return routines.RunAt(at)
	}})
}

// aheadField is the field of what a reminder says before it is due.
func aheadField(text string) *Field {
	return Text(fieldAhead, text, func(_ pane.Context, text string) (string, bool) {
		if strings.TrimSpace(text) == "" {
			return fieldNotes[fieldAhead], true
		}
		list, err := when.ReadAhead(text)
		if err != nil {
			return err.Error(), false
		}
		return when.AheadWords(list), true
	})
}

func showAhead(f command.TaskFile) string { return when.AheadLine(f.Ahead) }

func aheadOf(_ pane.Context, text string) any {
	list, _ := when.ReadAhead(text)
	if list == nil {
		return nil
	}
	return routines.AheadItems(list)
}

func checkLate(_ pane.Context, text string) (string, bool) {
	if strings.TrimSpace(text) == "" {
		return fieldNotes[fieldLate], true
	}
	d, err := routines.ReadLate(text)
	if err != nil {
		return err.Error(), false
	}
	return routines.LateWords(d), true
}

// showLate is empty as long as the file says nothing of it.
func showLate(f command.TaskFile) string {
	if f.Late == 0 || f.Late == routines.UsualLate {
		return ""
	}
	return routines.LateWords(f.Late)
}

func lateOf(_ pane.Context, text string) any {
	d, err := routines.ReadLate(text)
	if err != nil {
		return nil
	}
	return leeway.FormatJitter(d)
}

// prompt adds the field of the prompt. A prompt that the field would change, such as a
// very long one, can only be edited in the file.
func (e *editing) prompt() {
	show := func(f command.TaskFile) string { return f.Body }
	field := promptField(e.file.Body)
	if field.Text() != e.file.Body {
		long := fmt.Sprintf(textLongPrompt, words.Count(strings.Count(e.file.Body, "\n")+1, "line"))
		field = Choice(fieldPrompt, long, long)
	}
	e.add(editLine{field: field, show: show})
}

// textOrNone is the file's value for a text: nil if it is empty or the default.
func textOrNone(_ pane.Context, text string) any {
	if text = strings.TrimSpace(text); text == "" || text == textUsual {
		return nil
	}
	return text
}

// list adds a field of several items. An empty list removes the key.
func (e *editing) list(key, label string, of func(command.TaskFile) []string) {
	show := func(f command.TaskFile) string { return strings.Join(of(f), separator+" ") }
	field := Text(label, show(e.file), nil)
	e.add(editLine{key, field, show, func(_ pane.Context, text string) any {
		var items []string
		for item := range strings.SplitSeq(text, separator) {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		if items == nil {
			return nil
		}
		return items
	}})
}

// separator separates the items of a list: tool patterns contain commas.
const separator = ";"

// choice adds a field with two options, for true and false.
func (e *editing) choice(key, label, yes, no string, of func(command.TaskFile) bool) {
	e.either(key, label, [2]string{yes, no}, of, func(on bool) any { return on })
}

// option adds a field with two options; the file has a word for the first and no key for the
// other.
func (e *editing) option(key, label, word string, options [2]string, of func(command.TaskFile) bool) {
	e.either(key, label, options, of, func(on bool) any {
		if on {
			return word
		}
		return nil
	})
}

func (e *editing) either(key, label string, options [2]string, of func(command.TaskFile) bool, value func(on bool) any) {
	yes, no := options[0], options[1]
	show := func(f command.TaskFile) string {
		if of(f) {
			return yes
		}
		return no
	}
	e.add(editLine{key, Choice(label, show(e.file), yes, no), show, func(_ pane.Context, text string) any { return value(text == yes) }})
}

// oneOf adds a field with the values that the file accepts as options. The first may be
// empty, which removes the key.
func (e *editing) oneOf(key, label string, of func(command.TaskFile) string, accepted ...string) {
	accepted[0] = cmp.Or(accepted[0], textUsual)
	show := func(f command.TaskFile) string { return cmp.Or(of(f), textUsual) }
	e.add(editLine{key, Choice(label, show(e.file), accepted...), show, textOrNone})
}

// chain adds the field for how often a reminder may repeat.
func (e *editing) chain() {
	show := func(f command.TaskFile) string { return strconv.Itoa(f.MaxChain) }
	field := Text(fieldRepeats, show(e.file), func(_ pane.Context, text string) (string, bool) {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		return fieldNotes[fieldRepeats], err == nil && n >= 0 && n <= mostChain
	})
	e.add(editLine{"max-chain", field, show, func(_ pane.Context, text string) any {
		n, _ := strconv.Atoi(strings.TrimSpace(text))
		if n == 0 {
			return nil
		}
		return n
	}})
}

// mostChain is the longest chain that a file may ask for.
const mostChain = 10_000

// command saves the changed fields.
func (e *editing) command(c pane.Context) command.Value {
	edit := command.EditTask{ID: e.file.ID, Version: e.file.Digest}
	for _, l := range e.lines {
		text := l.field.Text()
		switch {
		case text == l.field.before:
		case l.key == "":
			edit.Edit.Body = &text
		default:
			edit.Edit.Set = append(edit.Edit.Set, command.Field{Key: l.key, Value: l.value(c, text)})
		}
	}
	return edit
}

// Update implements pane.Dialog. If the file has changed in the meantime, it shows both
// versions and asks: enter then overwrites the file.
func (e *editing) Update(c pane.Context, msg tea.Msg) pane.Answer {
	var other *command.ChangedError
	if done, ok := msg.(pane.Done); ok && errors.As(done.Err, &other) {
		msg = pane.Done{Err: errors.New(e.both(other))}
		e.file = other.Now
	}
	return e.Form.Update(c, msg)
}

// both compares the file's current values with those of the form.
func (e *editing) both(other *command.ChangedError) string {
	var parts []string
	for _, l := range e.lines {
		if there := l.show(other.Now); there != l.show(e.file) {
			parts = append(parts, fmt.Sprintf(textBoth, l.field.Label, short(there), short(l.field.Text())))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, textOtherPart)
	}
	return other.Error() + ": " + strings.Join(slices.Compact(parts), "; ") + ". " + textOverwrite
}

// short is the start of a field's text, in quotes.
func short(text string) string { return strconv.Quote(clean.Cut(clean.Line(text), 40)) }

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
		return slices.ContainsFunc(editTask(command.TaskFile{Task: routines.Task{Kind: k}}).lines, func(l editLine) bool { return l.named(word) })
	})
}

// EditRows are the fields of a task's form, with their values and what they take.
func EditRows(file command.TaskFile) (rows []Row) {
	for _, l := range editTask(file).lines {
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
	e := editTask(file)
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
