package day

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func aDay() *core.Snapshot {
	s := &core.Snapshot{At: noon, Zone: time.UTC}
	s.Ended = []fork.View{
		{ID: "00000000", Title: "Yesterday", State: fork.Done, Ended: noon.Add(-13 * time.Hour)},
		{ID: "00000001", TaskID: "a", Title: "Medication", State: fork.Done, Ended: noon.Add(-6 * time.Hour)},
		{ID: "00000002", TaskID: "b", Title: "Inbox", State: fork.Done, Ended: noon.Add(-3 * time.Hour)},
		{ID: "00000003", TaskID: "c", Title: "Rent", State: fork.Failed, Error: "no network", Ended: noon.Add(-3 * time.Hour)},
	}
	s.Budget.Pings = []budget.Ping{{At: noon.Add(-6*time.Hour + 30*time.Minute), Run: "00000001", Task: "a", Title: "Medication", Text: "Time for it"}}
	s.Budget.QuietHours = config.Quiet{From: 22 * 60, To: 6 * 60}
	s.Schedule.Missed = []schedule.Entry{{ID: "d", Description: "Walk", FireTime: noon.Add(-9 * time.Hour)}}
	s.Schedule.Day = []schedule.Entry{
		{ID: "e", Description: "Tea", FireTime: noon.Add(3 * time.Hour)},
		{ID: "f", Held: true, FireTime: noon.Add(4 * time.Hour)},
		{ID: "g", Description: "Tomorrow", FireTime: noon.Add(13 * time.Hour)},
	}
	return s
}

func plain(s *core.Snapshot) pane.Context {
	return pane.Context{Theme: theme.New(theme.Options{Plain: true}), Snap: s}
}

func rows(p *Pane, c pane.Context, w, h int, focused bool) []string {
	var out []string
	for _, r := range p.Draw(c, w, h, focused) {
		out = append(out, strings.TrimRight(r.Text, " "))
	}
	return out
}

func TestTheDayShowsWhatHasHappenedAndWhatIsToCome(t *testing.T) {
	p, c := New(), plain(aDay())
	p.Sync(c)
	got := rows(p, c, 74, 2, false)
	want := []string{
		" 00       03       06       09       │        15       18       21      24",
		" ░░░░░░░░░◇░░░░░░░░✓◆       ✗        │        ○        ·        ·  ░░░░░░",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got  %q\nwant %q", got[i], want[i])
		}
	}
	if one := rows(p, c, 80, 1, false); len(one) != 1 || !strings.Contains(one[0], "○ 15:00 Tea") {
		t.Errorf("%q", one)
	}
	ascii := c
	ascii.Theme = theme.New(theme.Options{Plain: true, ASCII: true})
	for _, l := range rows(p, ascii, 140, 2, true) {
		if strings.ContainsFunc(l, func(r rune) bool { return r > 0x7e }) {
			t.Errorf("not ASCII: %q", l)
		}
	}
}

func TestTheHoursAreThoseOfTheClockThatWasChosen(t *testing.T) {
	p, s := New(), aDay()
	c := plain(s)
	p.Sync(c)
	rows(p, c, 74, 2, false)
	twelve := *s
	twelve.TwelveHours = true
	c.Snap = &twelve
	p.Sync(c)
	if got, want := rows(p, c, 74, 2, false)[0], " 12am     3am      6am      9am      │        3pm      6pm      9pm   12am"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheDayIsWalkedAndOpened(t *testing.T) {
	p, c := New(), plain(aDay())
	p.Sync(c)
	for _, step := range []struct {
		id        action.ID
		run, task string
	}{
		{action.DayNow, "", "e"}, {action.DayLater, "", "e"}, {action.DayEarlier, "00000002", ""}, {action.DayEarlier, "00000003", ""},
	} {
		p.Do(c, step.id)
		if a := p.Do(c, action.DayOpen); a.Item != step.run+step.task {
			t.Errorf("%s opens %+v, want %q %q", step.id, a, step.run, step.task)
		}
	}
	if again, ok := p.Point(c, 1+cellOf(noon.Add(-9*time.Hour), axis(74)), 74); again || !ok {
		t.Error("a click on what was missed chooses nothing")
	}
	if a := p.Do(c, action.DayOpen); a.Item != "d" {
		t.Errorf("a click leads to %+v", a)
	}
	if again, _ := p.Point(c, 1+cellOf(noon.Add(-9*time.Hour), axis(74)), 74); !again {
		t.Error("the second click is not known as such")
	}
}

func TestTheRowsOfTheDayAreAsWideAsTheScreen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := aDay()
		s.At = noon.Add(time.Duration(rapid.IntRange(-720, 719).Draw(t, "now")) * time.Minute)
		p, c := New(), plain(s)
		p.Sync(c)
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			p.Do(c, rapid.SampledFrom([]action.ID{action.DayEarlier, action.DayLater, action.DayNow}).Draw(t, "step"))
		}
		w, h := rapid.IntRange(1, 240).Draw(t, "w"), rapid.IntRange(1, 2).Draw(t, "h")
		for _, r := range p.Draw(c, w, h, rapid.Bool().Draw(t, "focused")) {
			if widget.Cells(r.Text) != w {
				t.Fatalf("%d cells of %d: %q", widget.Cells(r.Text), w, r.Text)
			}
		}
	})
}
