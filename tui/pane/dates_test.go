package pane_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/google"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/theme"
)

// dated puts a day of the user's own into the fixture: by their starts, those of whole days
// first, as the core has them.
func dated(s *core.Snapshot) {
	at := func(h, m int) time.Time { return time.Date(2026, 11, 23, h, m, 0, 0, zone) }
	s.Schedule.Problems = nil
	s.Day = []google.Item{
		{ID: "fair", Calendar: "primary", Title: "Book fair", Start: at(0, 0), End: at(48, 0), AllDay: true},
		{Tasks: []google.Task{{Title: "Buy milk"}, {Title: "Return the parcel"}}, Start: at(0, 0), End: at(24, 0), AllDay: true},
		{ID: "call", Calendar: "primary", Title: "Call with Ann", Start: at(13, 30), End: at(14, 30)},
		{ID: "dentist", Calendar: "primary", Title: "Dentist", Place: "12 High Street", Text: "Bring the card.", Link: "https://x.example/e", Start: at(15, 15), End: at(16, 0)},
		{ID: "party", Calendar: "team@example.com", Title: "Party", Start: at(22, 0), End: at(25, 30)},
		{Tasks: []google.Task{{Title: "Taxes"}}, Start: at(24, 0), End: at(48, 0), AllDay: true},
		{ID: "run", Calendar: "primary", Start: at(31, 0), End: at(32, 0)},
	}
}

func TestAppointmentsStandAmongTheFires(t *testing.T) {
	for _, name := range []string{"window"} {
		for suffix, th := range map[string]*theme.Theme{"": plainTheme(), "-ascii": theme.New(theme.Options{Plain: true, ASCII: true})} {
			s := open("schedule")
			s.next(dated)
			s.c.Theme = th
			for _, size := range [][2]int{{14, 9}, {28, 12}, {40, 12}, {80, 16}, {120, 20}} {
				if suffix == "" || size[0] == 80 {
					compare(t, fmt.Sprintf("schedule-dates-%s%s-%dx%d", name, suffix, size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
				}
			}
		}
	}
}

func TestEachFireAndAppointmentIsShownOnceByItsTime(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := open("schedule")
		moments := func(from int) *rapid.Generator[[]int] { return rapid.SliceOfN(rapid.IntRange(from, 60), 0, 12) }
		var want int
		s.next(func(c *core.Snapshot) {
			c.Schedule, c.Forks = schedule.View{}, nil
			fires, dates := moments(-5).Draw(t, "fires"), moments(0).Draw(t, "dates")
			slices.Sort(fires)
			slices.Sort(dates)
			for i, m := range fires {
				c.Schedule.Entries = append(c.Schedule.Entries, schedule.Entry{ID: fmt.Sprint("f", i), Description: "Fire", FireTime: noon.Add(time.Duration(m) * time.Minute)})
			}
			for i, m := range dates {
				at := noon.Add(time.Duration(m) * time.Minute)
				c.Day = append(c.Day, google.Item{ID: fmt.Sprint("d", i), Title: "Date", Start: at, End: at.Add(time.Hour)})
			}
			want = len(fires) + len(dates)
		})
		var clocks []string
		for _, l := range strings.Split(s.screen(80, 30), "\n") {
			if strings.Contains(l, "Fire") || strings.Contains(l, "Date") {
				clocks = append(clocks, strings.TrimSpace(strings.ReplaceAll(l, "▸", " "))[:5])
			}
		}
		if len(clocks) != want || !slices.IsSorted(clocks) {
			t.Errorf("%d of %d: %v", len(clocks), want, clocks)
		}
	})
}

// The clock of twelve hours is that of every pane, and no other stands beside it.
func TestEveryPaneHasTheClockThatWasChosen(t *testing.T) {
	// What the bot and the user have said, and what a setting takes, stays as it is.
	said := strings.NewReplacer("at 14:01", "", "15:00", "", "16:45", "", "17:00", "", "22:00", "")
	long := regexp.MustCompile(`\b(1[3-9]|2[0-3]):[0-5][0-9]`)
	for name, p := range panes() {
		s := &stage{p, everydayContext(plainTheme()), action.Pane(name)}
		s.next(func(c *core.Snapshot) {
			c.TwelveHours = true
			c.Chat = c.Chat[1:3]
			c.Schedule.Problems, c.Schedule.Tasks = nil, c.Schedule.Tasks[:1]
			c.Schedule.Tasks[0].When = ""
		})
		for _, size := range sizes {
			screen := said.Replace(s.screen(size[0], size[1]))
			if found := long.FindString(screen); found != "" {
				t.Errorf("%s says %s:\n%s", name, found, screen)
			}
		}
		if screen := s.screen(120, 20); !slices.Contains([]string{"settings", "away", "costs", "updates", "week"}, name) && !regexp.MustCompile(`[0-9]pm`).MatchString(screen) {
			t.Errorf("%s has no time in it:\n%s", name, screen)
		}
	}
}

// The hours below a plot are those of the clock, too.
func TestHoursBelowAPlotHaveTheClockThatWasChosen(t *testing.T) {
	long := regexp.MustCompile(`\b(1[3-9]|2[0-4]) +(1[4-9]|2[0-4])\b`)
	s := open("budget")
	before := s.screen(160, 30)
	s.next(func(c *core.Snapshot) { c.TwelveHours = true })
	after := s.screen(160, 30)
	if long.FindString(before) == "" || long.FindString(after) != "" || !regexp.MustCompile(`\b[68]pm`).MatchString(after) {
		t.Errorf("%s\nof twelve hours is\n%s", before, after)
	}
}
