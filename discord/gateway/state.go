package gateway

import (
	"slices"
	"sync"
	"time"
)

// Phase says whether the bot can be reached through Discord.
type Phase int

// The phases of a connection. Connecting is only the first try: a connection
// that was lost is Down until it is Up again.
const (
	Connecting Phase = iota
	Up
	Down
	Stopped
)

// String is the phase as a word for logs.
func (p Phase) String() string {
	switch p {
	case Connecting:
		return "connecting"
	case Up:
		return "up"
	case Down:
		return "down"
	case Stopped:
		return "stopped"
	}
	return "unknown"
}

// State is how the connection is at one moment.
type State struct {
	Phase   Phase
	Since   time.Time     // when the phase began; zero before Run
	Latency time.Duration // of the latest heartbeat; zero while not Up and before the first one
	Reason  string        // one sentence, empty while all is well; Stopped: what to change, and where
	NextTry time.Time     // when the next try begins; zero while one is under way
	Dropped int           // events that made no sense and were left out, since Run began
}

// board holds the state and tells listeners about changes. Listeners are called
// from the goroutine that made the change, without a lock.
type board struct {
	mu        sync.Mutex // guards what follows
	state     State
	listeners []func()
}

func newBoard() *board { return &board{} }

func (b *board) read() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

func (b *board) listen(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners = append(b.listeners, f)
}

// change applies f and calls the listeners when that changed anything.
func (b *board) change(f func(*State)) {
	b.mu.Lock()
	before := b.state
	f(&b.state)
	changed := b.state != before
	listeners := slices.Clone(b.listeners)
	b.mu.Unlock()
	if !changed {
		return
	}
	for _, tell := range listeners {
		tell()
	}
}

// enter begins a phase; staying in one keeps its beginning.
func (b *board) enter(p Phase, reason string) {
	now := time.Now()
	b.change(func(s *State) {
		if s.Phase != p || s.Since.IsZero() {
			s.Since = now
		}
		s.Phase, s.Reason, s.Latency, s.NextTry = p, reason, 0, time.Time{}
	})
}

func (b *board) latency(d time.Duration) { b.change(func(s *State) { s.Latency = d }) }

func (b *board) nextTry(at time.Time) { b.change(func(s *State) { s.NextTry = at }) }

// dropped counts without telling: a stream of nonsense must not become a stream
// of redraws.
func (b *board) dropped() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state.Dropped++
}
