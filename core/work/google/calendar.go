package google

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
)

// Event is an appointment. The tags are Google's.
type Event struct {
	ID          string     `json:"id,omitempty"`
	Status      string     `json:"status,omitempty"`
	Summary     string     `json:"summary,omitempty"`
	Description string     `json:"description,omitempty"`
	Location    string     `json:"location,omitempty"`
	Link        string     `json:"htmlLink,omitempty"`
	Start       *When      `json:"start,omitempty"`
	End         *When      `json:"end,omitempty"`
	Attendees   []Attendee `json:"attendees,omitempty"`
	Organizer   *Attendee  `json:"organizer,omitempty"`
	Kind        string     `json:"eventType,omitempty"`
	// Shown is "transparent" for an event that leaves the user free; docs: Calendar API > Events.
	Shown string `json:"transparency,omitempty"`

	// Calendar is the id of the calendar that contains it; not part of Google's JSON.
	Calendar string `json:"-"`
}

// sentEvent is an event in Google's JSON.
type sentEvent Event

// MarshalJSON implements json.Marshaler: the event for scripts, with clean texts. Times are RFC 3339, in the zone of In.
// All-day events have dates, and their end is the day after the last.
func (e Event) MarshalJSON() ([]byte, error) {
	guests := []string{}
	for _, who := range e.Attendees {
		guests = append(guests, clean.Line(who.Email))
	}
	return store.JSONLine(struct {
		ID          string   `json:"id"`
		Calendar    string   `json:"calendar"`
		Title       string   `json:"title"`
		AllDay      bool     `json:"all_day"`
		Start       string   `json:"start"`
		End         string   `json:"end"`
		Location    string   `json:"location"`
		Description string   `json:"description"`
		Link        string   `json:"link"`
		Attendees   []string `json:"attendees"`
		Status      string   `json:"status"`
		Foreign     bool     `json:"foreign"` // created by someone else
	}{
		e.ID, e.Calendar, clean.Line(e.Summary), e.AllDay(), e.Start.text(e.AllDay()), e.End.text(e.AllDay()), clean.Line(e.Location),
		clean.Text(e.Text()), clean.Line(e.Link), guests, e.Status, e.Foreign(),
	})
}

// In returns the event with its times in a zone.
func (e Event) In(zone *time.Location) Event {
	for _, w := range []**When{&e.Start, &e.End} {
		if t, ok := (*w).Time(zone); ok && (*w).DateTime != "" {
			*w = At(t)
		}
	}
	return e
}

// Attendee is a guest or the organizer.
type Attendee struct {
	Email    string `json:"email,omitempty"`
	Self     bool   `json:"self,omitempty"`
	Response string `json:"responseStatus,omitempty"`
}

// When is a day, or a moment with its zone.
type When struct {
	Date     string `json:"date,omitempty"`
	DateTime string `json:"dateTime,omitempty"`
	Zone     string `json:"timeZone,omitempty"`
}

// At is a moment in Google's format.
func At(t time.Time) *When {
	return &When{DateTime: t.Format(time.RFC3339), Zone: t.Location().String()}
}

// Time is the moment, or midnight of the day in a zone; false if there is neither.
func (w *When) Time(zone *time.Location) (time.Time, bool) {
	if w == nil {
		return time.Time{}, false
	}
	if w.DateTime != "" {
		t, err := time.Parse(time.RFC3339, w.DateTime)
		return t.In(zone), err == nil
	}
	t, err := time.ParseInLocation(time.DateOnly, w.Date, zone)
	return t, err == nil
}

// text returns the moment or its day; empty if there is neither.
func (w *When) text(day bool) string {
	layout := time.RFC3339
	if day {
		layout = time.DateOnly
	}
	if w == nil {
		return ""
	}
	if t, err := time.Parse(time.RFC3339, w.DateTime); err == nil {
		return t.Format(layout)
	}
	if t, ok := w.Time(time.UTC); ok {
		return t.Format(layout)
	}
	return ""
}

// AllDay reports whether the event has days and no times.
func (e Event) AllDay() bool { return e.Start != nil && e.Start.DateTime == "" }

// Length is the time from start to end; 0 without either.
func (e Event) Length() time.Duration {
	start, starts := e.Start.Time(time.UTC)
	end, ends := e.End.Time(time.UTC)
	if !starts || !ends {
		return 0
	}
	return end.Sub(start)
}

// aside reports whether the event is no part of the user's day: the user declined it, or it
// is only a working location.
func (e Event) aside() bool {
	return e.Kind == "workingLocation" || slices.ContainsFunc(e.Attendees, func(a Attendee) bool {
		return a.Self && a.Response == "declined"
	})
}

