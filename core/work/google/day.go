package google

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/clean"
)

const (
	// dayEvery is the time between two reads.
	dayEvery = 5 * time.Minute
	// daysAhead is how many days are kept: today, and tomorrow for the hours before midnight.
	daysAhead = 2
	// The lengths of a title or a place, and of a text, in characters.
	maxTitle, maxText = 200, 2000
)

// Item is an appointment, or the tasks that are due on a day. Its texts are cleaned.
type Item struct {
	ID, Calendar string // of an appointment
	Title, Place string // on one line
	Text, Link   string
	Start, End   time.Time // midnights for whole days, End after the last day
	AllDay       bool
	Free         bool   // the user has marked the appointment as one that leaves them free
	Tasks        []Task // due on the day, with ids and titles only; nil for an appointment
}

// Wanted says what to read.
type Wanted struct {
	Calendars []string
	List      string // of tasks
	Zone      *time.Location
}

// Day is the user's appointments and tasks of today and tomorrow. Only Read calls Google;
// the other methods use its last result, whatever its age. It is safe for concurrent use.
type Day struct {
	api *api

	reading sync.Mutex // one reads at a time; it guards the fields below
	tried   time.Time
	account string
	zone    *time.Location
	from    time.Time
	held    map[string]*calendar
	due     []Item

	mu    sync.Mutex // guards items, which is replaced and never changed
	items []Item
}

// Day returns an empty day.
func (c *Client) Day() *Day { return &Day{api: c.api, held: map[string]*calendar{}} }

// Ahead returns the items that have not ended, ordered by start, those of whole days
// first. The caller must not change them. It is the same list until one ends or is read.
func (d *Day) Ahead(now time.Time) []Item {
	d.mu.Lock()
	defer d.mu.Unlock()
	over := func(i Item) bool { return !i.End.After(now) }
	if slices.ContainsFunc(d.items, over) {
		d.items = slices.DeleteFunc(slices.Clone(d.items), over)
	}
	return d.items
}

// Forget removes an appointment or a task that was deleted.
func (d *Day) Forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var left []Item
	for _, i := range d.items {
		if i.Tasks != nil {
			i.Tasks = slices.DeleteFunc(slices.Clone(i.Tasks), func(t Task) bool { return t.ID == id })
		}
		if i.ID != id && (i.Tasks == nil || len(i.Tasks) > 0) {
			left = append(left, i)
		}
	}
	d.items = left
}

// Read asks Google for changes, if the user allows it and the last read is at least five
// minutes old; asked reports whether it did. It waits for Google. Items that it cannot read
// stay unchanged, and err says why.
func (d *Day) Read(ctx context.Context, want Wanted) (asked bool, err error) {
	if !d.reading.TryLock() {
		return false, nil // another call is reading
	}
	defer d.reading.Unlock()
	now := d.api.creds.now()
	if !d.tried.IsZero() && now.Sub(d.tried) < dayEvery {
		return false, nil
	}
	s := d.api.creds.State()
	if !s.On() {
		return false, nil
	}
	d.tried = now
	if d.account != s.Account || d.zone != want.Zone {
		d.account, d.zone, d.held, d.due = s.Account, want.Zone, map[string]*calendar{}, nil
	}
	y, m, day := now.In(want.Zone).Date()
	from, to := time.Date(y, m, day, 0, 0, 0, 0, want.Zone), time.Date(y, m, day+daysAhead, 0, 0, 0, 0, want.Zone)
	if !from.Equal(d.from) { // a token is valid for one span only
		for _, k := range d.held {
			k.token = ""
		}
		d.from = from
	}
	if s.May(Calendar) {
		err = d.calendars(ctx, want.Calendars, from, to)
	}
	if s.May(Tasks) && (err == nil || reached(err)) {
		due, e := due(ctx, d.api, want.List, from, to)
		if e == nil {
			d.due = due
		}
		err = errors.Join(err, e)
	}
	d.publish()
	return true, err
}

// calendars reads the wanted calendars and drops the others. If one fails, the rest are
// still read, unless Google cannot be reached.
func (d *Day) calendars(ctx context.Context, ids []string, from, to time.Time) (err error) {
	maps.DeleteFunc(d.held, func(id string, _ *calendar) bool { return !slices.Contains(ids, id) })
	for _, id := range ids {
		if d.held[id] == nil {
			d.held[id] = &calendar{id: id}
		}
		if e := d.held[id].read(ctx, d.api, from, to); e != nil {
			if err = errors.Join(err, fmt.Errorf(textCalendar, clean.Line(id), e)); !reached(e) {
				return err
			}
		}
	}
	return err
}

