package routines

import (
	"fmt"
	"time"

	"ollimbot/routines/cron"
)

// The words of the index and the loop for people.

const (
	msgBadName = "the file's name holds characters that cannot be shown: rename it, for example to water-the-plants.md"
	msgPanic   = "this file makes the parser fail (%v): please simplify it and report this"
	msgDouble  = "%s has the same id (%s) as %s, which stays in force: give one of them another id"
	// msgLastGood follows the first problem of a file whose last good version runs.
	msgLastGood = " (until then the version before stays in force)"
)

func folderUnreadable(err error) string {
	return "the folder cannot be read (" + err.Error() + "): make it a folder that you may read; what was read before stays in force"
}

func fileUnreadable(err error) string { return "cannot be read: " + err.Error() }

// The words of the forward schedule; agents read them too.
const (
	labelRoutine  = "Routine"
	labelReminder = "Reminder"
)

func chainLabel(check, of int) string { return fmt.Sprintf("Chain reminder (%d/%d)", check, of) }

// snoozedTag stands behind a task that people have put off.
func snoozedTag(until, now time.Time) string {
	return "snoozed until " + cron.Layouts{Today: "15:04", Else: "Mon 2 Jan 15:04"}.Format(until.In(now.Location()), now)
}

func windowWords(hours int) string { return fmt.Sprintf("next %dh", hours) }

func refillWords(n int) string {
	if n == 1 {
		return "~1 refill before last task."
	}
	return fmt.Sprintf("~%d refills before last task.", n)
}
