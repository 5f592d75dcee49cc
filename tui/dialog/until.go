package dialog

import (
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/routines/cron"
	"ollimbot/tui/pane"
)

// choice is a moment to choose.
type choice struct {
	name string
	when time.Time
}

// clockField is how much can be typed: a time is shorter, and what is none is
// seen before it is refused.
const clockField = 16

// NewUntil is the form that asks for the moment of a command, and says what would come of
// each before it is chosen.
func NewUntil(ask pane.Until, s *core.Snapshot) *Form {
	clock := Text(textUntilClock, "", func(c pane.Context, text string, tried bool) (string, bool) {
		if text == "" {
			return textNoClock, !tried
		}
		_, ok := clockTime(text, now(c))
		return map[bool]string{false: textBadClock}[ok], ok
	})
	clock.Most = clockField
	f := &Form{Name: ask.Title, Picks: true, opened: time.Now()}
	for _, m := range moments(now(pane.Context{Snap: s})) {
		f.Fields = append(f.Fields, fixed(m.name, func(c pane.Context) string {
			at, _ := momentOf(m.name, now(c))
			return clockWords(c.Snap, at)
		}))
	}
	if !ask.Now.IsZero() {
		f.Fields = append(f.Fields, fixed(textUntilEnd, func(c pane.Context) string { return textHolds + clockWords(c.Snap, ask.Now) }))
	}
	f.Fields = append(f.Fields, clock)
	chosen := func(c pane.Context) (time.Time, bool) {
		if field := f.Fields[f.at]; field != clock {
			return momentOf(field.Label, now(c))
		}
		return clockTime(clock.Text(), now(c))
	}
	f.Make = func(c pane.Context) command.Value {
		at, _ := chosen(c)
		return timed(ask.For, at)
	}
	f.Effect = func(c pane.Context) (string, bool) {
		at, ok := chosen(c)
		switch {
		case ok:
			return consequence(c.Snap, ask.For, at), true
		case f.Fields[f.at] == clock: // it stands beside the field
			return "", false
		}
		return textPastMoment, false
	}
	return f
}

// momentOf is the moment of a choice, zero for the one that ends what holds; ok is false
// for an evening that is over.
func momentOf(name string, now time.Time) (at time.Time, ok bool) {
	for _, m := range moments(now) {
		if m.name == name {
			return m.when, true
		}
	}
	return time.Time{}, name == textUntilEnd
}

// moments are what is usually meant. An evening that is over is not offered.
func moments(now time.Time) []choice {
	out := []choice{
		{textHalfHour, now.Add(30 * time.Minute)},
		{textOneHour, now.Add(time.Hour)},
	}
	if evening := cron.Wall(now, 0, 18, 0, now.Location()); evening.Sub(now) > time.Hour {
		out = append(out, choice{textEvening, evening})
	}
	return append(out, choice{textMorning, cron.Wall(now, 1, 8, 0, now.Location())})
}

// clockTime reads "18:00", "1800" or "18" as its next moment after now.
func clockTime(text string, now time.Time) (time.Time, bool) {
	digits := make([]int, 0, 4)
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits = append(digits, int(r-'0'))
		case r != ':' || len(digits) == 0:
			return time.Time{}, false
		case len(digits) == 1: // "8:30"
			digits = append([]int{0}, digits...)
		}
	}
	var hour, minute int
	switch len(digits) {
	case 1:
		hour = digits[0]
	case 2:
		hour = digits[0]*10 + digits[1]
	case 4:
		hour, minute = digits[0]*10+digits[1], digits[2]*10+digits[3]
	default:
		return time.Time{}, false
	}
	if hour > 23 || minute > 59 {
		return time.Time{}, false
	}
	return nextWall(now, hour, minute), true
}

// nextWall is the next moment of that time of day.
func nextWall(now time.Time, hour, minute int) time.Time {
	at := cron.Wall(now, 0, hour, minute, now.Location())
	if !at.After(now) {
		at = cron.Wall(now, 1, hour, minute, now.Location())
	}
	return at
}

// timed is a command with its moment.
func timed(c command.Value, when time.Time) command.Value {
	switch c := c.(type) {
	case command.Snooze:
		c.Until = when
		return c
	case command.MuteUntil:
		c.Until = when
		return c
	}
	return c
}
