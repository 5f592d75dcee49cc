package tui

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/words"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/widget"
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

// The words of the dialog that asks until when.
const (
	textHalfHour   = "30 minutes"
	textOneHour    = "1 hour"
	textEvening    = "this evening"
	textMorning    = "tomorrow"
	textUntilClock = "at a time"
	textUntilEnd   = "no longer; it holds until "
	textNoClock    = "type a time, such as 18:30"
	textBadClock   = "a time is written as 18:30; what has passed today means tomorrow"

	textMuteEnds    = "pings come through again at once"
	textMuteNothing = "no task that may ping fires until then; critical pings come through"
	textMuteCut     = "no task that may ping fires until %s; the schedule is not known further ahead"
	textSnoozeEnds  = "it fires as its file says again"
	textSnoozeCut   = "it would not have fired before %s; the schedule is not known further ahead"

	textSnoozeNothing = "it would not have fired before then"
	textAtLeast       = "at least "
)

// namedMost is how many tasks a consequence names.
const namedMost = 3

// consequence says what a moment would mean, from what fires within 24 hours.
func consequence(s *core.Snapshot, c command.Value, when time.Time) string {
	switch c := c.(type) {
	case command.MuteUntil:
		if when.IsZero() {
			return textMuteEnds
		}
		return muteText(s, when)
	case command.Snooze:
		if when.IsZero() {
			return textSnoozeEnds
		}
		return snoozeText(s, c.ID, when)
	}
	return ""
}

func muteText(s *core.Snapshot, when time.Time) string {
	var names []string
	n := 0
	for _, e := range s.Schedule.Day {
		if e.Silent || e.Held || !e.FireTime.After(s.At) || !e.FireTime.Before(when) {
			continue
		}
		if n++; n <= namedMost {
			names = append(names, clockWords(s, e.FireTime)+" "+widget.Cut(entryName(e), 24))
		}
	}
	switch {
	case n == 0 && cutBefore(s, when):
		return fmt.Sprintf(textMuteCut, clockWords(s, s.Schedule.DayUntil))
	case n == 0:
		return textMuteNothing
	}
	count := words.Grouped(uint64(n), "fire")
	if cutBefore(s, when) { // what comes after the cut is not known
		return fmt.Sprintf("%s%s without a ping: %s and more. Critical ones come through.", textAtLeast, count, strings.Join(names, ", "))
	}
	return fmt.Sprintf("%s without a ping: %s%s. Critical ones come through.", count, strings.Join(names, ", "), more(n-len(names)))
}

func snoozeText(s *core.Snapshot, id string, when time.Time) string {
	var missed, next time.Time
	n := 0
	for _, e := range s.Schedule.Day {
		switch {
		case e.ID != id || !e.FireTime.After(s.At):
		case e.FireTime.Before(when):
			if n++; n == 1 {
				missed = e.FireTime
			}
		case next.IsZero():
			next = e.FireTime
		}
	}
	for _, t := range s.Schedule.Tasks {
		if t.ID == id && t.Kind == routines.KindReminder {
			if !t.Next.IsZero() && t.Next.After(when) {
				return "changes nothing: it fires at " + clockWords(s, t.Next)
			}
			return "it fires at " + clockWords(s, when)
		}
		if t.ID == id && next.IsZero() && t.Next.After(when) {
			next = t.Next
		}
	}
	out := textSnoozeNothing
	if n > 0 || next.IsZero() {
		out = skipped(s, n, missed, when)
	}
	if !next.IsZero() {
		out += "; fires next at " + clockWords(s, next)
	}
	return out
}

// skipped says how many fires a snooze takes away.
func skipped(s *core.Snapshot, n int, first, when time.Time) string {
	switch {
	case n > 0 && cutBefore(s, when):
		return fmt.Sprintf("skips %s%s, the first at %s", textAtLeast, words.Grouped(uint64(n), "fire"), clockWords(s, first))
	case n == 0 && cutBefore(s, when):
		return fmt.Sprintf(textSnoozeCut, clockWords(s, s.Schedule.DayUntil))
	case n == 0:
		return textSnoozeNothing
	case n == 1:
		return "skips the fire at " + clockWords(s, first)
	}
	return fmt.Sprintf("skips %d fires, the first at %s", n, clockWords(s, first))
}

