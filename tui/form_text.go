package tui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/words"
	"ollimbot/routines/cron"
)

// The words of the form.
const (
	textFormTitle = "A new routine or reminder"
	textFormSent  = "writing the file…"
	textLeaveForm = "esc once more drops what you wrote; any other key goes on"
	textCreate    = "create"

	textLeaveFormKey = "leave"

	textChange = "change"

	textKindRoutine  = "fires again and again, as its cron line says"
	textKindReminder = "fires once, then its file is gone"
	textWhenRoutine  = "minute hour day month weekday: 0 9 * * 1-5 is weekdays at 9:00"
	textWhenReminder = "18:30, tomorrow 9:00, 2h30m, or 2006-01-02 15:04"
	textTitleNote    = "a few words for lists and the schedule; may be empty"
	textNeeded       = "needed: "
	textPromptNeeded = textNeeded + "what the agent shall do"
	textPromptNote   = "what the bot should do, in your words"

	textBadMoment  = "a time is written as 18:30, tomorrow 9:00, 2h30m, or 2006-01-02 15:04"
	textPastMoment = "that has passed already"
	textFarMoment  = "that is more than a year away"
	textNeverFires = "no month has such a day: it would never fire"
)

var (
	textFormFields = [numFields]string{"Kind", "When", "Title", "Message", "Runs", "Pings"}
	textFormOff    = [numFields]string{fieldKind: "routine", fieldPlace: "in the background", fieldPings: "when it has something to say"}
	textFormOn     = [numFields]string{fieldKind: "reminder", fieldPlace: "in the main conversation", fieldPings: "never"}
)

// reminderYear is how far away a reminder may be: more is a slip of the finger.
const reminderYear = 366 * 24 * time.Hour

// readCron says what a cron line means and when it fires next.
func readCron(expr string, now time.Time) (next time.Time, text string, ok bool) {
	s, err := cron.Parse(expr)
	if wrong := (*cron.Error)(nil); errors.As(err, &wrong) && wrong.Column > 0 {
		return time.Time{}, fmt.Sprintf("column %d: %s", wrong.Column, wrong.Message), false
	}
	switch {
	case err != nil:
		return time.Time{}, err.Error(), false
	case s.Never():
		return time.Time{}, textNeverFires, false
	}
	next = s.Next(now)
	if next.IsZero() {
		return time.Time{}, textNeverFires, false
	}
	return next, s.Words() + "; next " + dayWords(next, now), true
}

// readMoment reads when a reminder fires.
func readMoment(text string, now time.Time) (at time.Time, words string, ok bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if at, ok = parseMoment(text, now); !ok {
		return time.Time{}, textBadMoment, false
	}
	switch {
	case !at.After(now):
		return time.Time{}, textPastMoment, false
	case at.Sub(now) > reminderYear:
		return time.Time{}, textFarMoment, false
	}
	return at, dayWords(at, now), true
}

func parseMoment(text string, now time.Time) (time.Time, bool) {
	if d, err := time.ParseDuration(strings.TrimPrefix(text, "in ")); err == nil {
		return now.Add(d).Truncate(time.Second), true
	}
	if at, err := time.Parse("2006-01-02 15:04", text); err == nil {
		return cron.Instant(at, now.Location()), true
	}
	day, tomorrow := strings.CutPrefix(text, "tomorrow")
	at, ok := clockTime(strings.TrimSpace(day), now)
	if ok && tomorrow {
		at = cron.Wall(now, 1, at.Hour(), at.Minute(), now.Location())
	}
	return at, ok
}

// dayWords is a moment with its day and how far away it is.
func dayWords(at, now time.Time) string {
	at = at.In(now.Location())
	day := at.Format("Monday 2 January")
	if words.SameDay(at, now, now.Location()) {
		day = "today"
	}
	return day + " at " + cron.Format(at, "15:04") + " (" + words.Until(at.Sub(now)) + ")"
}
