package core

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"ollimbot/core/audit"
	"ollimbot/core/command"
	"ollimbot/core/words"
	"ollimbot/routines"
	"ollimbot/routines/starter"
)

// addStarters copies the starter routines that are not installed yet. A file of the same
// name, and a task of the same id, are left alone.
func (b *Bot) addStarters() (command.Outcome, error) {
	files, err := starter.Files()
	if err != nil {
		return command.Outcome{}, err
	}
	tasks, added := b.index.Set(), 0
	for _, f := range files {
		if !strings.HasPrefix(f.Path, routines.RoutineFolder+"/") {
			continue
		}
		r, _ := routines.ParseRoutine(f.Path, f.Data)
		if _, known := tasks.Find(r.ID); known {
			continue
		}
		switch err := b.dir.Create(f.Path, f.Data); {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return command.Outcome{}, fmt.Errorf("install the starter routine %s: %w", f.Path, err)
		default:
			added++
		}
	}
	if added == 0 {
		return command.Outcome{Message: textStartersThere}, nil
	}
	return command.Outcome{
		Message:  fmt.Sprintf(textStartersAdded, words.Count(added, "starter routine")),
		Decision: audit.Entry{Action: audit.TaskAdded, Subject: "starter routines"},
	}, nil
}
