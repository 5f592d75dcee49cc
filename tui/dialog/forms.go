package dialog

import (
	"cmp"
	"errors"
	"fmt"
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
