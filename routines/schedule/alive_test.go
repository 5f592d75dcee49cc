package schedule

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestALoopThatIsHeldUpDoesNotAnswer(t *testing.T) {
	r := newRoom(t)
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var held atomic.Bool
		s := made(Options{
			Dir:  r.dir,
			Fire: func(context.Context, Due) error { return nil },
			Changed: func() {
				if held.Load() {
					<-release
				}
			},
		})
		s.index.Scan()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		synctest.Wait()
		ask := func() error {
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			return s.Alive(ctx)
		}
		if err := ask(); err != nil {
			t.Errorf("a loop that waits answers %v", err)
		}
		held.Store(true)
		r.put("reminders/a.md", reminderText("aaaa0001", time.Now().Add(time.Second).Format(time.RFC3339), "x"))
		s.Refresh("reminders/a.md")
		time.Sleep(2 * time.Second)
		if err := ask(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a loop that is held up answers %v", err)
		}
		close(release)
		if err := ask(); err != nil {
			t.Errorf("once it goes on it answers %v", err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
