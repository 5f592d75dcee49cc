package google_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/google"
	"ollimbot/core/work/google/googletest"
)

// today is a day of an account with two calendars and a task list; the test sets its
// clock.
type today struct {
	*testing.T
	*google.Day
	g    *googletest.Server
	dir  *store.Dir
	now  time.Time
	want google.Wanted
}

func newToday(t *testing.T, scopes ...google.Scope) *today {
	t.Helper()
	zone, err := time.LoadLocation("America/Los_Angeles")
	testkit.Must(t, err)
	_, g, d := account(t, scopes...)
	g.Events["team"] = nil
	s := &today{T: t, g: g, dir: d, now: time.Date(2026, 11, 23, 10, 0, 0, 0, zone)}
	c, err := google.New(google.Options{Dir: d, API: g.URL, Now: func() time.Time { return s.now }})
	testkit.Must(t, err)
	s.Day, s.want = c.Day(), google.Wanted{Calendars: []string{"primary", "team"}, List: "@default", Zone: zone}
	return s
}

// event adds an appointment to a calendar, from one time of the day to another, possibly
// on the next day.
func (s *today) event(calendar, id, title string, day int, from, to string) {
	moment := func(day int, text string) map[string]any {
		at, err := time.ParseInLocation("2006-01-02 15:04", fmt.Sprintf("2026-11-%02d %s", day, text), s.want.Zone)
		if err != nil {
			s.Fatal(err)
		}
		return map[string]any{"dateTime": at.UTC().Format(time.RFC3339)}
	}
	end := day
	if to < from {
		end++
	}
	s.g.AddEvent(calendar, map[string]any{"id": id, "summary": title, "start": moment(day, from), "end": moment(end, to)})
}

// change changes an event.
func (s *today) change(calendar, id string, change map[string]any) {
	s.g.Lock()
	defer s.g.Unlock()
	for _, e := range s.g.Events[calendar] {
		if e["id"] == id {
			for name, v := range change {
				e[name] = v
			}
		}
	}
}

// reads advances the clock by five minutes and reads.
func (s *today) reads() {
	s.Helper()
	s.now = s.now.Add(5 * time.Minute)
	if asked, err := s.Read(context.Background(), s.want); !asked || err != nil {
		s.Fatal(asked, err)
	}
}

