package tui

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/routines"
	"ollimbot/tui/widget"
)

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
	textSnoozeEnds  = "it fires as its file says again"
)

// namedMost is how many tasks a consequence names.
const namedMost = 3

// consequence says what a moment would mean, from what fires within 24 hours.
func consequence(s *core.Snapshot, c core.Command, when time.Time) string {
	switch c := c.(type) {
	case core.MuteUntil:
		if when.IsZero() {
			return textMuteEnds
		}
		return muteText(s, when)
	case core.Snooze:
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
	if n == 0 {
		return textMuteNothing
	}
	return fmt.Sprintf("%s without a ping: %s%s. Critical ones come through.",
		widget.Count(uint64(n), "fire"), strings.Join(names, ", "), more(n-len(names)))
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
	out := "it would not have fired before then"
	switch {
	case n == 1:
		out = "skips the fire at " + clockWords(s, missed)
	case n > 1:
		out = fmt.Sprintf("skips %d fires, the first at %s", n, clockWords(s, missed))
	}
	if !next.IsZero() {
		out += "; fires next at " + clockWords(s, next)
	}
	return out
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func entryName(e routines.Entry) string {
	if e.Description != "" {
		return e.Description
	}
	return e.Label
}

// clockWords is a moment of the next days, with the day when it is not today's.
func clockWords(s *core.Snapshot, t time.Time) string {
	zone := s.Zone
	if zone == nil {
		zone = time.UTC
	}
	if widget.SameDay(t, s.At, zone) {
		return t.In(zone).Format("15:04")
	}
	return t.In(zone).Format("Mon 15:04")
}
