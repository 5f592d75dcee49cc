package schedule

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// Messages of the loop: the main session reads them among its updates, the user sees them
// as notices.

const (
	msgClosed       = "nothing can fire while the schedule is not running"
	msgUnknown      = "no active routine or reminder has the id %q; the schedule shows the ids"
	msgStillRunning = "%q is still running; wait until it ends or stop it first"
	msgWaits        = "%q needs your approval (%s); allow it first"
	msgHoldPassed   = "%s is in the past; choose a later time"
	msgSkipped      = "Skipped %s \"%s\" (was due %s): its previous run has not ended"
	msgClockUnset   = "The clock says %s, so nothing fires. Set the machine's clock and the schedule resumes on its own"
	msgClockLeapt   = "The clock jumped from %s to %s; fires in between do not count as missed"
	clockDate       = "January 2 2006"
	// listAtMost is the maximum number of items named in one note.
	listAtMost = 5
)

// missedFire is a fire of a routine that was missed because the bot was not running.
type missedFire struct {
	routine *routines.Routine
	at      time.Time
	catchUp bool // it runs late now
}

// missedNotes reports missed fires: one note each, or a single note for many, so that a
// long absence does not push out all other updates.
func missedNotes(list []missedFire, now time.Time) []string {
	var notes []string
	late := 0
	few := len(list) <= listAtMost
	for _, m := range list {
		text := fmt.Sprintf("\"%s\" (was due %s)", m.routine.Title(), dueWords(m.at, now))
		if few {
			text = "Missed routine " + text
		}
		if m.catchUp {
			late++
		}
		if m.catchUp && few {
			text += "; it runs now, late"
		}
		notes = append(notes, text)
	}
	if few {
		return notes
	}
	text := fmt.Sprintf("Missed %d routines: %s and %d more", len(list), strings.Join(notes[:listAtMost], ", "), len(list)-listAtMost)
	if late > 0 {
		text += fmt.Sprintf("; %d of them run now, late", late)
	}
	return []string{text}
}

// dueWords formats a time in prose: with the weekday or date unless it is today.
func dueWords(at, now time.Time) string {
	at = at.In(now.Location())
	clock := cron.Format(at, "15:04")
	days := int(midnight(now).Sub(midnight(at)).Round(24*time.Hour) / (24 * time.Hour))
	switch {
	case days == 0:
		return clock
	case days > 0 && days < 7:
		return at.Format("Monday ") + clock
	case at.Year() == now.Year():
		return at.Format("January 2, ") + clock
	}
	return at.Format("January 2 2006, ") + clock
}

// earlyTitle follows the title of a reminder at an early moment.
func earlyTitle(e routines.Early) string { return " (" + e.Long() + " before)" }

// midnight returns the date as a UTC instant, for subtraction without zones or 23-hour
// days.
func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

func invalidNote(kind routines.Kind, list []string) string {
	more := ""
	if n := len(list) - listAtMost; n > 0 {
		list, more = list[:listAtMost], fmt.Sprintf("\nand %d more: `ollim-bot check` lists them", n)
	}
	noun := fmt.Sprintf("These %s files have errors", kind)
	if len(list) == 1 && more == "" {
		noun = fmt.Sprintf("This %s file has an error", kind)
	}
	return noun + ":\n" + strings.Join(list, "\n") + more
}

// labelRoutine labels a routine without a description; agents read it too.
const labelRoutine = "Routine"

// labelReminder labels what a reminder sends before it is due.
const labelReminder = "Reminder"

func snoozedTag(until, now time.Time) string { return "snoozed until " + untilWords(until, now) }

func untilWords(until, now time.Time) string {
	return cron.Layouts{Today: "15:04", Else: "Mon 2 Jan 15:04"}.Format(until.In(now.Location()), now)
}

func refillWords(n int) string {
	if n == 1 {
		return "~1 refill before last task."
	}
	return fmt.Sprintf("~%d refills before last task.", n)
}
