package watch

import "time"

// pending holds what was touched and not told yet. Each name waits for a
// silence of its own, so that one file under constant writing delays no other.
// The name "" stands for everything.
type pending struct {
	quiet, hold time.Duration
	names       map[string]span
	// at is no later than the moment when the first name is due: a touch moves
	// its name's moment away without anybody looking for the new first.
	at time.Time
	// taken is when take was last called. The next call waits a third of quiet:
	// ten thousand files saved at once come in a few batches, not one by one.
	taken time.Time
}

// span is the first and the last touch of a name.
type span struct{ first, last time.Time }

func (p *pending) dueAt(s span) time.Time {
	quiet, hold := s.last.Add(p.quiet), s.first.Add(p.hold)
	if hold.Before(quiet) {
		return hold
	}
	return quiet
}

// add notes a touch.
func (p *pending) add(name string, now time.Time) {
	s, ok := p.names[name]
	if !ok {
		s.first = now
	}
	s.last = now
	p.names[name] = s
	p.sooner(p.dueAt(s))
}

func (p *pending) sooner(at time.Time) {
	if soonest := p.taken.Add(p.quiet / 3); at.Before(soonest) {
		at = soonest
	}
	if p.at.IsZero() || at.Before(p.at) {
		p.at = at
	}
}

// next is when take should be called; zero when nothing waits.
func (p *pending) next() time.Time { return p.at }

// take removes and returns what is due. A full batch takes everything along,
// since nothing is left to look at after it.
func (p *pending) take(now time.Time) Batch {
	p.taken = now
	if s, ok := p.names[""]; ok && !p.dueAt(s).After(now) {
		p.clear()
		return Batch{Full: true}
	}
	var b Batch
	p.at = time.Time{}
	for name, s := range p.names {
		if at := p.dueAt(s); at.After(now) {
			p.sooner(at)
			continue
		}
		b.Names = append(b.Names, name)
		delete(p.names, name)
	}
	return b
}

func (p *pending) empty() bool { return len(p.names) == 0 }

func (p *pending) clear() {
	clear(p.names)
	p.at = time.Time{}
}
