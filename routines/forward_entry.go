package routines

import (
	"strings"
	"unicode/utf8"

	"ollimbot/core/clean"
)

// promptRunes is how much of a prompt stands in for a missing description.
const promptRunes = 60

func routineEntry(r *Routine) Entry {
	e := taskEntry(&r.Task)
	e.Label = r.Description
	if e.Label == "" {
		e.Label = labelRoutine
	}
	return e
}

func reminderEntry(r *Reminder) Entry {
	e := taskEntry(&r.Task)
	e.Label = r.Label()
	return e
}

// Label is the reminder's word in schedules: "Reminder", or its place in a chain,
// "Chain reminder (1/3)".
func (r *Reminder) Label() string {
	if r.MaxChain > 0 {
		return chainLabel(r.ChainDepth+1, r.MaxChain+1)
	}
	return labelReminder
}

func taskEntry(t *Task) Entry {
	return Entry{
		ID: t.ID, Description: briefly(t), FilePath: t.Path, Kind: t.Kind,
		Silent: !t.AllowPing, Foreground: !t.Background,
	}
}

// briefly is the description, else the beginning of the prompt on one line.
func briefly(t *Task) string {
	if t.Description != "" {
		return t.Description
	}
	// A prompt may be megabytes; more than this is never looked at. The ends
	// are trimmed already, so the first rune is no white space.
	head, cut := t.Body, false
	if most := 8 * promptRunes; len(head) > most {
		for most > 0 && !utf8.RuneStart(head[most]) {
			most--
		}
		head, cut = head[:most], true
	}
	line := strings.TrimSpace(strings.ReplaceAll(clean.Text(head), "\n", " "))
	n := 0
	for i := range line {
		if n == promptRunes {
			return line[:i] + "..."
		}
		n++
	}
	if cut {
		return line + "..."
	}
	return line
}
