package claude

import (
	"context"
	"sync"

	"ollimbot/core/agent"
)

// happening is one pair of a turn's sequence.
type happening struct {
	event agent.Event
	err   error
}

// feed carries what happens in a turn from the session's reader to whoever
// reads the turn. It has no limit: the reader never waits for a consumer, and a
// consumer that comes late misses nothing.
type feed struct {
	wake chan struct{} // capacity one: there may be something to see

	mu    sync.Mutex
	items []happening
	ended bool // nothing comes any more
	left  bool // nobody reads any more
}

func newFeed() *feed { return &feed{wake: make(chan struct{}, 1)} }

// put adds an event, unless the consumer has left.
func (f *feed) put(e agent.Event) { f.add(happening{event: e}, false) }

// end adds the last event.
func (f *feed) end(e agent.Event) { f.add(happening{event: e}, true) }

// fail ends the turn with an error.
func (f *feed) fail(err error) { f.add(happening{err: err}, true) }

func (f *feed) add(h happening, last bool) {
	f.mu.Lock()
	if !f.ended {
		f.ended = last
		if !f.left {
			f.items = append(f.items, h)
		}
	}
	f.mu.Unlock()
	f.signal()
}

// leave drops what is there and all that comes.
func (f *feed) leave() {
	f.mu.Lock()
	f.left, f.items = true, nil
	f.mu.Unlock()
}

// next waits for the next pair. ok is false after the last one; ctx's error is
// a pair of its own and goes before everything that is waiting.
func (f *feed) next(ctx context.Context) (h happening, ok bool) {
	for {
		if err := ctx.Err(); err != nil {
			return happening{err: err}, true
		}
		if h, ok, more := f.take(); ok || !more {
			return h, ok
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
		}
	}
}

// take takes a pair if there is one. more says that another may come.
func (f *feed) take() (h happening, ok, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.items) == 0 {
		return h, false, !f.ended && !f.left
	}
	h, f.items = f.items[0], f.items[1:]
	return h, true, true
}

func (f *feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}
