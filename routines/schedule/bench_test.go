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
	s := made(Options{Dir: r.dir, Fire: func(context.Context, Due) error {
		started.Done()
		return nil
	}})
	s.index.Scan()
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
			s := r.schedule()
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

// BenchmarkAccountOfAFire measures the account's part of a fire: its two rows, on disk.
func BenchmarkAccountOfAFire(b *testing.B) {
	r := newRoom(b)
	r.put("routines/a.md", routineText(idA, "* * * * *", "water"))
	l := r.schedule().newLoop()
	routine, _ := l.set().RoutineByID(idA)
	d := Due{Kind: routine.Kind, Routine: routine, At: time.Now().UTC()}
	for b.Loop() {
		l.accountStart(d)
		l.teller.write(d.At)
		l.accountEnd(ended{fire: d, outcome: outcomeDone})
		l.teller.write(d.At)
		d.At = d.At.Add(time.Minute)
	}
}

// BenchmarkThousandNarrowedRoutines measures the start of a thousand routines and a step of the loop in
// which none is due: plain ones, and beside them those with keys that narrow their cron.
func BenchmarkThousandNarrowedRoutines(b *testing.B) {
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	for _, c := range []struct {
		name string
		keys []string
	}{
		{"plain", nil},
		{"narrowed", []string{"every: 2 weeks", "days: [first friday, last monday]", "from: 2020-01-01", "until: 2099-12-31", "skip: 24 Dec to 2 Jan, off.ics"}},
	} {
		r := newRoom(b)
		r.put("off.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20200501\nRRULE:FREQ=YEARLY\nEND:VEVENT\nEND:VCALENDAR\n")
		for i := range 1000 {
			r.put(fmt.Sprintf("routines/%04d.md", i), routineText(fmt.Sprintf("%08x", i), fmt.Sprintf("%d 9 * * 1,5", i%60), "water", c.keys...))
		}
		b.Run("start/"+c.name, func(b *testing.B) {
			for b.Loop() {
				s := made(Options{Dir: r.dir, Fire: func(context.Context, Due) error { return nil }})
				s.index.Scan()
				s.newLoop().begin(now)
			}
		})
		b.Run("step/"+c.name, func(b *testing.B) {
			s := made(Options{Dir: r.dir, Fire: func(context.Context, Due) error { return nil }})
			s.index.Scan()
			l := s.newLoop()
			l.begin(now)
			for b.Loop() {
				l.step(context.Background(), now)
			}
		})
	}
}
