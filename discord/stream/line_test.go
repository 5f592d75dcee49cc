package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/discord/rest"
)

func TestWritersSendInTheOrderInWhichTheyAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := NewLine(SendEvery, EditEvery)
		r := newRoom()
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				err := line.Send(t.Context(), func(ctx context.Context) error {
					_, err := r.Send(ctx, Page{Text: fmt.Sprint(i)}, "")
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		begin := time.Now()
		wg.Wait()
		for i, text := range r.texts() {
			if text != fmt.Sprint(i) {
				t.Errorf("%s is the %dth", text, i)
			}
		}
		if took := time.Since(begin); r.count().limited > 0 || took > 21*time.Second {
			t.Errorf("%+v in %v", r.count(), took)
		}
	})
}

func TestALimitKeepsTheTurnAndAFailureLosesIt(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{{&rest.LimitedError{After: 7 * time.Second}, "first second"}, {errNetwork, "second first"}} {
		synctest.Test(t, func(t *testing.T) {
			line := NewLine(SendEvery, EditEvery)
			var said []string
			var wg sync.WaitGroup
			wg.Go(func() {
				tries := 0
				send := func(ctx context.Context) error {
					if tries++; tries == 1 {
						_ = sleep(ctx, time.Second, nil)
						return tt.err
					}
					said = append(said, "first")
					return nil
				}
				if err := line.Send(t.Context(), send); err != nil {
					_ = line.Send(t.Context(), send)
				}
			})
			synctest.Wait()
			wg.Go(func() {
				_ = line.Send(t.Context(), func(context.Context) error { said = append(said, "second"); return nil })
			})
			wg.Wait()
			if got := strings.Join(said, " "); got != tt.want {
				t.Errorf("after %v: %s", tt.err, got)
			}
		})
	}
}

func TestWhoLeavesTheLineHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := NewLine(SendEvery, EditEvery)
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = line.Send(t.Context(), func(ctx context.Context) error { return sleep(ctx, 30*time.Second, nil) })
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // ends as the turn comes
		defer cancel()
		var left atomic.Int32
		for range 50 {
			wg.Go(func() {
				if err := line.Send(ctx, func(context.Context) error { return nil }); errors.Is(err, context.DeadlineExceeded) {
					left.Add(1)
				}
			})
			synctest.Wait()
		}
		wg.Go(func() {
			if err := line.Send(t.Context(), func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
		})
		begin := time.Now()
		wg.Wait()
		if took := time.Since(begin); left.Load() < 49 || took > 33*time.Second {
			t.Errorf("%d left, %v", left.Load(), took)
		}
	})
}

func TestEditsOfAllWritersKeepThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := NewLine(SendEvery, EditEvery)
		r := newRoom()
		id, _ := r.Send(t.Context(), Page{Text: "0"}, "")
		var wg sync.WaitGroup
		begin := time.Now()
		for i := range 10 {
			wg.Go(func() {
				for k := range 3 {
					err := line.Edit(t.Context(), func(ctx context.Context) error { return r.Edit(ctx, id, Page{Text: fmt.Sprint("edit ", i, k)}) })
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if took := time.Since(begin); r.count().limited > 0 || took < 29*EditEvery || took > 30*EditEvery {
			t.Errorf("%+v in %v", r.count(), took)
		}
	})
}

func TestANoticeDoesNotComeBetweenPartsThatWereThereBefore(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		a.Append(words(9000))
		time.Sleep(time.Second) // the first part is on its way
		err := a.o.Line.Send(t.Context(), func(ctx context.Context) error {
			_, err := r.Send(ctx, Page{Text: "a ping"}, "ping")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		a.Append(words(4000))
		end(t, a)
		list := r.texts()
		at := -1
		for i, text := range list {
			if text == "a ping" {
				at = i
			}
		}
		if at != 5 || len(list) != 8 {
			t.Errorf("the ping is message %d of %d", at, len(list))
		}
	})
}

func TestTwoAnswersOfOneChannelShareItsPace(t *testing.T) {
	told(t, func(t *testing.T, r *room, a *Answer) {
		b := New(t.Context(), Options{StatusLine: true, Channel: r, Line: a.o.Line})
		for range 400 {
			a.Append("one and ")
			b.Append("two and ")
			time.Sleep(50 * time.Millisecond)
		}
		end(t, a)
		end(t, b)
		if got := strings.Join(r.texts(), " "); strings.Count(got, "one") != 400 || strings.Count(got, "two") != 400 {
			t.Errorf("%d, %d", strings.Count(got, "one"), strings.Count(got, "two"))
		}
	})
}