// Foreign reports whether someone else created the event, so that its text is untrusted.
func (e Event) Foreign() bool {
	return e.Organizer != nil && !e.Organizer.Self && e.Organizer.Email != e.Calendar
}

// Text is the description without the tags that Google's own editor writes.
func (e Event) Text() string {
	if !strings.ContainsAny(e.Description, "<&") {
		return e.Description
	}
	return Plain(strings.ReplaceAll(e.Description, "\n", "<br>"))
}

// CalendarAPI is Google Calendar.
type CalendarAPI struct{ api *api }

func onEvent(method, calendar string, body any, id ...string) call {
	path := append([]string{"calendar", "v3", "calendars", calendar, "events"}, id...)
	return call{scope: Calendar, method: method, path: path, query: url.Values{}, body: body}
}

// Events returns the events of calendars between two moments, ordered by start, each
// occurrence separately, without those that the user declined and working locations.
func (s *CalendarAPI) Events(ctx context.Context, calendars []string, from, to time.Time) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var open []*stream
		for _, id := range calendars {
			next, stop := iter.Pull2(s.events(ctx, id, from, to))
			defer stop()
			if s := (&stream{calendar: id, next: next}); s.advance(from.Location()) {
				open = append(open, s)
			}
		}
		for len(open) > 0 {
			first := 0
			for i, s := range open {
				if s.err != nil || s.at.Before(open[first].at) {
					first = i
				}
			}
			s := open[first]
			if s.err != nil || !s.event.aside() {
				if !yield(s.event, s.err) || s.err != nil {
					return
				}
			}
			if !s.advance(from.Location()) {
				open = append(open[:first], open[first+1:]...)
			}
		}
	}
}

// stream is the events of one calendar, with the next one read ahead.
type stream struct {
	calendar string
	next     func() (Event, error, bool)
	event    Event
	at       time.Time
	err      error
}

func (s *stream) advance(zone *time.Location) bool {
	var ok bool
	s.event, s.err, ok = s.next()
	s.event.Calendar = s.calendar
	s.at, _ = s.event.Start.Time(zone)
	return ok
}

func (s *CalendarAPI) events(ctx context.Context, calendar string, from, to time.Time) iter.Seq2[Event, error] {
	k := onEvent(http.MethodGet, calendar, nil)
	k.query = url.Values{
		"timeMin": {from.Format(time.RFC3339)}, "timeMax": {to.Format(time.RFC3339)},
		"singleEvents": {"true"}, "orderBy": {"startTime"}, "maxResults": {"250"},
	}
	return pages[Event](ctx, s.api, k)
}

// Get returns an event from the first of these calendars that has it.
func (s *CalendarAPI) Get(ctx context.Context, calendars []string, id string) (e Event, err error) {
	err = ErrUnknown
	for _, calendar := range calendars {
		e = Event{}
		err = unknown(s.api.do(ctx, onEvent(http.MethodGet, calendar, nil, id), &e))
		if e.Calendar = calendar; err == nil && e.Status == "cancelled" {
			err = ErrUnknown
		}
		if !errors.Is(err, ErrUnknown) {
			break
		}
	}
	return e, err
}

// Add creates an event once: it chooses the id itself, so that the call can be repeated.
func (s *CalendarAPI) Add(ctx context.Context, calendar string, e Event) (made Event, err error) {
	var id [13]byte
	_, _ = rand.Read(id[:]) // it never fails
	e.ID = hex.EncodeToString(id[:])
	err = s.api.do(ctx, onEvent(http.MethodPost, calendar, sentEvent(e)), &made)
	if r := (*refusal)(nil); errors.As(err, &r) && r.status == http.StatusConflict && r.after {
		return s.Get(ctx, []string{calendar}, e.ID)
	}
	made.ID = cmp.Or(made.ID, e.ID)
	return made, unknown(err)
}

// Change is a moment in an update; it replaces the day of an all-day event.
func Change(t time.Time) map[string]any {
	w := At(t)
	return map[string]any{"dateTime": w.DateTime, "timeZone": w.Zone, "date": nil}
}

// Update changes these fields and leaves the rest.
func (s *CalendarAPI) Update(ctx context.Context, calendar, id string, fields map[string]any) (now Event, err error) {
	return now, unknown(s.api.do(ctx, onEvent(http.MethodPatch, calendar, fields, id), &now))
}

// Delete removes an event from the first of these calendars that has it.
func (s *CalendarAPI) Delete(ctx context.Context, calendars []string, id string) error {
	err := ErrUnknown
	for _, calendar := range calendars {
		if err = deleted(s.api.do(ctx, onEvent(http.MethodDelete, calendar, nil, id), nil)); !errors.Is(err, ErrUnknown) {
			break
		}
	}
	return err
}
