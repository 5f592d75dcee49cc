// Package queue is an unbounded first-in first-out queue: pushing never blocks, and
// nothing is lost. It must not know the values it carries.
package queue

import (
	"context"
	"io"
	"sync"
)

// keptRoom is the largest capacity that an empty queue keeps.
const keptRoom = 1024

// Queue passes values between any number of goroutines. Use New.
type Queue[T any] struct {
	wake chan struct{} // capacity one: something may have changed

	mu     sync.Mutex // guards the fields below
	items  []T
	head   int // items before it were removed
	closed bool
}

// New returns an empty queue.
func New[T any]() *Queue[T] { return &Queue[T]{wake: make(chan struct{}, 1)} }

// Push appends v and never blocks. It returns false if the queue is closed.
func (q *Queue[T]) Push(v T) bool {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return false
	}
	// Before the slice grows, the space of removed items is reused if it is at least half, so
	// that moving costs a constant for each item.
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

// Pop removes the oldest item, waiting if necessary. It returns io.EOF if the queue is
// closed and empty, or ctx's error if that ends first.
func (q *Queue[T]) Pop(ctx context.Context) (T, error) {
	for {
		v, ok, more := q.take()
		if more { // another consumer may be waiting
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

// TryPop removes the oldest item, if there is one.
func (q *Queue[T]) TryPop() (T, bool) {
	v, ok, _ := q.take()
	return v, ok
}

// take removes an item, if there is one. more reports whether another consumer should wake up,
// for another item or because the queue is closed.
func (q *Queue[T]) take() (v T, ok, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.items) {
		return v, false, q.closed
	}
	var none T
	v, q.items[q.head] = q.items[q.head], none // so that the item can be freed
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
		if cap(q.items) > keptRoom {
			q.items = nil
		}
	}
	return v, true, q.closed || q.head < len(q.items)
}

// Close refuses new items; the rest can still be removed.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

// Abandon closes the queue and drops its items.
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