// reached reports whether a failed call reached Google.
func reached(err error) bool {
	return errors.As(err, new(*refusal))
}

// publish replaces the items with those read last.
func (d *Day) publish() {
	all := slices.Clone(d.due)
	for _, k := range d.held {
		for _, i := range k.items {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b Item) int {
		if c := a.Start.Compare(b.Start); c != 0 {
			return c
		}
		if a.AllDay != b.AllDay {
			return map[bool]int{true: -1, false: 1}[a.AllDay]
		}
		return strings.Compare(a.Title+a.Calendar+a.ID, b.Title+b.Calendar+b.ID)
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.items = all
}

// calendar is the last read state of a calendar: its items within a span, and the token
// that requests later changes.
type calendar struct {
	id    string
	token string
	items map[string]Item
}

// read updates a calendar. The first read asks for the span; later ones send the token
// alone, because Google allows no other condition with it. Google also returns events that
// have moved out of the span.
func (k *calendar) read(ctx context.Context, a *api, from, to time.Time) error {
	items, next := maps.Clone(k.items), ""
	list := onEvent(http.MethodGet, k.id, nil)
	list.query = url.Values{"singleEvents": {"true"}, "maxResults": {"250"}}
	list.sync = &next
	if k.token != "" {
		list.query.Set("syncToken", k.token)
	} else {
		items = nil
		list.query.Set("timeMin", from.Format(time.RFC3339))
		list.query.Set("timeMax", to.Format(time.RFC3339))
	}
	if items == nil {
		items = map[string]Item{}
	}
	for e, err := range pages[Event](ctx, a, list) {
		if r := (*refusal)(nil); k.token != "" && errors.As(err, &r) && r.status == http.StatusGone {
			k.token = "" // it has expired
			return k.read(ctx, a, from, to)
		}
		if err != nil {
			return err
		}
		delete(items, e.ID)
		if i, ok := k.item(e, from.Location()); ok && i.End.After(from) && i.Start.Before(to) {
			items[e.ID] = i
		}
	}
	k.items, k.token = items, next
	return nil
}

// item is an event as an item; false if it was cancelled or is no part of the day.
func (k *calendar) item(e Event, zone *time.Location) (Item, bool) {
	start, starts := e.Start.Time(zone)
	end, ends := e.End.Time(zone)
	if !ends {
		end = start
	}
	if !starts || e.Status == "cancelled" || e.aside() {
		return Item{}, false
	}
	return Item{
		ID: e.ID, Calendar: k.id, Title: clean.Cut(clean.Line(e.Summary), maxTitle), Place: clean.Cut(clean.Line(e.Location), maxTitle),
		Text: strings.TrimSpace(clean.Cut(clean.Text(e.Text()), maxText)), Link: clean.Line(e.Link),
		Start: start, End: end, AllDay: e.AllDay(), Free: e.Shown == "transparent",
	}, true
}

// due returns the open tasks that are due in a span, one item a day. Google has no change
// token for tasks, and a list of changes would not contain the tasks that were due before,
// so it reads the span each time.
func due(ctx context.Context, a *api, list string, from, to time.Time) ([]Item, error) {
	k := onTask(http.MethodGet, list, nil)
	k.query = url.Values{
		"maxResults": {"100"}, "showCompleted": {"false"},
		"dueMin": {DueOn(from.Format(time.DateOnly))}, "dueMax": {DueOn(to.Format(time.DateOnly))}, // exclusive
	}
	var days []Item
	for t, err := range pages[Task](ctx, a, k) {
		if err != nil {
			return nil, err
		}
		start, err := time.ParseInLocation(time.DateOnly, t.Day(), from.Location())
		if err != nil || start.Before(from) || !start.Before(to) {
			continue
		}
		at := slices.IndexFunc(days, func(i Item) bool { return i.Start.Equal(start) })
		if at < 0 {
			at = len(days)
			days = append(days, Item{Start: start, End: start.AddDate(0, 0, 1), AllDay: true})
		}
		days[at].Tasks = append(days[at].Tasks, Task{ID: t.ID, Title: clean.Cut(clean.Line(t.Title), maxTitle)})
	}
	return days, nil
}
