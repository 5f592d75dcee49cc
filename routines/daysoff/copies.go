package daysoff

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/routines/recur"
)

// copiesFile has the days of Google's calendars as last read, so that a task skips them without a
// connection, too.
const copiesFile = "state/calendars.json"

const (
	// copyAge is after what time a calendar is read from Google again.
	copyAge = 24 * time.Hour
	// copyRetry is after what time a failed read is repeated.
	copyRetry = 10 * time.Minute
)

// heldCopy is the days of one of Google's calendars.
type heldCopy struct {
	Days  map[string]string `json:"days"`            // the event by date, such as "2026-12-25"
	Read  time.Time         `json:"read"`            // zero if it was never read
	Tried time.Time         `json:"tried"`           // the last attempt
	Wrong string            `json:"wrong,omitempty"` // why that failed
}

// copies reads the file of copies; there are none if it cannot be read.
func (s *Shelf) copies() map[string]heldCopy {
	held := map[string]heldCopy{}
	if _, err := s.d.PeekJSON(copiesFile, &held); err != nil {
		return map[string]heldCopy{}
	}
	return held
}

// Due lists the names of Google's calendars, without "calendar", that are to be read at now: those on the shelf
// that have no copy, and those with an old one.
func (s *Shelf) Due(now time.Time) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var held map[string]heldCopy
	for _, c := range s.list {
		name, ok := recur.GoogleCalendar(c.name)
		if !ok {
			continue
		}
		if held == nil {
			held = s.copies()
		}
		h := held[name]
		if wait := map[bool]time.Duration{true: copyAge, false: copyRetry}[h.Wrong == ""]; now.Sub(h.Tried).Abs() >= wait {
			names = append(names, name)
		}
	}
	return names
}

// Keep stores what Google's calendars hold at now: the event of each day, or why they are not known, in which
// case the days from before stay. Copies that no task on the shelf uses are dropped.
func (s *Shelf) Keep(now time.Time, days map[string]map[string]string, failed map[string]error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.copies()
	for name, read := range days {
		held[name] = heldCopy{Days: read, Read: now, Tried: now}
	}
	for name, err := range failed {
		h := held[name]
		h.Tried, h.Wrong = now, clean.Cut(clean.Line(err.Error()), 300)
		held[name] = h
	}
	maps.DeleteFunc(held, func(name string, _ heldCopy) bool {
		return !slices.ContainsFunc(s.list, func(c *Calendar) bool {
			on, ok := recur.GoogleCalendar(c.name)
			return ok && on == name
		})
	})
	return s.d.WriteJSON(copiesFile, held)
}

// content is what a copy says about a calendar.
func (h heldCopy) content() (days map[recur.Date]string, odd string, err error) {
	if h.Read.IsZero() {
		return nil, "", errors.New(cmp.Or(h.Wrong, textNotRead))
	}
	days = make(map[recur.Date]string, len(h.Days))
	for text, event := range h.Days {
		if d, ok := dateOf(strings.ReplaceAll(text, "-", "")); ok {
			days[d] = clean.Line(event)
		}
	}
	return days, h.Wrong, nil
}
