package dialog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/routines/leeway"
	"ollimbot/tui/pane"
)

// NewTask is the form of a new routine or reminder.
func NewTask() *Form { return newTask("", "", "") }

// firstTask is that form with an example filled in. Enter saves it.
func firstTask() *Form {
	f := newTask("0 9 * * mon-fri", "Plan the day", textFirstMessage)
	f.Name = textFirstForm
	return f
}

func newTask(when, name, text string) *Form {
	kind := Choice(fieldKind, textRoutine, textRoutine, textReminder, textUntilDone)
	once := func() bool { return kind.Text() != textRoutine }
	at := whenField(when, false)
	kind.Check = func(_ pane.Context, text string) (string, bool) {
		at.Hint, at.Check = whenOf(once())
		return kindNotes[text], true
	}
	title := Text(fieldTitle, name, nil)
	prompt := promptField(text)
	pings := Choice(fieldPings, textMayPing, textMayPing, textNeverPings)
	place := Choice(fieldRuns, textBackground, textBackground, textForeground)
	window := windowField("")
	early := aheadField("")
	model := Choice(fieldModel, textUsual, append([]string{textUsual}, taskModels[1:]...)...)
	isolated := Choice(fieldIsolated, textNo, textYes, textNo)
	critical := Choice(fieldCritical, textNo, textYes, textNo)
	return &Form{
		Name: textFormTitle, Fields: []*Field{kind, at, title, prompt, pings, moreOptions([]*Field{place, window, early, model, isolated, critical})},
		at: 1, Send: "create", keeps: true,
		Make: func(c pane.Context) command.Value {
			chosen, _ := textOrNone(c, model.Text()).(string)
			task := command.AddTask{
				Description: strings.TrimSpace(title.Text()), Message: strings.TrimSpace(prompt.Text()),
				Foreground: place.Text() == textForeground, Silent: pings.Text() == textNeverPings,
				Model: chosen, Isolated: isolated.Text() == textYes, Critical: critical.Text() == textYes,
			}
			task.Window, _ = leeway.ParseWindow(window.Text())
			if once() {
				task.At, _, _ = readMoment(at.Text(), c.Snap.Times())
				task.UntilDone = kind.Text() == textUntilDone
				task.Ahead = strings.TrimSpace(early.Text())
			} else {
				task.Cron = cronOf(c, at.Text())
			}
			return task
		},
	}
}

// promptField is the field of a task's prompt, which must not be empty.
func promptField(text string) *Field {
	f := Lines(fieldPrompt, text)
	f.needed = true
	return f
}

// whenField is the field of a schedule, or of a moment if once is true.
func whenField(text string, once bool) *Field {
	f := Text(fieldWhen, text, nil)
	f.needed = true
	f.Hint, f.Check = whenOf(once)
	return f
}

func whenOf(once bool) (hint string, check Check) {
	if once {
		return textWhenReminder, checkMoment
	}
	return textWhenRoutine, CheckCron
}

// kindNotes explain the kinds of tasks.
var kindNotes = map[string]string{textRoutine: textKindRoutine, textReminder: textKindReminder, textUntilDone: textKindUntilDone}

// CheckCron explains when a routine fires, and says when it fires next.
func CheckCron(c pane.Context, text string) (note string, ok bool) {
	line, err := c.Snap.Times().Schedule(text)
	if err != nil {
		return err.Error(), false
	}
	next := line.Next(now(c))
	switch ended := line.EndWords(now(c)); {
	case ended != "":
		return fmt.Sprintf(textHasEnded, ended), false
	case line.Never() || next.IsZero():
		return textNeverFires, false
	}
	return line.Words() + "; next " + dayWords(c.Snap, next), true
}

// checkMoment says which day a reminder's time is on.
func checkMoment(c pane.Context, text string) (note string, ok bool) {
	read := c.Snap.Times()
	at, wrong, ok := readMoment(text, read)
	if !ok {
		return wrong, false
	}
	return words.Joined(dayWords(c.Snap, at), read.Note(text)), true
}

// now is the snapshot's moment in the bot's zone.
func now(c pane.Context) time.Time { return c.Snap.Local(c.Snap.At) }

// number reads a whole number of the budget; wrong is the error for a text that is none.
func number(text, wrong string, validate func(n *int) error) (*int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New(wrong)
	}
	return &n, validate(&n)
}

