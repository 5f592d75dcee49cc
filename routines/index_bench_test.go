package routines

import (
	"fmt"
	"os"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// manyRoutines is a realistic mix: daily jobs over the day, a tenth of them hourly, a
// twentieth every five minutes.
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
	// Fresh files are read twice, so age these.
	old := time.Now().Add(-time.Hour)
	for i := range n {
		testkit.Must(b, os.Chtimes(r.dir.Path(fmt.Sprintf("routines/routine-%05d.md", i)), old, old))
	}
	testkit.Must(b, os.Chtimes(r.dir.Path("routines"), old, old))
	return r
}

func BenchmarkFirstScanOf1000(b *testing.B) {
	r := fill(b, 1_000)
	for b.Loop() {
		x := NewIndex(r.dir, time.UTC)
		if c := x.Scan(); len(c.IDs) != 1_000 {
			b.Fatalf("%d added, problems %v", len(c.IDs), x.Set().Problems)
		}
	}
}

func BenchmarkIdleScanOf1000(b *testing.B) {
	r := fill(b, 1_000)
	r.x.Scan()
	for b.Loop() {
		if c := r.x.Scan(); !c.Empty() {
			b.Fatalf("changed: %+v", c)
		}
	}
}

// BenchmarkOneRoutineChangedAmong1000 measures the index's part of saving a file.
func BenchmarkOneRoutineChangedAmong1000(b *testing.B) {
	r := fill(b, 1_000)
	r.x.Scan()
	i := 0
	for b.Loop() {
		i++
		r.put("routines/routine-00000.md", routineText("00000000", fmt.Sprintf("%d %d * * *", i%60, i/60%24), "changed"))
		if c := r.x.Refresh([]string{"routines/routine-00000.md"}); c.Empty() {
			b.Fatal("nothing has changed")
		}
	}
}
