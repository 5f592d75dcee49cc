package google_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/work/google"
	"ollimbot/core/work/google/googletest"
)

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
	day("2026-12-30", "2026-12-31", map[string]any{"eventType": "birthday"})
	day("2026-12-31", "2027-01-01", map[string]any{"eventType": "workingLocation"})
	s.event("team", "meeting", "Meeting", 24, "09:00", "10:00")
	s.g.Names = map[string]string{"team": "Our team"}
	for _, name := range []string{"our team", "team"} {
		got, err := offDays(t, s.g, s, name)
		if want := "12-24 Day 24, 12-25 Day 24, 12-26 Day 24, 12-29"; err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"Holidays":                          `is not among the calendars of the setting google_calendars (sam@example.com, Our team)`,
		"nothing@group.calendar.google.com": "Google has no such calendar",
	} {
		if _, err := offDays(t, s.g, s, name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
