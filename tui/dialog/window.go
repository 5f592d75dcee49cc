package dialog

import (
	"strings"

	"ollimbot/core/command"
	"ollimbot/routines/leeway"
	"ollimbot/tui/pane"
)

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
