package wire

import (
	"context"
	"io"
	"sync"
)

// keptRoom is how many empty places a drained queue keeps for later.
const keptRoom = 1024

// queue is a first-in first-out queue without a limit: push never waits.
type queue[T any] struct {
	wake chan struct{} // capacity one: there may be something to see

	// The lock guards all that follows.
	mu     sync.Mutex
	items  []T
	head   int // items before it were taken
	closed bool
}

func newQueue[T any]() *queue[T] { return &queue[T]{wake: make(chan struct{}, 1)} }

// push appends v and reports whether it was taken: a closed queue takes nothing.
func (q *queue[T]) push(v T) bool {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return false
	}
	// Before the slice would grow, the room of what was taken is used again;
	// half of it at least, so that the moves cost a constant for each item.
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, v)
	q.mu.Unlock()
	q.signal()
	return true
}

// pop takes the oldest item, waiting for one. It gives io.EOF when the queue is
// closed and empty, and ctx's error when that ends first.
func (q *queue[T]) pop(ctx context.Context) (T, error) {
	for {
		v, ok, more := q.take()
		if more { // another consumer may have to see it
			q.signal()
		}
		if ok {
			return v, nil
		}
		if more {
			return v, io.EOF
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return v, ctx.Err()
		}
	}
}

// take takes an item if there is one. more says that there is something else
// to see: another item, or that the queue is closed.
func (q *queue[T]) take() (v T, ok, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.items) {
		return v, false, q.closed
	}
	var none T
	v, q.items[q.head] = q.items[q.head], none
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
		if cap(q.items) > keptRoom {
			q.items = nil
		}
	}
	return v, true, q.closed || q.head < len(q.items)
}

// close lets consumers take what is there, and nothing new in.
func (q *queue[T]) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

// abandon closes the queue and drops what is there.
func (q *queue[T]) abandon() {
	q.mu.Lock()
	q.closed, q.items, q.head = true, nil, 0
	q.mu.Unlock()
	q.signal()
}

func (q *queue[T]) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
