package routines

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"ollimbot/routines/watch"
)

// watched runs a watcher that keeps the room's index up to date. until waits for what a set should have.
func watched(t testing.TB, r *room) (until func(want string, is func(*Set) bool)) {
	in, ready := make(chan bool, 3000), make(chan bool, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- watch.Run(ctx, watch.Options{
			Root: r.root, Folders: []string{RoutineFolder, ReminderFolder}, Match: IsTaskFile, Log: slog.New(slog.DiscardHandler),
			Changed: func(b watch.Batch) {
				r.x.Apply(b)
				in <- true
				if b.Full {
					ready <- true
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
	return func(want string, is func(*Set) bool) {
		t.Helper()
		for !is(r.x.Set()) {
			select {
			case <-in:
			case <-time.After(2 * time.Minute):
				t.Fatalf("want %s, in force is %.200s", want, inForce(r.x.Set()))
			}
		}
	}
}

func TestASavedFileComesIntoForceByItself(t *testing.T) {
	r := newRoom(t)
	r.do("a.md=a@9")
	until := watched(t, r)
	for _, step := range []struct{ edit, want, problem string }{
		{"a.md=a@10", "a.md=a@10", ""}, {"a.md=broken", "a.md=a@10", "routines/a.md:1:1"}, {"-./routines", "", ""}, {"b.md=b@10", "b.md=b@10", ""},
	} {
		r.do(step.edit)
		until(step.want+" "+step.problem, func(s *Set) bool {
			return inForce(s) == step.want && (len(s.Problems) > 0) == (step.problem != "") && strings.HasPrefix(report(s.Problems), step.problem)
		})
	}
}

func TestAThousandFilesSavedAtOnceAllComeIntoForce(t *testing.T) {
	r := newRoom(t)
	r.put("routines/00000.md", manyRoutines(0))
	until := watched(t, r)
	for i := range 1_000 {
		r.put(fmt.Sprintf("routines/%05d.md", i), manyRoutines(i))
	}
	until("a thousand without a problem", func(s *Set) bool { return len(s.Routines) == 1_000 && len(s.Problems) == 0 })
}
