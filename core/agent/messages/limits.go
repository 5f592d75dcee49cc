package messages

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"ollimbot/core/agent"
)

// maxIdle is how many rounds in a row may bring nothing new: the same call with the same result,
// refused calls, pauses without text, answers that broke off.
const maxIdle = 5

// bill is a turn's usage, including its subagents, and its limit. Its methods may be called
// concurrently.
type bill struct {
	// asking is held while the user is asked, so that there is one question at a time.
	asking  chan struct{}
	allowed float64 // dollars
	stop    string  // why nothing more may be used

	mu   sync.Mutex
	used agent.Usage
}

func newBill() *bill { return &bill{asking: make(chan struct{}, 1)} }

func (b *bill) add(u agent.Usage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = b.used.Add(u)
}

func (b *bill) sum() agent.Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// afford asks whether the turn may make another request, and returns the reason if not.
func (t *talk) afford() (stop string) {
	b := t.bill
	b.asking <- struct{}{}
	defer func() { <-b.asking }()
	if b.stop == "" && t.ctx.Err() == nil {
		used := b.sum()
		used.Free = t.model.Free
		b.allowed, b.stop = t.s.host.Afford(t.ctx, agent.Spending{Model: t.model.FullName(), Used: used, Allowed: b.allowed})
	}
	return b.stop
}

// progress remembers the calls of a turn to detect rounds that make no progress.
type progress struct {
	seen map[[sha256.Size]byte]bool
	idle int // rounds in a row that brought nothing new
}

// note counts a round of calls with their results. The first refusal of another call is news to the
// model; the same refusal again is not.
func (p *progress) note(calls []call, results []outcome) {
	if p.seen == nil {
		p.seen = map[[sha256.Size]byte]bool{}
	}
	fresh := false
	for i, c := range calls {
		r := results[i]
		if c.bad != "" || r.unknown {
			continue
		}
		key := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %d", c.Name, c.Input, r.Text, len(r.Images), len(r.Documents)))
		fresh = fresh || !p.seen[key]
		p.seen[key] = true
	}
	p.idle++
	if fresh {
		p.idle = 0
	}
}
