package core

import "sync"

// viewers are the wake-up channels of a bot's viewers. The zero value has none.
type viewers struct {
	mu   sync.Mutex
	open map[chan struct{}]struct{}
}

// add returns a channel with room for one wake-up.
func (v *viewers) add() chan struct{} {
	changed := make(chan struct{}, 1)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open == nil {
		v.open = map[chan struct{}]struct{}{}
	}
	v.open[changed] = struct{}{}
	return changed
}

// remove stops the wake-ups of a channel. It is idempotent.
func (v *viewers) remove(changed chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.open, changed)
}

// notify wakes every viewer without blocking.
func (v *viewers) notify() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for changed := range v.open {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
}
