package pane_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"ollimbot/core"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/theme"
)

// A frame at the turn of a second: every pane has something new to draw.
func BenchmarkPanesDrawASnapshot(b *testing.B) {
	for _, name := range []string{"budget", "schedule", "updates", "forks", "chat", "logs"} {
		b.Run(name, func(b *testing.B) {
			p := panes()[name]
			c := everydayContext(theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor}))
			base := c.Snap
			b.ReportAllocs()
			for b.Loop() {
				snap := new(core.Snapshot)
				*snap = *base
				c.Snap, base = snap, snap
				snap.At = snap.At.Add(time.Second)
				p.Sync(c)
				drawn(p, c, 80, 16, true)
			}
		})
	}
}

// crowd has n of everything that a pane lists.
func crowd(s core.Snapshot, n int) *core.Snapshot {
	s.Updates, s.Forks, s.Chat = nil, nil, nil
	s.Schedule.Entries, s.Schedule.Day, s.Schedule.Tasks = nil, nil, nil
	for i := range n {
		id, at := fmt.Sprintf("%08x", i), noon.Add(time.Duration(i+1)*time.Minute)
		fire := schedule.Entry{ID: id, FireTime: at, Description: "Look through what is unread", FilePath: "routines/" + id + ".md"}
		s.Schedule.Entries, s.Schedule.Day = append(s.Schedule.Entries, fire), append(s.Schedule.Day, fire)
		s.Schedule.Tasks = append(s.Schedule.Tasks, schedule.TaskView{ID: id, Title: "Look through what is unread", Path: fire.FilePath, When: "daily at 8:00", Next: at})
		s.Updates = append(s.Updates, updates.Update{Key: id, At: noon.Add(time.Duration(i-n) * time.Minute), Message: "Email triage: 2 need an answer today, 9 archived."})
		s.Forks = append(s.Forks, fork.View{ID: id, Title: "Email triage", State: fork.Done, Started: noon.Add(time.Duration(-2*i) * time.Minute), Ended: noon.Add(time.Duration(1-2*i) * time.Minute), Reports: 1})
		s.Chat = append(s.Chat, transcript.Entry{ID: post.MessageID(id), At: noon, Role: transcript.Bot, Text: "Two things are left."})
	}
	return &s
}

// A frame of panes with n of everything. What n costs is a look at each, far below
// the drawing of what is on the screen.
func BenchmarkPanesWithManyRows(b *testing.B) {
	for _, name := range []string{"schedule", "day", "every", "forks", "chat"} {
		for _, n := range []int{30, 300, 3000} {
			for _, step := range []time.Duration{time.Second, 0} {
				b.Run(fmt.Sprintf("%s/%d/%v", name, n, step), func(b *testing.B) {
					c := everydayContext(theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor}))
					c.Snap = crowd(*c.Snap, n)
					views := map[string]int{"day": 1, "every": 2}[name]
					p := panes()[map[bool]string{true: "schedule", false: name}[views > 0]]
					p.Sync(c)
					for range views {
						p.Do(c, action.ScheduleView)
					}
					drawn(p, c, 80, 16, true)
					p.Do(c, map[string]action.ID{"chat": action.TailUp}[name])
					b.ReportAllocs()
					for b.Loop() {
						snap := *c.Snap
						c.Snap = &snap
						snap.At = snap.At.Add(step)
						p.Sync(c)
						drawn(p, c, 80, 16, true)
					}
				})
			}
		}
	}
}
