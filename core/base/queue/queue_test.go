package queue

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestADrainedQueueGivesItsRoomBack(t *testing.T) {
	q := New[[]byte]()
	for range 100 * keptRoom {
		q.Push(nil)
	}
	for range 100 * keptRoom {
		if _, err := q.Pop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if cap(q.items) > keptRoom {
		t.Errorf("an empty queue keeps %d places", cap(q.items))
	}
}

func TestAQueueThatIsNeverEmptyDoesNotGrow(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		q := New[int]()
		pushed, popped := rapid.IntRange(1, 300).Draw(rt, "waiting"), 0
		for i := range pushed {
			q.Push(i)
		}
		for range 5000 {
			q.Push(pushed)
			pushed++
			if v, err := q.Pop(t.Context()); err != nil || v != popped {
				rt.Fatalf("popped %d, %v; want %d", v, err, popped)
			}
			popped++
		}
		if limit := 4*(pushed-popped) + 16; cap(q.items) > limit {
			rt.Errorf("%d items take %d places", pushed-popped, cap(q.items))
		}
	})
}

func TestAllThatIsPutInIsTakenOnceByManyConsumers(t *testing.T) {
	q := New[int]()
	var consumers sync.WaitGroup
	var sum atomic.Int64
	for range 4 {
		consumers.Go(func() {
			for {
				v, err := q.Pop(t.Context())
				if err != nil {
					return
				}
				sum.Add(int64(v))
			}
		})
	}
	var producers sync.WaitGroup
	for range 4 {
		producers.Go(func() {
			for i := range 1000 {
				q.Push(i)
			}
		})
	}
	producers.Wait()
	q.Close()
	consumers.Wait()
	if sum.Load() != 4*999*1000/2 {
		t.Errorf("the sum is %d", sum.Load())
	}
}

func TestAClosedQueueGivesWhatIsThereAndTakesNothing(t *testing.T) {
	q := New[int]()
	q.Push(1)
	q.Close()
	if q.Push(2) {
		t.Error("a closed queue took something")
	}
	if v, err := q.Pop(t.Context()); v != 1 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	if _, err := q.Pop(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
	if _, ok := q.TryPop(); ok {
		t.Error("there is something left")
	}
}

func TestAnAbandonedQueueIsEmpty(t *testing.T) {
	q := New[int]()
	q.Push(1)
	q.Abandon()
	if _, err := q.Pop(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

func TestPopEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New[int]().Pop(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestEachWaitingConsumerIsWokenByAPushAndByTheEnd(t *testing.T) {
	for name, end := range map[string]func(*Queue[int]){"closed": (*Queue[int]).Close, "abandoned": (*Queue[int]).Abandon} {
		synctest.Test(t, func(t *testing.T) {
			q := New[int]()
			var sum, ended atomic.Int64
			var group sync.WaitGroup
			for range 3 {
				group.Go(func() {
					for {
						v, err := q.Pop(t.Context())
						if errors.Is(err, io.EOF) {
							ended.Add(1)
							return
						}
						sum.Add(int64(v))
					}
				})
			}
			synctest.Wait()
			if !q.Push(1) || !q.Push(2) || !q.Push(4) {
				t.Errorf("%s: a push into an open queue is refused", name)
			}
			if synctest.Wait(); sum.Load() != 7 || ended.Load() != 0 {
				t.Errorf("%s: the consumers have %d, %d have ended", name, sum.Load(), ended.Load())
			}
			end(q)
			if synctest.Wait(); ended.Load() != 3 {
				t.Errorf("%s: %d of 3 consumers have ended", name, ended.Load())
			}
			if q.Push(8) {
				t.Errorf("%s: a push is accepted", name)
			}
			group.Wait()
		})
	}
}