// NewBudget is the form of the budget's exact numbers, with their effect.
func NewBudget(c pane.Context) *Form {
	state := c.Snap.Budget.State
	field := func(label, wrong string, value int, validate func(n *int) error) *Field {
		f := Text(label, strconv.Itoa(value), func(_ pane.Context, text string) (string, bool) {
			_, err := number(text, wrong, validate)
			return reason(err), err == nil
		})
		f.Selected = true
		return f
	}
	capacity := field("Capacity", textNoCapacity, state.Capacity, func(n *int) error { return budget.Validate(n, nil) })
	refill := field("Refill (min)", textNoMinutes, state.RefillRateMinutes, func(n *int) error { return budget.Validate(nil, n) })
	value := func(f *Field) *int {
		n, _ := strconv.Atoi(strings.TrimSpace(f.Text()))
		return &n
	}
	return &Form{
		Name: textBudgetTitle, Fields: []*Field{capacity, refill},
		Make: func(pane.Context) command.Value {
			return command.SetBudget{Capacity: value(capacity), RefillMinutes: value(refill)}
		},
		effect: func(c pane.Context) (string, bool) {
			_, ok := capacity.check(c, true)
			if _, too := refill.check(c, true); !ok || !too {
				return "", true // the error is below its field
			}
			return cmp.Or(c.Snap.Budget.State.Preview(c.Snap.At, *value(capacity), *value(refill)), "no change"), true
		},
	}
}

// windowField is the field of the part of the day in which the bot chooses the minute; empty for
// none.
func windowField(text string) *Field {
	return Text(fieldWindow, text, func(_ pane.Context, text string) (string, bool) {
		if strings.TrimSpace(text) == "" {
			return fieldNotes[fieldWindow], true
		}
		if _, err := leeway.ParseWindow(text); err != nil {
			return "this " + err.Error(), false
		}
		return "the bot chooses the minute; When says on which days, and fires where the window starts", true
	})
}

func checkJitter(_ pane.Context, text string) (string, bool) {
	if strings.TrimSpace(text) == "" {
		return fieldNotes[fieldJitter], true
	}
	if _, err := leeway.ParseJitter(text); err != nil {
		return "this " + err.Error(), false
	}
	return fieldNotes[fieldJitter], true
}

func showWindow(f command.TaskFile) string { return f.Leeway.Window.String() }

func showJitter(f command.TaskFile) string { return leeway.FormatJitter(f.Leeway.Jitter) }

// PickModel opens the form for a setting that takes a model: the short names, the models that providers offer as soon as
// their servers have described them, and a line for any other name. set makes the command for a value.
func PickModel(title, about, now string, short []string, set func(value string) (command.Value, error)) pane.Answer {
	picked, other := slices.Index(short, now), now
	if picked >= 0 {
		other = ""
	}
	name := Text(fieldOtherModel, other, func(_ pane.Context, text string) (string, bool) {
		_, err := set(strings.TrimSpace(text))
		return reason(err), err == nil
	})
	name.Hint, name.needed, name.Selected = textOtherModel, true, true
	f := &Form{Name: title, picks: true, types: formKeys.name, opened: time.Now()}
	var means []string // of each choice, below the form
	offer := func(m command.ModelChoice) {
		at := len(f.Fields) - 1 // before the line to type
		field := Choice(m.Name, "", "")
		field.Hint = m.About
		f.Fields = slices.Insert(f.Fields, at, field)
		means = append(means, m.Means)
		if f.at >= at {
			f.at++
		}
		if m.Name == now && f.Fields[f.at] == name && name.Text() == now {
			f.at = at
		}
	}
	f.Fields = []*Field{name}
	for _, word := range short {
		offer(command.ModelChoice{Name: word, Means: about})
	}
	if picked >= 0 {
		f.at = picked
	}
	f.Make = func(pane.Context) command.Value {
		value := f.Fields[f.at].Label
		if f.Fields[f.at] == name {
			value = strings.TrimSpace(name.Text())
		}
		if value == now {
			return nil
		}
		do, _ := set(value) // the short names and those of providers are valid, and the typed one was checked
		return do
	}
	f.effect = func(pane.Context) (string, bool) {
		if f.at >= len(means) {
			return "", true
		}
		return means[f.at], true
	}
	return pane.Answer{Open: f, Load: func(ctx context.Context, r pane.Reader) pane.Loaded {
		list, _ := r.Models(ctx) // without a list, a name can still be typed
		return func(pane.Context) pane.Answer {
			for _, m := range list {
				offer(m)
			}
			return pane.Answer{}
		}
	}}
}
