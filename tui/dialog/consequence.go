package dialog

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/words"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/widget"
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
