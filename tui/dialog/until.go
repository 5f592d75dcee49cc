package dialog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/routines/when"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// choice is a moment to choose from.
type choice struct {
	name string
	when time.Time
}

// NewUntil is the form to choose the end of a snooze or mute, with a preview of the effect.
// of makes the command; the zero time ends the current one. active is the end of the
// current one, or zero if there is none.
func NewUntil(c pane.Context, title string, active time.Time, of func(until time.Time) command.Value) *Form {
	clock := Text("at a time", "", func(c pane.Context, text string) (string, bool) {
		_, err := clockTime(text, c.Snap.Times())
		return reason(err), err == nil
	})
	clock.Hint, clock.needed = textNoClock, true
	f := &Form{Name: title, picks: true, types: formKeys.moment, opened: time.Now()}
	list := moments(c.Snap.Times())
	for _, m := range list {
		f.Fields = append(f.Fields, Choice(m.name, "", clockWords(c.Snap, m.when)))
	}
	if !active.IsZero() {
		f.Fields = append(f.Fields, Choice("end it now", "", "active until "+clockWords(c.Snap, active)))
		list = append(list, choice{})
	}
	f.Fields = append(f.Fields, clock)
	chosen := func(c pane.Context) (time.Time, bool) {
		if f.at == len(list) {
			at, err := clockTime(clock.Text(), c.Snap.Times())
			return at, err == nil
		}
		at := list[f.at].when
		return at, at.IsZero() || at.After(c.Snap.At)
	}
	f.Make = func(c pane.Context) command.Value {
		at, _ := chosen(c)
		return of(at)
	}
	f.effect = func(c pane.Context) (string, bool) {
		at, ok := chosen(c)
		switch {
		case ok:
			return consequence(c.Snap, of(at)), true
		case f.Fields[f.at] == clock: // the error is below the field
			return "", false
		}
		return textPastMoment, false
	}
	return f
}

// moments are the suggested times. The evening is omitted if it is less than an hour away.
func moments(read when.Reader) []choice {
	now := read.Now
	out := []choice{
		{"30 minutes", now.Add(30 * time.Minute)},
		{"1 hour", now.Add(time.Hour)},
	}
	for _, name := range []string{"this evening", "tomorrow"} {
		if at, err := read.Moment(name); err == nil && at.Sub(now) > time.Hour {
			out = append(out, choice{name, at})
		}
	}
	return out
}

// clockTime parses a moment. A number alone is a time of day here.
func clockTime(text string, read when.Reader) (time.Time, error) {
	if _, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64); err == nil {
		text = "at " + text
	}
	return read.Moment(text)
}

// consequence describes which fires of the next 24 hours a mute or snooze would affect.
func consequence(s *core.Snapshot, c command.Value) string {
	switch c := c.(type) {
	case command.MuteUntil:
		if c.Until.IsZero() {
			return textMuteEnds
		}
		return muteText(s, c.Until)
	case command.Snooze:
		if c.Until.IsZero() {
			return textSnoozeEnds
		}
		return snoozeText(s, c.ID, c.Until)
	}
	return ""
}

// counted are the matching fires before a moment, and their number in words. cut means that
// the snapshot ends before the moment, so that the number is a minimum.
func counted(s *core.Snapshot, when time.Time, means func(e schedule.Entry) bool) (fires []schedule.Entry, count string, cut bool) {
	for _, e := range s.Schedule.Day {
		if means(e) && e.FireTime.After(s.At) && e.FireTime.Before(when) {
			fires = append(fires, e)
		}
	}
	count = words.Grouped(uint64(len(fires)), "fire")
	if cut = !s.Schedule.DayUntil.IsZero() && s.Schedule.DayUntil.Before(when); cut {
		count = "at least " + count
	}
	return fires, count, cut
}

// namedMost is how many tasks a consequence names.
const namedMost = 3

func muteText(s *core.Snapshot, when time.Time) string {
	fires, count, cut := counted(s, when, func(e schedule.Entry) bool { return !e.Silent && !e.Held })
	var names []string
	for _, e := range fires[:min(len(fires), namedMost)] {
		names = append(names, clockWords(s, e.FireTime)+" "+widget.Cut(core.TitleOf(e), 24))
	}
	switch {
	case len(fires) == 0 && cut:
		return fmt.Sprintf(textMuteCut, clockWords(s, s.Schedule.DayUntil))
	case len(fires) == 0:
		return textMuteNothing
	case cut || len(fires) > namedMost:
		names[len(names)-1] += " and more"
	}
	return fmt.Sprintf(textMuted, count, strings.Join(names, ", "))
}

func snoozeText(s *core.Snapshot, id string, when time.Time) string {
	its := func(e schedule.Entry) bool { return e.ID == id }
	fires, count, cut := counted(s, when, its)
	var next time.Time
	for _, t := range s.Schedule.Tasks {
		switch {
		case t.ID != id:
		case t.Next.After(when) && t.Kind == routines.KindReminder:
			return textNoChange + clockWords(s, t.Next)
		case t.Next.After(when):
			next = t.Next
		case t.Kind == routines.KindReminder:
			return "it fires at " + clockWords(s, when)
		}
	}
	after := func(e schedule.Entry) bool { return its(e) && !e.FireTime.Before(when) }
	if i := slices.IndexFunc(s.Schedule.Day, after); i >= 0 {
		next = s.Schedule.Day[i].FireTime
	}
	out := textSnoozeNothing
	switch {
	case len(fires) == 1 && !cut:
		out = "skips the fire at " + clockWords(s, fires[0].FireTime)
	case len(fires) > 0:
		out = fmt.Sprintf(textSkips, count, clockWords(s, fires[0].FireTime))
	case cut && next.IsZero():
		out = fmt.Sprintf(textSnoozeCut, clockWords(s, s.Schedule.DayUntil))
	}
	if !next.IsZero() {
		out += "; fires next at " + clockWords(s, next)
	}
	return out
}
