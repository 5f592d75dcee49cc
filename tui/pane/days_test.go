package pane_test

import (
	"strings"
	"testing"

	"ollimbot/core/work/budget"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/week"
)

// Poster 2: the selected day of a week is shown with its pings, and enter opens its runs.
func TestTheSelectedDayOfAWeekHasItsPings(t *testing.T) {
	s, p := everyday(), weekRead()
	monday := everydayWeek(0).Days[0].Date
	s.Budget.Pings = append(s.Budget.Pings, budget.Ping{At: monday.Add(9 * 3600e9), Title: "Water the plants"})
	c := pane.Context{Theme: plainTheme(), Snap: s, Zoomed: true}
	seen := func() string { return strings.Join(drawn(p, c, 120, 36, true), "\n") }
	if screen := seen(); !strings.Contains(screen, "▸ Fri 27") || strings.Contains(screen, "Water the plants") {
		t.Errorf("it begins with another day:\n%s", screen)
	}
	for range 6 {
		p.Do(c, action.WeekUp)
	}
	if screen := seen(); !strings.Contains(screen, "▸ Mon 23") || !strings.Contains(screen, "09:00 ◆ Water the plants ") {
		t.Errorf("no ping of Monday:\n%s", screen)
	}
	if a := p.Do(c, action.WeekOpen); a.Focus != action.Forks || a.Query != monday.Format("2006-01-02") || !a.Zoom {
		t.Errorf("enter: %+v", a)
	}
	if id := p.Press(c, 2, true); id != "" {
		t.Errorf("the first click on a day is %q", id)
	}
	if id := p.Press(c, 2, true); id != action.WeekOpen {
		t.Errorf("the second click on a day is %q", id)
	}
	if a := (&week.Page{}).Do(c, action.WeekOpen); a.Toast == "" {
		t.Error("before it was read, enter says nothing")
	}
}
