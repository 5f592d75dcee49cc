package git

import (
	"cmp"
	"slices"
	"sync"
)

// queueLimit is how many paths can be pending; further ones are dropped.
const queueLimit = 1000

// change is a path that may differ from the last commit, and the message for either case.
type change struct {
	rel            string // in the data directory
	path           string // in its repository, once known
	added, removed string
	tries          int
}

// queue contains the pending changes, one for each path, oldest first.
type queue struct {
	mu      sync.Mutex
	pending []change
}

// add queues a change, or merges it with a pending one of the same path. It returns false if
// the queue is full.
func (q *queue) add(c change) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.put(c)
}

// put is add for a caller that holds mu.
func (q *queue) put(c change) bool {
	if i := slices.IndexFunc(q.pending, func(w change) bool { return w.rel == c.rel }); i >= 0 {
		w := &q.pending[i]
		w.added, w.removed = cmp.Or(c.added, w.added), cmp.Or(c.removed, w.removed)
		return true
	}
	if len(q.pending) >= queueLimit {
		return false
	}
	q.pending = append(q.pending, c)
	return true
}

// take empties the queue.
func (q *queue) take() []change {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.pending
	q.pending = nil
	return all
}

// putBack queues changes ahead of those that were added since take.
func (q *queue) putBack(again []change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	since := q.pending
	q.pending = again
	for _, c := range since {
		q.put(c)
	}
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending)
}
