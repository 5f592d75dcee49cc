// Package queue is a first-in first-out queue without a limit: who puts
// something in never waits, and nothing is lost. It knows nothing of what it
// carries.
package queue

import (
	"context"
	"io"
	"sync"
)

// keptRoom is how many empty places a drained queue keeps for later.
const keptRoom = 1024

// Queue carries values from any number of goroutines to any number of others.
// Use New.
type Queue[T any] struct {
	wake chan struct{} // capacity one: there may be something to see

	mu     sync.Mutex // guards the fields below
	items  []T
	head   int // items before it were taken
	closed bool
}

// New is an empty queue.
func New[T any]() *Queue[T] { return &Queue[T]{wake: make(chan struct{}, 1)} }

// Push appends v and never blocks. It reports whether v was taken: a closed queue
// takes nothing.
func (q *Queue[T]) Push(v T) bool {
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

// Pop takes the oldest item, and waits until there is one. It gives io.EOF when
// the queue is closed and empty, and ctx's error when that ends first.
func (q *Queue[T]) Pop(ctx context.Context) (T, error) {
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

// TryPop takes the oldest item if there is one.
func (q *Queue[T]) TryPop() (T, bool) {
	v, ok, _ := q.take()
	return v, ok
}

// take takes an item if there is one. more says that there is something else
// to see: another item, or that the queue is closed.
func (q *Queue[T]) take() (v T, ok, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.items) {
		return v, false, q.closed
	}
	var none T
	v, q.items[q.head] = q.items[q.head], none // a slow consumer does not hold what it has read
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
		if cap(q.items) > keptRoom {
			q.items = nil
		}
	}
	return v, true, q.closed || q.head < len(q.items)
}

// Close lets consumers take what is there, and nothing new in.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

// Abandon closes the queue and drops what is there.
func (q *Queue[T]) Abandon() {
	q.mu.Lock()
	q.closed, q.items, q.head = true, nil, 0
	q.mu.Unlock()
	q.signal()
}

func (q *Queue[T]) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
