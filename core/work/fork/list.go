package fork

import (
	"fmt"
	"math"
	"slices"
	"time"

	"ollimbot/core/base/tail"
)

// Rate returns the rate of a task, over all its runs in the ledger.
func (m *Manager) Rate(task string) Rate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rates[task]
}

// Past returns the newest n ended runs of a task, oldest first.
func (m *Manager) Past(task string, n int) ([]View, error) {
	all, err := Ledger(m.o.Dir, math.MaxInt)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(v View) bool { return v.TaskID != task || v.Live() })
	all = all[:min(n, len(all))]
	slices.Reverse(all)
	for i := range all {
		all[i] = inZone(all[i], m.o.Zone)
	}
	return all, nil
}

// Stop ends a queued or running run. The error is a sentence for the user.
func (m *Manager) Stop(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range slices.Concat(m.waiting, m.running) {
		if r.id == id {
			r.stopOnce.Do(func() { close(r.stopped) })
			return nil
		}
	}
	for _, r := range m.finished {
		if r.id == id {
			return fmt.Errorf(textAlreadyEnded, r.status.snapshot().Title)
		}
	}
	for _, v := range m.past {
		if v.ID == id {
			return fmt.Errorf(textAlreadyEnded, v.Title)
		}
	}
	return fmt.Errorf(textNoRun, id)
}

// Place returns the queue position of the next job; 0 if it would start at once.
func (m *Manager) Place() int {
	limit := m.limit()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waiting) == 0 && len(m.running) < limit {
		return 0
	}
	return len(m.waiting) + 1
}

// Views returns every run that a dashboard shows: running ones by start, queued ones with
// their position, then the newest 20 finished.
func (m *Manager) Views() []View {
	m.mu.Lock()
	running, waiting, finished := slices.Clone(m.running), slices.Clone(m.waiting), slices.Clone(m.finished)
	past := m.past
	m.mu.Unlock()
	list := make([]View, 0, len(running)+len(waiting)+keptRuns)
	for _, v := range past { // live runs of another process, if this one does not serve the queue
		if v.Live() {
			list = append(list, v)
		}
	}
	for _, r := range running {
		list = append(list, r.status.snapshot())
	}
	for i, r := range waiting {
		v := r.status.snapshot()
		v.Position = i + 1
		list = append(list, v)
	}
	live := len(list)
	for _, r := range finished {
		list = append(list, r.status.snapshot())
	}
	for _, v := range past {
		if !v.Live() {
			list = append(list, v)
		}
	}
	return list[:min(len(list), live+keptRuns)]
}

// Tail reads a run's lines from a cursor: from memory while it is live and for the newest
// 20 finished runs, otherwise from its tail file. It returns false for an unknown run.
func (m *Manager) Tail(id string, from tail.Cursor) (tail.Page, bool) {
	m.mu.Lock()
	var ring *tail.Ring
	for _, r := range slices.Concat(m.running, m.waiting, m.finished) {
		if r.id == id {
			ring = r.status.ring
		}
	}
	m.mu.Unlock()
	if ring != nil {
		return ring.Read(from), true
	}
	page, err := DiskTail(m.o.Dir, id, from)
	return page, err == nil
}

// oneDay is how far back Ended goes.
const oneDay = 24 * time.Hour

// Ended returns the runs that have ended since a moment of the last day, by end. Callers
// must not modify them.
func (m *Manager) Ended(since time.Time) []View {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.day, func(v View) bool { return !v.Ended.Before(since) })
	if i < 0 {
		return nil
	}
	return m.day[i:len(m.day):len(m.day)]
}