// shows compares the upcoming items with one line each.
func (s *today) shows(want ...string) {
	s.Helper()
	var got []string
	for _, i := range s.Ahead(s.now) {
		when := i.Start.Format("02 15:04") + "-" + i.End.Format("02 15:04")
		if i.AllDay {
			when = i.Start.Format("02") + "-" + i.End.Format("02")
		}
		for _, task := range i.Tasks {
			i.Title += task.Title
		}
		if i.Free {
			i.Title += ", free"
		}
		got = append(got, when+" "+i.Title)
	}
	if !slices.Equal(got, want) {
		s.Errorf("%s shows\n%s\nand not\n%s", s.now, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(s.g.Refused) > 0 {
		s.Error(s.g.Refused)
	}
}

func TestTheDayIsReadOnceAndThenOnlyWhatHasChanged(t *testing.T) {
	testkit.Alone(t)
	s := newToday(t, google.Tasks, google.Calendar)
	s.event("primary", "lunch", "Lunch", 23, "12:00", "13:00")
	s.event("primary", "past", "Breakfast", 23, "08:00", "09:00")
	s.event("primary", "night", "Night train", 22, "23:00", "11:00")
	s.event("primary", "far", "Next week", 30, "12:00", "13:00")
	s.event("team", "standup_20261123T173000Z", "Stand-up", 23, "10:30", "10:45")
	s.event("team", "standup_20261124T173000Z", "Stand-up", 24, "10:30", "10:45")
	s.g.AddEvent("primary", map[string]any{"id": "fair", "summary": "Fair", "start": map[string]any{"date": "2026-11-22"}, "end": map[string]any{"date": "2026-11-24"}})
	s.g.AddEvent("primary", map[string]any{"id": "home", "eventType": "workingLocation", "summary": "Home", "start": map[string]any{"date": "2026-11-23"}, "end": map[string]any{"date": "2026-11-24"}})
	for title, due := range map[string]string{"Milk": "2026-11-23", "Soap": "2026-11-24", "Old": "2026-11-22", "Far": "2026-11-25"} {
		s.g.AddTask("@default", map[string]any{"title": title, "due": google.DueOn(due)})
	}
	s.g.AddTask("@default", map[string]any{"title": "Some day"})
	s.reads()
	const fair, milk, soap = "22-24 Fair", "23-24 Milk", "24-25 Soap"
	s.shows(fair, "22 23:00-23 11:00 Night train", milk, "23 10:30-23 10:45 Stand-up", "23 12:00-23 13:00 Lunch", soap, "24 10:30-24 10:45 Stand-up")

	// Changes since then: cancelled, moved away, moved here, new, declined, renamed.
	s.change("team", "standup_20261123T173000Z", map[string]any{"status": "cancelled"})
	s.change("primary", "lunch", map[string]any{"start": map[string]any{"dateTime": "2026-12-01T12:00:00Z"}, "end": map[string]any{"dateTime": "2026-12-01T13:00:00Z"}})
	s.change("primary", "far", map[string]any{"start": map[string]any{"dateTime": "2026-11-23T22:00:00Z"}, "end": map[string]any{"dateTime": "2026-11-23T23:00:00Z"}})
	s.change("primary", "fair", map[string]any{"attendees": []any{map[string]any{"self": true, "responseStatus": "declined"}}})
	s.change("primary", "night", map[string]any{"summary": "Night\x1b[31m train\u202e\n2"})
	s.change("team", "standup_20261124T173000Z", map[string]any{"transparency": "transparent"})
	s.event("team", "new", "Retro", 23, "16:00", "17:00")
	s.change("team", "new", map[string]any{"transparency": "opaque"})
	s.reads()
	after := []string{"22 23:00-23 11:00 Night train 2", milk, "23 14:00-23 15:00 Next week", "23 16:00-23 17:00 Retro", soap, "24 10:30-24 10:45 Stand-up, free"}
	s.shows(after...)
	s.reads()
	s.shows(after...)
	if n := s.g.Count("calendar.events.list"); n != 6 {
		t.Errorf("asked %d times for three reads of two calendars", n)
	}

	s.Forget("new")
	s.shows(slices.DeleteFunc(slices.Clone(after), func(l string) bool { return strings.HasSuffix(l, "Retro") })...)

	// Google expires the token, and everything is read again.
	s.g.ForgetSync()
	s.change("team", "new", map[string]any{"status": "cancelled"})
	s.reads()
	s.shows(slices.DeleteFunc(slices.Clone(after), func(l string) bool { return strings.HasSuffix(l, "Retro") })...)
	if n := s.g.Count("calendar.events.list"); n != 10 {
		t.Errorf("asked %d times", n)
	}

	// Midnight passes.
	s.event("primary", "later", "Later", 25, "09:00", "10:00")
	s.now = time.Date(2026, 11, 24, 0, 0, 30, 0, s.want.Zone)
	s.shows(soap, "24 10:30-24 10:45 Stand-up, free")
	s.reads()
	s.shows(soap, "24 10:30-24 10:45 Stand-up, free", "25-26 Far", "25 09:00-25 10:00 Later")
}

// The other account may allow less: what is no longer read must not stay either.
func TestTheDayOfAnotherAccountReplacesThatOfTheEarlierOne(t *testing.T) {
	testkit.Alone(t)
	s := newToday(t, google.Tasks, google.Calendar)
	s.event("primary", "lunch", "Lunch", 23, "12:00", "13:00")
	s.g.AddTask("@default", map[string]any{"title": "Milk", "due": google.DueOn("2026-11-23")})
	s.reads()
	s.shows("23-24 Milk", "23 12:00-23 13:00 Lunch")
	var token map[string]any
	_, err := s.dir.ReadJSON(google.TokenFile, &token)
	testkit.Must(t, err)
	token["account"], token["scopes"] = "another@example.com", "https://www.googleapis.com/auth/calendar.events"
	testkit.Must(t, s.dir.WriteJSON(google.TokenFile, token))
	s.g.Lock()
	s.g.Events["primary"] = nil
	s.g.Unlock()
	s.event("primary", "dinner", "Dinner", 23, "19:00", "20:00")
	s.reads()
	s.shows("23 19:00-23 20:00 Dinner")
}

func TestGoogleIsAskedForTheDayEveryFiveMinutesAtMost(t *testing.T) {
	testkit.Alone(t)
	s := newToday(t, google.Tasks, google.Calendar)
	start, read := s.now, 0
	for ; s.now.Sub(start) < time.Hour; s.now = s.now.Add(7 * time.Second) {
		if s.now.Sub(start) > 20*time.Minute {
			s.want.Calendars = []string{"primary"} // a changed setting is not a reason
		}
		asked, err := s.Read(context.Background(), s.want)
		testkit.Must(t, err)
		if asked {
			read++
		}
	}
	if n := s.g.Count("tasks.tasks.list"); read != 12 || n != 12 {
		t.Errorf("read %d times, asked %d times in an hour", read, n)
	}
}

func TestADayThatCannotBeReadStaysAsItWas(t *testing.T) {
	testkit.Alone(t)
	s := newToday(t, google.Tasks, google.Calendar)
	s.event("primary", "lunch", "Lunch", 23, "12:00", "13:00")
	s.event("team", "retro", "Retro", 23, "16:00", "17:00")
	s.reads()
	both := []string{"23 12:00-23 13:00 Lunch", "23 16:00-23 17:00 Retro"}
	s.shows(both...)

	// One calendar is removed, another has changed: the rest is read.
	s.g.Lock()
	delete(s.g.Events, "team")
	s.g.Unlock()
	s.g.AddTask("@default", map[string]any{"title": "Milk", "due": google.DueOn("2026-11-23")})
	s.now = s.now.Add(5 * time.Minute)
	if asked, err := s.Read(context.Background(), s.want); !asked || !errors.Is(err, google.ErrUnknown) || err.Error() != "calendar team: this id does not exist" {
		t.Error(asked, err)
	}
	s.shows(append([]string{"23-24 Milk"}, both...)...)
	s.want.Calendars = []string{"primary"} // the user removes it
	s.reads()
	s.shows("23-24 Milk", both[0])

	// Google is unreachable: one attempt in five minutes, and nothing is lost.
	s.g.Close()
	s.now = s.now.Add(5 * time.Minute)
	if asked, err := s.Read(context.Background(), s.want); !asked || err == nil || !strings.HasPrefix(err.Error(), "calendar primary: Google cannot be reached (") || strings.Contains(err.Error(), "\n") {
		t.Error(asked, err) // the tasks are not asked for
	}
	if asked, err := s.Read(context.Background(), s.want); asked || err != nil {
		t.Error("asked again at once", err)
	}
	s.shows("23-24 Milk", both[0])
}

func TestOfTheDayOnlyWhatTheUserAllowsIsRead(t *testing.T) {
	testkit.Alone(t)
	s := newToday(t, google.Tasks)
	s.event("primary", "lunch", "Lunch", 23, "12:00", "13:00")
	s.g.AddTask("@default", map[string]any{"title": "Milk", "due": google.DueOn("2026-11-23")})
	s.reads()
	s.shows("23-24 Milk")
	if n := s.g.Count("calendar.events.list"); n != 0 {
		t.Errorf("the calendar was asked for %d times", n)
	}
	s.g.Revoke()
	s.now = s.now.Add(5 * time.Minute)
	_, _ = s.Read(context.Background(), s.want)
	calls, refreshes := len(s.g.Calls), s.g.Refreshes
	s.now = s.now.Add(5 * time.Minute)
	if asked, err := s.Read(context.Background(), s.want); asked || err != nil || len(s.g.Calls) != calls || s.g.Refreshes != refreshes {
		t.Error("Google was asked without a login", asked, err)
	}
	s.shows("23-24 Milk")
}

func TestADescriptionIsReadWithoutItsTags(t *testing.T) {
	for text, want := range map[string]string{
		"One\ntwo":                       "One\ntwo",
		"<p>Agenda</p>\n<ul><li>a</ul>b": "Agenda\n\na\nb",
		"a &amp; b<br>c":                 "a & b\nc",
	} {
		if got := (google.Event{Description: text}).Text(); got != want {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

// offDays returns the days that a calendar of a fake takes, as "12-24 title".
func offDays(t *testing.T, g *googletest.Server, s *today, name string) (string, error) {
	t.Helper()
	c, err := google.New(google.Options{Dir: s.dir, API: g.URL, Now: func() time.Time { return s.now }})
	testkit.Must(t, err)
	days, err := c.Calendar.DaysOff(context.Background(), name, s.want.Calendars, s.now)
	var list []string
	for _, d := range slices.Sorted(maps.Keys(days)) {
		list = append(list, strings.TrimSpace(d[5:]+" "+days[d]))
	}
	return strings.Join(list, ", "), err
}

func TestOnlyWholeDaysThatTheUserHasTakenAreOff(t *testing.T) {
	s := newToday(t, google.Calendar)
	day := func(from, to string, more map[string]any) {
		e := map[string]any{"id": "day" + from[8:], "summary": "Day " + from[8:], "start": map[string]any{"date": from}, "end": map[string]any{"date": to}}
		maps.Copy(e, more)
		s.g.AddEvent("team", e)
	}
	stranger := map[string]any{"email": "eve@example.com", "self": false}
	invited := func(answer string) map[string]any {
		return map[string]any{"organizer": stranger, "attendees": []any{map[string]any{"email": "sam@example.com", "self": true, "responseStatus": answer}}}
	}
	day("2026-12-24", "2026-12-27", nil)
	day("2026-12-28", "2026-12-29", invited("needsAction"))
	day("2026-12-29", "2026-12-30", invited("accepted"))
	day("2026-12-27", "2026-12-28", map[string]any{"organizer": map[string]any{"email": "team", "self": false}}) // of the calendar itself
	day("2026-12-30", "2026-12-31", map[string]any{"eventType": "birthday"})
	day("2026-12-31", "2027-01-01", map[string]any{"eventType": "workingLocation"})
	s.event("team", "meeting", "Meeting", 24, "09:00", "10:00")
	s.g.Names = map[string]string{"team": "Our team"}
	for _, name := range []string{"our team", "team"} {
		got, err := offDays(t, s.g, s, name)
		if want := "12-24 Day 24, 12-25 Day 24, 12-26 Day 24, 12-27 Day 27, 12-29"; err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	s.want.Calendars = append(s.want.Calendars, "gone")
	const other = "is not among the calendars of the setting google_calendars (sam@example.com, Our team); write one of these names, or the calendar's id"
	for name, want := range map[string]string{"Holidays": other, "nothing@group.calendar.google.com": "Google has no such calendar, or this account may not see it"} {
		if _, err := offDays(t, s.g, s, name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	const refused = "Google refused the request (403): planned: forbidden"
	for _, name := range []string{"our team", "team"} { // while it is looked for, and while it is read
		s.g.Fail("calendar.events.list", googletest.Fault{Status: 403, Reason: "forbidden"})
		if _, err := offDays(t, s.g, s, name); err == nil || err.Error() != refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	// From a month ago to two years ahead, at most a year of one event, and without a stranger's words.
	s.g.Events["primary"] = nil
	add := func(id, from, to string) {
		s.g.AddEvent("primary", map[string]any{"id": id, "start": map[string]any{"date": from}, "end": map[string]any{"date": to}})
	}
	add("early", "2026-10-22", "2026-10-23")
	add("first", "2026-10-23", "2026-10-24")
	add("last", "2028-11-23", "2028-11-24")
	add("late", "2028-11-24", "2028-11-25")
	add("long", "2027-01-01", "2028-05-01")
	c, err := google.New(google.Options{Dir: s.dir, API: s.g.URL, Now: func() time.Time { return s.now }})
	testkit.Must(t, err)
	days, err := c.Calendar.DaysOff(t.Context(), "primary", s.want.Calendars, s.now)
	list := slices.Sorted(maps.Keys(days))
	if err != nil || len(list) != 368 || list[0] != "2026-10-23" || list[1] != "2027-01-01" || list[366] != "2028-01-01" || list[367] != "2028-11-23" {
		t.Errorf("%d days, %q, %v", len(list), list, err)
	}
}

func TestAnAppointmentIsShownCleanWithItsPlaceTextAndLink(t *testing.T) {
	testkit.Alone(t)
	s := newToday(t, google.Tasks, google.Calendar)
	at := func(hour int) map[string]any {
		return map[string]any{"dateTime": time.Date(2026, 11, 23, hour, 0, 0, 0, s.want.Zone).Format(time.RFC3339)}
	}
	x := strings.Repeat("x", 2001)
	s.g.AddEvent("primary", map[string]any{"id": "a", "summary": x, "location": "Main\nSt " + x, "description": x, "htmlLink": "https://a\n", "start": at(12), "end": at(13)})
	s.g.AddEvent("primary", map[string]any{"id": "c", "summary": "B", "start": at(12), "end": at(13), "transparency": "transparent", "description": " <i>b</i>\n "})
	s.g.AddEvent("team", map[string]any{"id": "b", "summary": "B", "start": at(12), "end": at(13)})
	s.g.AddEvent("team", map[string]any{"id": "now", "summary": "Over at ten", "start": at(9), "end": at(10)})
	s.g.AddEvent("team", map[string]any{"id": "allday", "summary": "Fair", "start": map[string]any{"date": "2026-11-24"}, "end": map[string]any{"date": "2026-11-25"}})
	midnight := time.Date(2026, 11, 24, 0, 0, 0, 0, s.want.Zone)
	moment := map[string]any{"dateTime": midnight.Format(time.RFC3339)}
	s.g.AddEvent("primary", map[string]any{"id": "0", "summary": "A", "start": moment, "end": map[string]any{"dateTime": midnight.Add(time.Hour).Format(time.RFC3339)}})
	s.event("team", "third", "The day after", 25, "00:00", "00:30")
	milk := s.g.AddTask("@default", map[string]any{"title": "Milk\n", "due": google.DueOn("2026-11-23"), "notes": "n"})
	soap := s.g.AddTask("@default", map[string]any{"title": "Soap" + x, "due": google.DueOn("2026-11-23")})
	s.g.AddTask("@default", map[string]any{"title": "Done", "due": google.DueOn("2026-11-23"), "status": "completed"})
	s.reads()
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, s.want.Zone)
	cut := func(n int, text string) string { return text[:n-1] + "…" }
	want := []google.Item{
		{Start: midnight.AddDate(0, 0, -1), End: midnight, AllDay: true, Tasks: []google.Task{{ID: soap, Title: cut(200, "Soap"+x)}, {ID: milk, Title: "Milk"}}},
		{ID: "c", Calendar: "primary", Title: "B", Text: "b", Start: noon, End: noon.Add(time.Hour), Free: true},
		{ID: "b", Calendar: "team", Title: "B", Start: noon, End: noon.Add(time.Hour)},
		{ID: "a", Calendar: "primary", Title: cut(200, x), Place: cut(200, "Main St "+x), Text: cut(2000, x), Link: "https://a", Start: noon, End: noon.Add(time.Hour)},
		{ID: "allday", Calendar: "team", Title: "Fair", Start: midnight, End: midnight.AddDate(0, 0, 1), AllDay: true},
		{ID: "0", Calendar: "primary", Title: "A", Start: midnight, End: midnight.Add(time.Hour)},
	}
	same := func(when string) {
		t.Helper()
		got := s.Ahead(s.now)
		if !slices.EqualFunc(got, want, func(a, b google.Item) bool {
			ok := a.Start.Equal(b.Start) && a.End.Equal(b.End)
			a.Start, a.End = b.Start, b.End
			return ok && reflect.DeepEqual(a, b)
		}) {
			t.Errorf("%s:\n%+v\nand not\n%+v", when, got, want)
		}
	}
	same("as read")
	s.Forget(soap)
	want[0].Tasks = want[0].Tasks[1:]
	same("without a task")
	s.Forget(milk)
	want = want[1:]
	same("without tasks")
	s.now = noon.Add(time.Hour - time.Second)
	same("a second before one")
	s.now, want = noon.Add(time.Hour), want[3:]
	same("at one")

	// The days of another zone are others.
	s.want.Zone = time.UTC
	s.reads()
	s.shows("23-24 "+cut(200, "Soap"+x)+"Milk", "24-25 Fair", "24 08:00-24 09:00 A")
}
