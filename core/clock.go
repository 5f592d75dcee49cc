package core

import (
	"cmp"
	"time"

	"ollimbot/core/words"
	"ollimbot/routines/cron"
)

// Local is a moment on the user's clock.
func (s *Snapshot) Local(t time.Time) time.Time { return t.In(cmp.Or(s.Zone, time.UTC)) }

// IsToday reports whether a moment is of the day that the snapshot describes.
func (s *Snapshot) IsToday(t time.Time) bool {
	return words.SameDay(t, s.At, cmp.Or(s.Zone, time.UTC))
}

// Clock writes a moment on the user's clock by a layout of package time, whose "15:04" is
// written as the user reads it.
func (s *Snapshot) Clock(t time.Time, layout string) string {
	return s.Local(t).Format(words.ClockLayout(layout, s.TwelveHours))
}

// When is Clock with the layout that fits the distance.
func (s *Snapshot) When(t time.Time, l cron.Layouts) string {
	for _, layout := range []*string{&l.Today, &l.Week, &l.Year, &l.Else} {
		*layout = words.ClockLayout(*layout, s.TwelveHours)
	}
	return l.Format(s.Local(t), s.At)
}

// ClockCells is how many cells the time of a day takes at most.
func (s *Snapshot) ClockCells() int {
	if s.TwelveHours {
		return len("12:04pm")
	}
	return len("15:04")
}
