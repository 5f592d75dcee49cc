package schedule

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// BenchmarkThousandRoutinesOfOneMinute measures the time from the minute until the last
// of a thousand routines has started, including the write of the record.
func BenchmarkThousandRoutinesOfOneMinute(b *testing.B) {
	r := newRoom(b)
	for i := range 1000 {
		r.put(fmt.Sprintf("routines/%04d.md", i), routineText(fmt.Sprintf("%08x", i), "* * * * *", "water"))
	}
	var started sync.WaitGroup
	s := made(r.dir, func(o *Options) { o.Fire = func(context.Context, Due) error { started.Done(); return nil } })
	l := s.newLoop()
	now := time.Now().UTC().Truncate(time.Minute).Add(time.Second)
	l.begin(now.Add(-30 * time.Second))
	for b.Loop() {
		started.Add(1000)
		l.step(context.Background(), now)
		started.Wait()
		b.StopTimer()
		testkit.Must(b, l.fires.Wait())
		now = now.Add(time.Minute)
		b.StartTimer()
	}
}

// BenchmarkView measures the view for people, a minute after the previous one.
func BenchmarkView(b *testing.B) {
	narrowed := []string{"every: 2 days", "from: 2020-01-01", "until: 2099-12-31", "skip: 24 Dec to 2 Jan", "zone: Europe/Berlin"}
	for name, keys := range map[string][]string{"100": nil, "1000": nil, "1000 narrowed": narrowed} {
		b.Run(name, func(b *testing.B) {
			n := 1000
			if name == "100" {
				n = 100
			}
			r := newRoom(b)
			for i := range n {
				r.put(fmt.Sprintf("routines/%04d.md", i), routineText(fmt.Sprintf("%08x", i), fmt.Sprintf("%d %d * * *", i*7%60, i*13%24), "water", keys...))
			}
			s := made(r.dir, nil)
			now := time.Now()
			for b.Loop() {
				now = now.Add(time.Minute)
				if v := s.View(now); len(v.Tasks) != n {
					b.Fatalf("%d tasks", len(v.Tasks))
				}
			}
		})
	}
}
