package gateway

import (
	"context"
	"sync"
)

// queue stands between the library's reader, which must never wait, and a
// consumer that may take its time. It keeps the order and has no limit: a
// message that is left out would be a message without an answer.
type queue struct {
	out  chan Event
	wake chan struct{} // has room for one

	mu    sync.Mutex // guards items
	items []Event
}

func newQueue() *queue {
	return &queue{out: make(chan Event), wake: make(chan struct{}, 1)}
}

// push never blocks.
func (q *queue) push(e Event) {
	q.mu.Lock()
	q.items = append(q.items, e)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take empties the queue. The caller owns the slice, so its memory goes when
// its last event was handed over.
func (q *queue) take() []Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.items
	q.items = nil
	return batch
}

// pump hands over until ctx ends; the owner closes out afterwards.
func (q *queue) pump(ctx context.Context) error {
	for {
		batch := q.take()
		for i := range batch {
			select {
			case q.out <- batch[i]:
				batch[i] = Event{} // a slow reader does not hold what it has read
			case <-ctx.Done():
				return nil
			}
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return nil
		}
	}
}
