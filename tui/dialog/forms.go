package dialog

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/routines/cron"
	"ollimbot/tui/pane"
)

// NewTask is the form of a new routine or reminder.
func NewTask() *Form { return newTask("", "", "") }

// firstTask is that form with an example filled in. Enter saves it.
func firstTask() *Form {
	f := newTask(textFirstWhen, textFirstTitle, textFirstMessage)
	f.Name = textFirstForm
	return f
}

func newTask(at, name, text string) *Form {
	kind := Choice("Kind", textRoutine, textRoutine, textReminder, textUntilDone)
	once := func() bool { return kind.Text() != textRoutine }
	when := whenField(at, false)
	kind.Check = func(_ pane.Context, text string) (string, bool) {
		when.Hint, when.Check = whenOf(once())
		return kindNotes[text], true
	}
	title := Text("Title", name, nil)
	title.Hint = textTitleNote
	message := promptField("Message", text)
	place := Choice("Runs", textBackground, textBackground, textForeground)
	pings := Choice("Pings", textMayPing, textMayPing, textNeverPings)
	return &Form{
		Name: textFormTitle, Fields: []*Field{kind, when, title, message, place, pings}, at: 1, Send: textCreate, keeps: true,
		Make: func(c pane.Context) command.Value {
			task := command.AddTask{
				Description: strings.TrimSpace(title.Text()), Message: strings.TrimSpace(message.Text()),
				Foreground: place.Text() == textForeground, Silent: pings.Text() == textNeverPings,
			}
			if once() {
				task.At, _, _ = readMoment(when.Text(), now(c))
				task.UntilDone = kind.Text() == textUntilDone
			} else {
				task.Cron = cronOf(when.Text())
			}
			return task
		},
	}
}

// promptField is the field of a task's prompt, which must not be empty.
func promptField(label, text string) *Field {
	f := Lines(label, text)
	f.Hint, f.needed = textPromptNote, true
	return f
}

// whenField is the field of a cron line, or of a moment if once is true.
func whenField(text string, once bool) *Field {
	f := Text("When", text, nil)
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

// CheckCron explains a cron line and says when it fires next.
func CheckCron(c pane.Context, text string) (note string, ok bool) {
	line, err := cron.Parse(cronOf(text))
	if wrong, ok := errors.AsType[*cron.Error](err); ok && wrong.Column > 0 {
		return fmt.Sprintf("column %d: %s", wrong.Column, wrong.Message), false
	}
	if err != nil {
		return err.Error(), false
	}
	next := line.Next(now(c))
	if line.Never() || next.IsZero() {
		return textNeverFires, false
	}
	return line.Words() + "; next " + dayWords(c.Snap, next), true
}

// checkMoment says which day a reminder's time is on.
func checkMoment(c pane.Context, text string) (note string, ok bool) {
	at, note, ok := readMoment(text, now(c))
	if ok {
		note = dayWords(c.Snap, at)
	}
	return note, ok
}

// now is the snapshot's moment in the bot's zone.
func now(c pane.Context) time.Time { return c.Snap.Local(c.Snap.At) }

// NewBudget is the form of the budget's exact numbers, with their effect.
func NewBudget(c pane.Context) *Form {
	state := c.Snap.Budget.State
	number := func(label, wrong string, value int, validate func(n *int) error) *Field {
		f := Text(label, strconv.Itoa(value), func(_ pane.Context, text string) (string, bool) {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				return wrong, false
			}
			if err := validate(&n); err != nil {
				return err.Error(), false
			}
			return "", true
		})
		f.Selected = true
		return f
	}
	capacity := number(textCapacity, textNoCapacity, state.Capacity, func(n *int) error { return budget.Validate(n, nil) })
	refill := number(textRefill, textNoMinutes, state.RefillRateMinutes, func(n *int) error { return budget.Validate(nil, n) })
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
			return cmp.Or(c.Snap.Budget.State.Preview(c.Snap.At, *value(capacity), *value(refill)), textNoEffect), true
		},
	}
}
