package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/words"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/widget"
)

// consequence says what a command would mean until its moment, from what fires within 24
// hours.
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

// counted are the fires of the snapshot before a moment that are meant, and their
// number in words: "at least", where not all of them are known; cut says so.
func counted(s *core.Snapshot, when time.Time, means func(e schedule.Entry) bool) (fires []schedule.Entry, count string, cut bool) {
	for _, e := range s.Schedule.Day {
		if means(e) && e.FireTime.After(s.At) && e.FireTime.Before(when) {
			fires = append(fires, e)
		}
	}
	count = words.Grouped(uint64(len(fires)), "fire")
	if cut = !s.Schedule.DayUntil.IsZero() && s.Schedule.DayUntil.Before(when); cut {
		count = textAtLeast + count
	}
	return fires, count, cut
}

// namedMost is how many tasks a consequence names.
const namedMost = 3

func muteText(s *core.Snapshot, when time.Time) string {
	fires, count, cut := counted(s, when, func(e schedule.Entry) bool { return !e.Silent && !e.Held })
	var names []string
	for _, e := range fires[:min(len(fires), namedMost)] {
		names = append(names, clockWords(s, e.FireTime)+" "+widget.Cut(cmp.Or(e.Description, e.Label), 24))
	}
	switch {
	case len(fires) == 0 && cut:
		return fmt.Sprintf(textMuteCut, clockWords(s, s.Schedule.DayUntil))
	case len(fires) == 0:
		return textMuteNothing
	case cut || len(fires) > namedMost:
		names[len(names)-1] += textAndMore
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
			return textFiresAt + clockWords(s, when)
		}
	}
	behind := func(e schedule.Entry) bool { return its(e) && !e.FireTime.Before(when) }
	if i := slices.IndexFunc(s.Schedule.Day, behind); i >= 0 {
		next = s.Schedule.Day[i].FireTime
	}
	out := textSnoozeNothing
	switch {
	case len(fires) == 1 && !cut:
		out = textSkipsOne + clockWords(s, fires[0].FireTime)
	case len(fires) > 0:
		out = fmt.Sprintf(textSkips, count, clockWords(s, fires[0].FireTime))
	case cut && next.IsZero():
		out = fmt.Sprintf(textSnoozeCut, clockWords(s, s.Schedule.DayUntil))
	}
	if !next.IsZero() {
		out += textFiresNext + clockWords(s, next)
	}
	return out
}
