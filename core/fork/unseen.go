package fork

import (
	"slices"
	"sync"
	"time"

	"ollimbot/core/store"
)

const (
	// unseenName keeps which failures somebody has looked at, over restarts.
	unseenName = store.StateDir + "/failures_seen.json"
	// unseenKept is how many failures are remembered until somebody looks.
	unseenKept = 200
)

// seen is what is kept of looking: every failure up to Since was looked at, and those
// of later ones.
type seen struct {
	Since time.Time `json:"since"`
	Runs  []string  `json:"runs"` // ids
}

// unseen are the failures that nobody has looked at, the newest first. Its lock orders
// the file, too.
type unseen struct {
	mu   sync.Mutex
	list []View
	seen seen
}

// Failed reports that a run in this state has not done what it was for.
func (s State) Failed() bool { return s == Failed || s == TimedOut || s == NoReport }

// Failures are the runs that have failed and that nobody has looked at, the newest
// first: at most 200, of this program and of those before it.
func (m *Manager) Failures() []View {
	m.unseen.mu.Lock()
	defer m.unseen.mu.Unlock()
	return slices.Clone(m.unseen.list)
}

// Looked notes that somebody has looked at runs. Ids of others do nothing.
func (m *Manager) Looked(runs ...string) error {
	u := &m.unseen
	u.mu.Lock()
	defer u.mu.Unlock()
	n := len(u.list)
	u.list = slices.DeleteFunc(slices.Clone(u.list), func(v View) bool { return slices.Contains(runs, v.ID) })
	if len(u.list) == n {
		return nil
	}
	u.seen.Runs = append(u.seen.Runs, runs...)
	if len(u.list) == 0 {
		u.seen = seen{Since: m.now()}
	}
	return m.o.Dir.WriteJSON(unseenName, u.seen)
}

// failed notes a failure of this program.
func (m *Manager) failed(v View) {
	if !v.State.Failed() {
		return
	}
	m.unseen.mu.Lock()
	defer m.unseen.mu.Unlock()
	m.unseen.list = slices.Insert(slices.Clone(m.unseen.list), 0, v)
	m.unseen.list = m.unseen.list[:min(len(m.unseen.list), unseenKept)]
}

// recallFailures finds those of earlier programs that nobody has looked at. Where
// nothing is known of looking, the first start begins with none.
func (m *Manager) recallFailures() {
	u := &m.unseen
	u.mu.Lock()
	defer u.mu.Unlock()
	found, err := m.o.Dir.LoadJSON(unseenName, &u.seen, m.log)
	if err != nil {
		m.log.Warn("failures that were looked at are not known", "error", err)
	}
	if !found {
		u.seen = seen{Since: m.now()}
		if err := m.o.Dir.WriteJSON(unseenName, u.seen); err != nil {
			m.log.Warn("failures that were looked at are not kept", "error", err)
		}
		return
	}
	var from store.Place
	for more := true; more; {
		p, err := Past(m.o.Dir, from, unseenKept)
		if err != nil {
			m.log.Warn("earlier failures could not be looked for", "error", err)
			return
		}
		from, more = p.Next, !p.All
		for _, v := range p.Runs {
			if !v.Ended.After(u.seen.Since) || len(u.list) == unseenKept {
				return
			}
			known := slices.ContainsFunc(u.list, func(o View) bool { return o.ID == v.ID })
			if v.State.Failed() && !known && !slices.Contains(u.seen.Runs, v.ID) {
				u.list = append(u.list, inZone(v, m.zone))
			}
		}
	}
}
