package google

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
)

// How many days before and after today DaysOff reads.
const (
	offBefore = 31
	offAfter  = 2 * 366
)

// maxOff is the longest event whose days are taken, in days.
const maxOff = 366

// title is the name of a calendar.
func (s *CalendarAPI) title(ctx context.Context, id string) (string, error) {
	var list struct {
		Summary string `json:"summary"`
	}
	k := onEvent(http.MethodGet, id, nil)
	k.query.Set("maxResults", "1")
	err := unknown(s.api.do(ctx, k, &list))
	return clean.Line(list.Summary), err
}

// find returns the id of a calendar: one of ids by its name, or any by its id.
func (s *CalendarAPI) find(ctx context.Context, name string, ids []string) (id string, err error) {
	if strings.Contains(name, "@") || name == "primary" || slices.Contains(ids, name) {
		return name, nil
	}
	var there []string
	for _, id := range ids {
		title, err := s.title(ctx, id)
		switch {
		case errors.Is(err, ErrUnknown): // the settings name one that is gone
			continue
		case err != nil:
			return "", err
		case strings.EqualFold(title, name):
			return id, nil
		}
		there = append(there, title)
	}
	return "", says(textNotAmong, strings.Join(there, ", "))
}

// DaysOff returns what takes whole days in a calendar, by date ("2026-12-25"): from a month before now to two
// years after. The calendar is one of ids, by its name or id, or any other, by its id. What only a stranger has
// put there takes no day: an invitation counts when the user has accepted it, and its title is left out.
func (s *CalendarAPI) DaysOff(ctx context.Context, name string, ids []string, now time.Time) (map[string]string, error) {
	id, err := s.find(ctx, name, ids)
	if err != nil {
		return nil, err
	}
	days := map[string]string{}
	y, m, d := now.Date()
	from, to := time.Date(y, m, d-offBefore, 0, 0, 0, 0, time.UTC), time.Date(y, m, d+offAfter, 0, 0, 0, 0, time.UTC)
	for e, err := range s.events(ctx, id, from, to) {
		if errors.Is(err, ErrUnknown) {
			return nil, says(textNotThere)
		}
		if err != nil {
			return nil, err
		}
		e.Calendar = id
		title := clean.Cut(clean.Line(e.Summary), maxTitle)
		if e.Foreign() {
			title = ""
		}
		start, ok := e.Start.Time(time.UTC)
		if !ok || !e.AllDay() || !e.takesDays() {
			continue
		}
		for range min(max(int(e.Length()/(24*time.Hour)), 1), maxOff) {
			days[start.Format(time.DateOnly)] = title
			start = start.AddDate(0, 0, 1)
		}
	}
	return days, nil
}

// takesDays reports whether an event of whole days is one on which the user is off.
func (e Event) takesDays() bool {
	return !e.aside() && e.Kind != "birthday" && (!e.Foreign() || slices.ContainsFunc(e.Attendees, func(a Attendee) bool {
		return a.Self && a.Response == "accepted"
	}))
}
