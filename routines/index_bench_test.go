package routines

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// manyRoutines is a realistic spread: daily jobs over the day, a tenth of them
// hourly, a twentieth every five minutes.
func manyRoutines(i int) string {
	cron := fmt.Sprintf("%d %d * * *", i*7%60, i*13%24)
	switch {
	case i%20 == 0:
		cron = "*/5 * * * *"
	case i%10 == 3:
		cron = fmt.Sprintf("%d * * * *", i%60)
	}
	return routineText(fmt.Sprintf("%08x", i*2654435761%(1<<32)), cron, fmt.Sprintf("Look at thing number %d and tell me what would be regretted.", i))
}

func fill(b testing.TB, n int) *room {
	r := newRoom(b)
	for i := range n {
		r.put(fmt.Sprintf("routines/routine-%05d.md", i), manyRoutines(i))
	}
	// Files just written are looked at twice; these are to be old.
	old := time.Now().Add(-time.Hour)
	for i := range n {
		if err := os.Chtimes(r.dir.Path(fmt.Sprintf("routines/routine-%05d.md", i)), old, old); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.Chtimes(r.dir.Path("routines"), old, old); err != nil {
		b.Fatal(err)
	}
	return r
}

func BenchmarkFirstScanOf10000(b *testing.B) {
	r := fill(b, 10_000)
	for b.Loop() {
		x := NewIndex(r.dir, time.UTC)
		if c := x.Scan(); len(c.Added) != 10_000 {
			b.Fatalf("%d added, problems %v", len(c.Added), x.Set().Problems)
		}
	}
}

func BenchmarkIdleScanOf10000(b *testing.B) {
	r := fill(b, 10_000)
	r.x.Scan()
	for b.Loop() {
		if c := r.x.Scan(); !c.Empty() {
			b.Fatalf("changed: %+v", c)
		}
	}
}

func BenchmarkIdleSweepOf10000(b *testing.B) {
	r := fill(b, 10_000)
	r.x.Scan()
	for b.Loop() {
		if c := r.x.Sweep(); !c.Empty() {
			b.Fatalf("changed: %+v", c)
		}
	}
}

// BenchmarkOneRoutineAddedTo10000 is the work of the index and of the loop's plan
// for one file that is new, its reading included.
func BenchmarkOneRoutineAddedTo10000(b *testing.B) {
	r := fill(b, 10_000)
	r.x.Scan()
	l := NewLoop(LoopOptions{Dir: r.dir, Index: r.x, Zone: time.UTC})
	l.begin(l.clock())
	r.put("routines/zz.md", routineText("ffffffff", "0 9 * * *", "new"))
	names := []string{"routines/zz.md"}
	for b.Loop() {
		c := r.x.Refresh(names)
		if len(c.Added) != 1 {
			b.Fatalf("change is %+v", c)
		}
		l.sync(c.Added[0], l.clock())
		b.StopTimer()
		r.remove("routines/zz.md")
		l.sync(r.x.Refresh(names).Removed[0], l.clock())
		r.put("routines/zz.md", routineText("ffffffff", "0 9 * * *", "new"))
		b.StartTimer()
	}
}

func BenchmarkForward(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := fill(b, n)
			r.x.Scan()
			now := time.Now()
			r.x.Forward(now, "")
			for b.Loop() {
				now = now.Add(20 * time.Second)
				if f := r.x.Forward(now, ""); len(f.Entries) == 0 {
					b.Fatal("nothing ahead")
				}
			}
		})
	}
}

func BenchmarkFirstForwardOf10000(b *testing.B) {
	r := fill(b, 10_000)
	r.x.Scan()
	now := time.Now()
	for b.Loop() {
		r.x.forward.set = nil
		r.x.Forward(now, "")
	}
}

func BenchmarkPlanOf10000(b *testing.B) {
	r := fill(b, 10_000)
	r.x.Scan()
	for b.Loop() {
		l := NewLoop(LoopOptions{Dir: r.dir, Index: r.x, Zone: time.UTC})
		l.begin(l.clock())
	}
}

func BenchmarkBookOf10000(b *testing.B) {
	r := fill(b, 10_000)
	r.x.Scan()
	l := NewLoop(LoopOptions{Dir: r.dir, Index: r.x, Zone: time.UTC})
	l.begin(l.clock())
	for b.Loop() {
		l.save()
	}
}
