package core

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheBotWorksOnceTheDashboardHasPainted(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration // of the first frame; 0 for never
		works time.Duration // when the bot starts working
	}{
		"a frame":                     {300 * time.Millisecond, 300 * time.Millisecond},
		"a terminal that is not read": {0, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			synctest.Test(t, func(t *testing.T) {
				h.t = t
				h.write("routines/tea.md", "---\nid: \"cccc1003\"\ncron: \"0 12 * * *\"\n---\nTea.\n")
				shown := make(chan struct{})
				b := h.bot(offline(), func(o *Options) { o.Shown = shown })
				end := begin(t, b)
				defer end()
				if c.after != 0 {
					time.AfterFunc(c.after, func() { close(shown) })
				}
				time.Sleep(c.works - time.Millisecond)
				synctest.Wait()
				if b.Snapshot().Started.IsZero() {
					t.Error("the dashboard waits for the lock")
				}
				if n := len(b.Index().Set().Routines); n != 0 || h.has(filepath.Join("skills", "setup", "SKILL.md")) {
					t.Errorf("the bot competes with the first frame: %d tasks read", n)
				}
				time.Sleep(2 * time.Millisecond)
				synctest.Wait()
				if n := len(b.Index().Set().Routines); n != 1 {
					t.Errorf("%d tasks are read after it", n)
				}
			})
		})
	}
}
