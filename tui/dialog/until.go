package dialog

import (
	"strconv"
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

// clockField is how much can be typed: a moment is shorter, and what is none is
// seen before it is refused.
const clockField = 24

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
	when := map[*Field]time.Time{}
	add := func(name, shown string, at time.Time) {
		field := &Field{Label: name, shown: shown}
		f.Fields, when[field] = append(f.Fields, field), at
	}
	for _, m := range moments(now(pane.Context{Snap: s})) {
		add(m.name, clockWords(s, m.when), m.when)
	}
	if !ask.Now.IsZero() {
		add(textUntilEnd, textHolds+clockWords(s, ask.Now), time.Time{})
	}
	f.Fields = append(f.Fields, clock)
	chosen := func(c pane.Context) (time.Time, bool) {
		at, ok := when[f.Fields[f.at]]
		if !ok {
			return clockTime(clock.Text(), now(c))
		}
		return at, at.IsZero() || at.After(c.Snap.At)
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

// clockTime reads a moment; of a time of day the colon or the minutes may be left out.
func clockTime(text string, now time.Time) (time.Time, bool) {
	if _, err := strconv.ParseUint(text, 10, 64); err == nil {
		switch len(text) {
		case 1, 2:
			text += ":00"
		case 4:
			text = text[:2] + ":" + text[2:]
		}
	}
	return command.ReadMoment(text, now)
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
