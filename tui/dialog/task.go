package dialog

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/command"
	"ollimbot/routines/cron"
	"ollimbot/tui/pane"
)

// NewTask is the form of a new routine or reminder.
func NewTask() *Form {
	kind := Choice("Kind", textRoutine, textRoutine, textReminder, textUntilDone)
	once := func() bool { return kind.Text() != textRoutine }
	kind.Check = func(_ pane.Context, text string, _ bool) (string, bool) { return kindNotes[text], true }
	when := Text("When", "", func(c pane.Context, text string, tried bool) (string, bool) {
		if once() {
			return needed(textWhenReminder, text, tried, func() (string, bool) { return checkMoment(c, text) })
		}
		return needed(textWhenRoutine, text, tried, func() (string, bool) { return CheckCron(c, text) })
	})
	title := Text("Title", "", func(_ pane.Context, text string, _ bool) (string, bool) { return hintOf(textTitleNote, text), true })
	message := Lines("Message", "", checkMessage)
	place := Choice("Runs", textBackground, textBackground, textForeground)
	pings := Choice("Pings", textMayPing, textMayPing, textNeverPings)
	return &Form{
		Name: textFormTitle, Fields: []*Field{kind, when, title, message, place, pings}, at: 1, Send: textCreate, Keeps: true,
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

// kindNotes say what each kind of task does.
var kindNotes = map[string]string{textRoutine: textKindRoutine, textReminder: textKindReminder, textUntilDone: textKindUntilDone}

// needed is the note of a field that must not stay empty: until enter a hint.
func needed(hint, text string, tried bool, check func() (string, bool)) (note string, ok bool) {
	switch {
	case strings.TrimSpace(text) != "":
		return check()
	case tried:
		return textNeeded + hint, false
	}
	return hint, true
}

// hintOf is a hint as long as nothing is written.
func hintOf(hint, text string) string {
	if text != "" {
		return ""
	}
	return hint
}

// CheckCron says of a cron line what it means and when it fires next.
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

// checkMoment says of a reminder's time which day that is.
func checkMoment(c pane.Context, text string) (note string, ok bool) {
	at, note, ok := readMoment(text, now(c))
	if ok {
		note = dayWords(c.Snap, at)
	}
	return note, ok
}

// checkMessage says of an empty prompt what belongs there.
func checkMessage(_ pane.Context, text string, tried bool) (note string, ok bool) {
	return needed(textPromptNote, text, tried, func() (string, bool) { return "", true })
}

// now is the snapshot's moment in the bot's zone.
func now(c pane.Context) time.Time { return c.Snap.Local(c.Snap.At) }
