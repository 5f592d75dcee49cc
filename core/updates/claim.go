package updates

import (
	"slices"
	"sync"
)

// Claim is what one main turn delivers. Its updates stay in the file until
// Commit, and no other claim gets them. Either Commit or Release takes effect,
// the first that is called.
type Claim struct {
	queue *Queue
	list  []Update

	// mu guards done, and is held while a commit writes: it orders that write.
	mu   sync.Mutex
	done bool
}

// Claim takes everything that no open claim holds; that may be nothing. A
// caller must end the claim.
func (q *Queue) Claim() (*Claim, error) {
	c := &Claim{queue: q}
	if len(q.look()) == 0 {
		return c, nil // nothing to lock for, also where nothing can be written
	}
	err := q.dir.Exclusive(turnName, func() error {
		list, err := q.load()
		if err != nil {
			return err
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		for _, e := range list {
			if !q.claimed[e.Key] {
				q.claimed[e.Key] = true
				c.list = append(c.list, e.Update)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Updates are the claimed updates, oldest first.
func (c *Claim) Updates() []Update { return slices.Clone(c.list) }

// Commit removes the updates: the engine has taken them. Those appended since
// the claim stay. Should the file resist, the error says so; the updates are
// not delivered again while this process lives, and leave the file with its
// next change.
func (c *Claim) Commit() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return nil
	}
	c.done = true
	if len(c.list) == 0 {
		return nil
	}
	q := c.queue
	q.mu.Lock()
	for _, u := range c.list {
		q.delivered[u.Key] = true
		delete(q.claimed, u.Key)
	}
	q.mu.Unlock()
	// load leaves out what was delivered, so the list is already the one to write.
	return q.change("remove delivered updates", func(list []entry) ([]entry, error) { return list, nil })
}

// Release gives the updates back: the turn never reached the engine.
func (c *Claim) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	c.done = true
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	for _, u := range c.list {
		delete(c.queue.claimed, u.Key)
	}
}
