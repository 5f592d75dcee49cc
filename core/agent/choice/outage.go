package choice

import (
	"fmt"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

// An engine that is out of reach is asked again after firstWait, then after twice as
// long each time, up to mostWait.
const (
	firstWait = 5 * time.Minute
	mostWait  = time.Hour
)

// outage is why a server is out of reach, and until when nobody asks it.
type outage struct {
	why   string
	until time.Time
	wait  time.Duration
}

// down reports whether it is too early to ask again.
func (e *Engine) down(key string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	o := e.outages[key]
	return o != nil && time.Now().Before(o.until)
}

// why is the reason of an outage; empty where there is none.
func (e *Engine) why(key string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.outages[key]; o != nil {
		return o.why
	}
	return ""
}

// lose notes that a place cannot answer; false where there is nobody else who may.
func (e *Engine) lose(p place, s agent.Settings, why string) bool {
	key := e.key(p, s)
	why = clean.Cut(clean.Line(why), 200)
	e.mu.Lock()
	before := e.outages[key]
	now := &outage{why: why, wait: firstWait}
	if before != nil {
		now.wait = min(2*before.wait, mostWait)
	}
	now.until = time.Now().Add(now.wait)
	e.outages[key] = now
	changed := e.changed
	e.mu.Unlock()
	next := e.pick(s)
	if e.key(next, s) == key || e.down(e.key(next, s)) { // nobody is left
		e.mu.Lock()
		delete(e.outages, key)
		e.mu.Unlock()
		return false
	}
	changed() // the status has a warning now
	return true
}

// answered notes that a place has answered, and tells where it had not before.
func (e *Engine) answered(p place, s agent.Settings) {
	key := e.key(p, s)
	e.mu.Lock()
	o := e.outages[key]
	delete(e.outages, key)
	changed := e.changed
	e.mu.Unlock()
	if o != nil {
		e.o.Tell(fmt.Sprintf(textBack, e.name(p, s)))
		changed()
	}
}