// cutBefore reports that the snapshot does not know all fires until a moment.
func cutBefore(s *core.Snapshot, when time.Time) bool {
	return !s.Schedule.DayUntil.IsZero() && s.Schedule.DayUntil.Before(when)
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func entryName(e schedule.Entry) string {
	if e.Description != "" {
		return e.Description
	}
	return e.Label
}

// clockWords is a moment, with its weekday when it is not today's, and with its
// date when it lies beyond this week.
func clockWords(s *core.Snapshot, t time.Time) string {
	return cron.Layouts{
		Today: "15:04", Week: "Mon 15:04", Year: "Mon 2 January 15:04", Else: "Mon 2 January 2006 15:04",
	}.Format(t.In(cmp.Or(s.Zone, time.UTC)), s.At)
}

// The words of the welcome. Each line has a short form for a small screen.
const (
	textWelcome    = "Welcome"
	textLookAround = "look around"
	textSeeDemo    = "see it live"
	textSetUp      = "set it up"
	textEveryKey   = "every key"

	textWhatItIs     = "ollim-bot is a personal assistant that reaches out: it runs routines and reminders in the background, and pings you within a budget."
	textWhatShort    = "An assistant that reaches out."
	textAroundMore   = "look around: nothing is set up yet, and nothing can go wrong"
	textDemoMore     = "see it live: a demo day, without an account; it leaves nothing behind"
	textSetUpMore    = "set it up: four questions about names, time zone and Discord; then it starts anew"
	textEveryKeyMore = "every key, now and at any time"
	textInAShell     = "In a shell, ollim-bot init sets it up and ollim-bot demo shows it live."

	textInDemo     = "this is the demo"
	textDemoShell  = "not offered here; in a shell, ollim-bot demo shows it"
	textSetUpDemo  = "this is the demo; in a shell, ollim-bot init sets the bot up"
	textSetUpShell = "not offered here; in a shell, ollim-bot init sets it up"

	textSetUpLeft   = "the set-up has not come to its end; nothing has changed"
	textSetUpFailed = "the set-up could not begin: "
)

// setUpText says why the set-up has brought nothing.
func setUpText(err error) string {
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return textSetUpLeft
	}
	return textSetUpFailed + clean.Line(err.Error())
}

// noDemo says why the demo cannot be seen from here.
func (r *root) noDemo() string {
	if r.o.Try {
		return textInDemo
	}
	return textDemoShell
}

// noSetUp says why the set-up cannot begin from here.
func (r *root) noSetUp() string {
	if r.o.Try {
		return textSetUpDemo
	}
	return textSetUpShell
}

// welcomeText are the first words: what this is, and which keys lead on.
func (r *root) welcomeText() []welcomeLine {
	n := r.names()
	lines := []welcomeLine{{text: textWhatItIs, short: textWhatShort}}
	if r.o.Notice != "" {
		lines = append(lines, welcomeLine{text: clean.Line(r.o.Notice)})
	}
	if r.offersDemo() {
		lines = append(lines, welcomeLine{welcomeKeys.demo.Help().Key, textDemoMore, textSeeDemo})
	}
	if r.offersSetUp() {
		lines = append(lines, welcomeLine{welcomeKeys.begin.Help().Key, textSetUpMore, textSetUp})
	}
	if !r.offersDemo() && !r.offersSetUp() {
		lines = append(lines, welcomeLine{text: textInAShell})
	}
	return append(lines,
		welcomeLine{n.Badge(action.Help), textEveryKeyMore, textEveryKey},
		welcomeLine{welcomeKeys.around.Help().Key, textAroundMore, textLookAround})
}
