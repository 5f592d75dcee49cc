package routines

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines/watch"
)

// watched runs a watcher that keeps the room's index up to date. in receives the moment
// at which each change takes effect.
func watched(t testing.TB, r *room) (in chan time.Time) {
	in = make(chan time.Time, 1000)
	ready := make(chan struct{}, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- watch.Run(ctx, watch.Options{
			Root: r.root, Folders: []string{RoutineFolder, ReminderFolder}, Match: IsTaskFile, Log: slog.New(slog.DiscardHandler),
			Changed: func(b watch.Batch) {
				c := r.x.Apply(b)
				if !c.Empty() {
					in <- time.Now()
				}
				if b.Full {
					ready <- struct{}{}
				}
			},
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("watch: %v", err)
		}
	})
	<-ready
	for len(in) > 0 {
		<-in
	}
	return in
}

func TestASavedFileComesIntoForceByItself(t *testing.T) {
	r := newRoom(t)
	r.put("routines/a.md", routineText("aaaaaaaa", "0 9 * * *", "water"))
	in := watched(t, r)
	wait := func() {
		t.Helper()
		select {
		case <-in:
		case <-time.After(2 * time.Minute):
			t.Fatal("the change was not seen")
		}
	}
	storetest.Put(t, r.dir, "routines/a.md", routineText("aaaaaaaa", "0 10 * * *", "water"))
	wait()
	if got, _ := r.x.Set().RoutineByID("aaaaaaaa"); got.Cron != "0 10 * * *" {
		t.Errorf("in force is %s", got.Cron)
	}
	r.put("routines/a.md", "broken")
	wait()
	wantProblems(t, r.x, "routines/a.md:1:1")
	r.remove("routines")
	wait()
	if n := len(r.x.Set().Routines); n != 0 {
		t.Errorf("%d routines are in force", n)
	}
	r.put("routines/b.md", routineText("bbbbbbbb", "0 10 * * *", "back"))
	wait()
	if _, ok := r.x.Set().Find("bbbbbbbb"); !ok {
		t.Error("the new folder is not watched")
	}
}

func TestAThousandFilesSavedAtOnceAllComeIntoForce(t *testing.T) {
	r := newRoom(t)
	r.put("routines/00000.md", manyRoutines(0))
	in := watched(t, r)
	for i := range 1_000 {
		r.put(fmt.Sprintf("routines/%05d.md", i), manyRoutines(i))
	}
	for len(r.x.Set().Routines) < 1_000 {
		select {
		case <-in:
		case <-time.After(2 * time.Minute):
			t.Fatalf("only %d are in force", len(r.x.Set().Routines))
		}
	}
	if p := r.x.Set().Problems; len(p) > 0 {
		t.Errorf("problems: %v", p[:1])
	}
}
