package core

import (
	"fmt"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/routines"
)

// addStarters installs the starter routines that are missing; see routines.AddStarters.
func (b *Bot) addStarters() (command.Outcome, error) {
	added, err := b.schedule.AddStarters()
	switch {
	case err != nil:
		return command.Outcome{}, err
	case len(added) == 0:
		return command.Outcome{Message: textStartersThere}, nil
	}
	return command.Outcome{
		Message:  fmt.Sprintf(textStartersAdded, words.Count(len(added), "starter routine"), routines.Titles(added)),
		Decision: audit.Entry{Action: audit.TaskAdded, Subject: "starter routines", Detail: routines.Titles(added)},
	}, nil
}
