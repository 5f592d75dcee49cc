package routines

import (
	"os"
	"testing"
	"time"

	"ollimbot/routines/watch"
)

// settled is a room whose files and folder are old enough to be trusted, and
// whose index has looked twice.
func settled(t *testing.T, files int) *room {
	r := fill(t, files)
	r.x.Scan()
	return r
}

func TestASweepSeesAtOnceWhatComesGoesOrIsReplaced(t *testing.T) {
	r := settled(t, 30)
	wantChange(t, r.x.Sweep(), Change{})
	r.put("routines/new.md", routineText(idA, "0 9 * * *", "new"))
	wantChange(t, r.x.Sweep(), Change{Added: []string{idA}})
	replaced := r.x.Set().Routines[7]
	if err := r.dir.Write(replaced.Path, []byte(routineText(replaced.ID, "1 1 1 1 *", "replaced"))); err != nil {
		t.Fatal(err)
	}
	wantChange(t, r.x.Sweep(), Change{Updated: []string{replaced.ID}})
	r.remove("routines/new.md")
	wantChange(t, r.x.Sweep(), Change{Removed: []string{idA}})
}

func TestTenSweepsSeeEveryWriteInPlace(t *testing.T) {
	r := settled(t, 30)
	var want []string
	for _, one := range r.x.Set().Routines {
		r.put(one.Path, routineText(one.ID, "1 1 1 1 *", "changed"))
		want = append(want, one.ID)
	}
	got := map[string]bool{}
	for range 10 {
		c := r.x.Sweep()
		if len(c.Updated) > 3 {
			t.Errorf("a sweep examined %d of 30 files", len(c.Updated))
		}
		for _, id := range c.Updated {
			got[id] = true
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d of %d changes were seen", len(got), len(want))
	}
}

func TestASweepLooksBehindEveryLink(t *testing.T) {
	r := newRoom(t)
	r.put("elsewhere/a.md", routineText(idA, "0 9 * * *", "one"))
	r.put("routines/b.md", routineText(idB, "0 9 * * *", "two"))
	old := time.Now().Add(-time.Hour)
	if err := os.Symlink("../elsewhere/a.md", r.dir.Path("routines/a.md")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"elsewhere/a.md", "routines/b.md", "routines"} {
		if err := os.Chtimes(r.dir.Path(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	r.x.Scan()
	for range 3 {
		r.x.Sweep() // wherever the turn stands
	}
	r.put("elsewhere/a.md", routineText(idA, "0 10 * * *", "one"))
	wantChange(t, r.x.Sweep(), Change{Updated: []string{idA}})
}

func TestApplyDoesWhatTheBatchCallsFor(t *testing.T) {
	r := settled(t, 30)
	one := r.x.Set().Routines[3]
	write := func(cron string) { r.put(one.Path, routineText(one.ID, cron, "changed")) }
	want := Change{Updated: []string{one.ID}}
	write("1 * * * *")
	wantChange(t, r.x.Apply(watch.Batch{Names: []string{one.Path}}), want)
	write("2 * * * *")
	wantChange(t, r.x.Apply(watch.Batch{Full: true}), want)
	wantChange(t, r.x.Apply(watch.Batch{Names: []string{"webhooks/a.md"}}), Change{})
}
