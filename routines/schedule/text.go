package schedule

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// The words of the loop: for the main session, which reads them among its
// updates, and for the user, who sees them as notices.

const (
	msgClosed       = "nothing can fire: the schedule is not running"
	msgUnknown      = "no routine or reminder in force has the id %q: see `ollim-bot routine list` and `ollim-bot reminder list`"
	msgStillRunning = "%q is still running: wait for its end, or stop it first"
	msgWaits        = "%q waits for your word (%s): allow it first"
	msgHoldPassed   = "%s is in the past; choose a later time"
	msgSkipped      = "Skipped %s \"%s\" (was due %s): its run before that has not ended"
	msgClockUnset   = "The clock says %s, so nothing fires: set the machine's clock, and the schedule goes on by itself"
	msgClockLeapt   = "The clock leapt from %s to %s; what lies between is not counted as missed"
	clockDate       = "January 2 2006"
	// listAtMost is how many things one note names.
	listAtMost = 5
)

// missedFire is a fire of a routine that nobody was there for.
type missedFire struct {
	routine *routines.Routine
	at      time.Time
	catchUp bool // it runs late
}

// missedNotes says what was missed: each by itself, or all in one note when
// there are many, so that a long absence does not push out all other updates.
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

// dueWords is a time as people say it: with the weekday or the date when it is
// not today.
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

// midnight is the date as an instant that may be subtracted: without zones and
// their days of 23 hours.
func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// trouble is what is wrong with the files of a kind, and what of it is new.
type trouble struct {
	kind       routines.Kind
	all, fresh []string
}

// words are those for whoever has read what was said before, or has not.
func (t trouble) words(unread bool) string {
	list := t.fresh
	if unread {
		list = t.all
	}
	if len(list) == 0 {
		return ""
	}
	return invalidNote(t.kind, list)
}

// noteProblems reports files that are not in force: one note for each kind, each
// file once until it is well again. A note that nobody has read yet goes with the
// trouble that it was about.
func (s *Schedule) noteProblems() {
	kinds := []trouble{{kind: routines.KindRoutine}, {kind: routines.KindReminder}}
	wrong := map[string]bool{}
	for _, p := range s.Set().Problems {
		if p.Severity != routines.Error || wrong[p.File] {
			continue
		}
		wrong[p.File] = true
		t := &kinds[0]
		if p.File == routines.ReminderFolder || strings.HasPrefix(p.File, routines.ReminderFolder+"/") {
			t = &kinds[1]
		}
		t.all = append(t.all, problemWords(p))
		if !s.reported[p.File] {
			t.fresh = append(t.fresh, problemWords(p))
		}
	}
	s.reported = wrong
	s.touched = true
	s.troubles = append(s.troubles, kinds...)
}

// problemWords is "file:line:column: why", as `ollim-bot check` prints it.
func problemWords(p routines.Problem) string {
	where := p.File
	if p.Line > 0 {
		where += fmt.Sprintf(":%d", p.Line)
		if p.Column > 0 {
			where += fmt.Sprintf(":%d", p.Column)
		}
	}
	return where + ": " + p.Message
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

// The words of the forward schedule; agents read them too.
const labelRoutine = "Routine"

// snoozedTag stands behind a task that people have put off.
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
