package watch

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// Whatever is touched and whenever: each touch is reported after it, no later than the
// delay (plus a third of quietFor between two batches), and never without need.
func TestEveryTouchIsReportedInTime(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		p := &pending{names: map[string]span{}}
		waiting := map[string]time.Time{} // first unreported touch
		now := noon
		deliver := func() {
			for _, name := range p.take(now).Names {
				first, ok := waiting[name]
				if !ok {
					rt.Fatalf("%s was reported without a touch", name)
				}
				if late := now.Sub(first); late > holdAtMost+quietFor/3 {
					rt.Fatalf("%s was reported after %v", name, late)
				}
				delete(waiting, name)
			}
		}
		for range rapid.IntRange(1, 200).Draw(rt, "touches") {
			next := now.Add(time.Duration(rapid.IntRange(0, 60).Draw(rt, "pause")) * time.Millisecond)
			for at := p.at; !at.IsZero() && !at.After(next); at = p.at {
				now = at
				deliver()
			}
			now = next
			name := fmt.Sprint(rapid.IntRange(0, 5).Draw(rt, "name"))
			p.add(name, now)
			if _, ok := waiting[name]; !ok {
				waiting[name] = now
			}
		}
		for at := p.at; !at.IsZero(); at = p.at {
			now = at
			deliver()
		}
		if len(waiting) > 0 {
			rt.Fatalf("never reported: %v", waiting)
		}
	})
}
