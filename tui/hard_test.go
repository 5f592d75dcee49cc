package tui

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines/schedule"
	"ollimbot/tui/screen"
)

// hardTitles are as long, as wide and as foreign as titles get.
var hardTitles = []string{strings.Repeat("long ", 60), strings.Repeat("世界", 75), "שלום עולם " + strings.Repeat("مرحبا ", 40), "e\u0301\u200d👩‍👩‍👧 \u202eback", ""}

// hardDay has more of everything than a day has, in a night in which the clocks change.
func hardDay(t *rapid.T) core.Snapshot {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	month := rapid.SampledFrom([]time.Month{time.March, time.October}).Draw(t, "month")
	at := time.Date(2026, month, map[time.Month]int{time.March: 29, time.October: 25}[month], rapid.IntRange(0, 23).Draw(t, "hour"), 30, 0, 0, zone)
	s := withForks(busyDay(at))
	s.Zone = zone
	title := func(i int) string { return hardTitles[i%len(hardTitles)] }
	s.Budget.State.Capacity = rapid.SampledFrom([]int{0, 1, 100, 1000}).Draw(t, "capacity")
	s.Budget.State.Available = float64(s.Budget.State.Capacity) * rapid.Float64Range(0, 1).Draw(t, "share")
	for i := range 40 { // within one hour, without a level that was recorded
		s.Budget.Pings = append(s.Budget.Pings, budget.Ping{At: at.Add(-time.Duration(i) * time.Minute), Title: title(i), Refused: title(i % 2 * 4)})
		s.Schedule.Day = append(s.Schedule.Day, schedule.Entry{ID: "aaaa1111", Description: title(i), FireTime: at.Add(time.Duration(i) * time.Minute)})
		s.Ended = append(s.Ended, fork.View{ID: "f3f3f3f3", Title: title(i), State: fork.Failed, Error: title(i + 1), Ended: at.Add(-time.Duration(i) * time.Minute)})
	}
	for i := range 5000 {
		s.Schedule.Tasks = append(s.Schedule.Tasks, schedule.TaskView{ID: fmt.Sprintf("%08x", i), Title: title(i), Next: at.Add(time.Duration(i) * time.Minute)})
	}
	for i := range 500 {
		s.Updates = append(s.Updates, updates.Update{Key: fmt.Sprint(i), At: at.Add(-time.Duration(i) * time.Hour), Message: title(i)})
	}
	for i := range 10_000 {
		s.Forks = append(s.Forks, fork.View{ID: fmt.Sprintf("%08x", i), Title: title(i), State: fork.Done, Started: at.Add(-time.Duration(i+1) * time.Hour), Ended: at.Add(-time.Duration(i) * time.Hour)})
	}
	return s
}

// Whatever the size, and while a run writes, the frame has its lines and cells and nothing that moves the cursor.
func TestAHardDayFillsEveryScreenWhileItStreams(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		b := newBot(hardDay(t))
		r := newRoot(t.Context(), b, Options{Output: &bytes.Buffer{}, ASCII: rapid.Bool().Draw(t, "ascii")})
		r.terminal.screen = screen.New(t.Context(), &bytes.Buffer{}, nil)
		r.Init()
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			r.Update(tea.WindowSizeMsg{Width: rapid.IntRange(1, 400).Draw(t, "w"), Height: rapid.IntRange(1, 120).Draw(t, "h")})
			b.talk("f1f1f1f1", rapid.IntRange(0, 30).Draw(t, "lines"))
			r.Update(press(rapid.SampledFrom([]string{"0", "1", "2", "3", "4", "5", "W", "$", "z", "j", "G", "esc"}).Draw(t, "key")))
			fits(t, r, "a step")
		}
	})
}
