package pane_test

import (
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/tui/theme"
)

// A frame at the turn of a second: every pane has something new to draw.
func BenchmarkPanesDrawASnapshot(b *testing.B) {
	for _, name := range []string{"budget", "schedule", "updates", "forks", "chat", "logs"} {
		b.Run(name, func(b *testing.B) {
			p := panes()[name]
			c := everydayContext(theme.New(theme.Options{Dark: true, Profile: 1 << 24}))
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

// A frame in which nothing changed costs a comparison.
func BenchmarkPanesKeepTheirDrawing(b *testing.B) {
	p := panes()["forks"]
	c := everydayContext(theme.New(theme.Options{Dark: true, Profile: 1 << 24}))
	p.Sync(c)
	for b.Loop() {
		drawn(p, c, 80, 16, true)
	}
}
