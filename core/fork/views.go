package fork

import (
	"fmt"
	"slices"

	"ollimbot/core/tail"
)

// Stop ends a waiting or running run. The error is a sentence for people.
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
			return fmt.Errorf(textAlreadyEnded, r.snapshot().Title)
		}
	}
	for _, v := range m.past {
		if v.ID == id {
			return fmt.Errorf(textAlreadyEnded, v.Title)
		}
	}
	return fmt.Errorf(textNoRun, id)
}

// Views is every run that a dashboard shows: running ones in order of start,
// waiting ones with their position, then the newest 20 finished.
func (m *Manager) Views() []View {
	m.mu.Lock()
	running, waiting, finished := slices.Clone(m.running), slices.Clone(m.waiting), slices.Clone(m.finished)
	past := m.past
	m.mu.Unlock()
	list := make([]View, 0, len(running)+len(waiting)+keptRuns)
	for _, v := range past { // another program's live runs, when this one does not serve
		if v.Live() {
			list = append(list, v)
		}
	}
	for _, r := range running {
		list = append(list, r.snapshot())
	}
	for i, r := range waiting {
		v := r.snapshot()
		v.Position = i + 1
		list = append(list, v)
	}
	live := len(list)
	for _, r := range finished {
		list = append(list, r.snapshot())
	}
	for _, v := range past {
		if !v.Live() {
			list = append(list, v)
		}
	}
	return list[:min(len(list), live+keptRuns)]
}

// Tail reads a run's lines from a cursor: from memory while it lives and for
// the newest 20 finished, otherwise from the file of its tail. False means
// that nothing is known of the run.
func (m *Manager) Tail(id string, from tail.Cursor) (tail.Page, bool) {
	m.mu.Lock()
	var ring *tail.Ring
	for _, r := range slices.Concat(m.running, m.waiting, m.finished) {
		if r.id == id {
			ring = r.ring
		}
	}
	m.mu.Unlock()
	if ring != nil {
		return ring.Read(from), true
	}
	page, err := DiskTail(m.o.Dir, id, from)
	return page, err == nil
}
