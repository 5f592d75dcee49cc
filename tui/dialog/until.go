package dialog

import (
	"strconv"
	"strings"
	"time"

	"ollimbot/core/command"
	"ollimbot/routines/cron"
	"ollimbot/tui/pane"
)

// choice is a moment to choose.
type choice struct {
	name string
	when time.Time
}

// NewUntil is the form that asks until when, and says what would come of each moment before
// it is chosen; of makes the command, with the zero moment one that ends it. holds is until
// when it holds already; zero when it does not.
func NewUntil(c pane.Context, title string, holds time.Time, of func(until time.Time) command.Value) *Form {
	clock := Text(textUntilClock, "", func(c pane.Context, text string) (string, bool) {
		_, ok := clockTime(text, now(c))
		return map[bool]string{false: textBadMoment}[ok], ok
	})
	clock.Hint, clock.Needed = textNoClock, true
	f := &Form{Name: title, Picks: true, opened: time.Now()}
	list := moments(now(c))
	for _, m := range list {
		f.Fields = append(f.Fields, Choice(m.name, "", clockWords(c.Snap, m.when)))
	}
	if !holds.IsZero() {
		f.Fields = append(f.Fields, Choice(textUntilEnd, "", textHolds+clockWords(c.Snap, holds)))
		list = append(list, choice{})
	}
	f.Fields = append(f.Fields, clock)
	chosen := func(c pane.Context) (time.Time, bool) {
		if f.at == len(list) {
			return clockTime(clock.Text(), now(c))
		}
		at := list[f.at].when
		return at, at.IsZero() || at.After(c.Snap.At)
	}
	f.Make = func(c pane.Context) command.Value {
		at, _ := chosen(c)
		return of(at)
	}
	f.Effect = func(c pane.Context) (string, bool) {
		at, ok := chosen(c)
		switch {
		case ok:
			return consequence(c.Snap, of(at)), true
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
	rest, last := "", text
	if i := strings.LastIndexByte(text, ' '); i >= 0 {
		rest, last = text[:i+1], text[i+1:]
	}
	if _, err := strconv.ParseUint(last, 10, 64); err == nil {
		switch len(last) {
		case 1, 2:
			last += ":00"
		case 4:
			last = last[:2] + ":" + last[2:]
		}
	}
	return command.ReadMoment(rest+last, now)
}
