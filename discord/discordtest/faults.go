package discordtest

import (
	"cmp"
	"context"
	"strings"
	"sync"
)

// fault is a plan for the next matching requests.
type fault struct {
	Match
	plan *Plan
	left int // negative: unlimited
}

// faults are the planned faults of tests, and the requests that they hold.
type faults struct {
	mu    sync.Mutex // guards everything below
	plans []*fault
	holds map[string]chan struct{}
}

// Fault plans a fault for the next matching requests. Earlier plans have priority. The returned function removes the
// fault early.
func (f *faults) Fault(m Match, p Plan) (lift func()) {
	next := &fault{Match: m, plan: &p, left: cmp.Or(m.Times, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plans = append(f.plans, next)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		next.left = 0
	}
}

// NoFaults removes all faults.
func (f *faults) NoFaults() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plans = nil
}

// take returns the fault for this request, or nil.
func (f *faults) take(method, path string) *fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, next := range f.plans {
		if next.left == 0 || next.Method != "" && next.Method != method || !matchesPath(next.PathPrefix, path) {
			continue
		}
		if next.left > 0 {
			next.left--
		}
		return next
	}
	return nil
}

// matchesPath compares whole segments, except for the pattern's last one, which may be a prefix of a segment.
func matchesPath(prefix, path string) bool {
	want, got := strings.Split(strings.TrimPrefix(prefix, "/"), "/"), strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(want) > len(got) {
		return false
	}
	for i, w := range want {
		if w == "*" || w == got[i] {
			continue
		}
		if i < len(want)-1 || !strings.HasPrefix(got[i], w) {
			return false
		}
	}
	return true
}

// held returns the channel that Release closes.
func (f *faults) held(key string) chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holds[key] == nil {
		f.holds[key] = make(chan struct{})
	}
	return f.holds[key]
}

// Release lets requests continue that a plan holds under this key, including later ones.
func (f *faults) Release(key string) {
	held := f.held(key)
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-held:
	default:
		close(held)
	}
}

// linger waits as a plan says and reports whether the client still waits for the
// answer.
func (f *faults) linger(ctx context.Context, p *Plan) bool {
	if p.Hold == "" {
		return true
	}
	select {
	case <-f.held(p.Hold):
		return true
	case <-ctx.Done():
		return false
	}
}
