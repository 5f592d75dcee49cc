package routines

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/store"
)

// holdsFile is ours alone; the original program does not know it.
const holdsFile = store.StateDir + "/holds.json"

// holdBook is state/holds.json.
type holdBook struct {
	// order makes changes follow each other. It is held over the file's writing,
	// because that is what it orders.
	order sync.Mutex
	now   atomic.Pointer[Holds]
}

// holdEntry is one hold in the file.
type holdEntry struct {
	Kind   Kind      `json:"kind"`
	ID     string    `json:"id"`
	Since  time.Time `json:"since,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	Paused bool      `json:"paused,omitempty"`
	Gone   time.Time `json:"gone,omitzero"`
}

type holdList struct {
	Holds []holdEntry `json:"holds"`
}

// peek reads the file once and leaves it as it is: whoever only looks takes a
// file that cannot be understood as empty.
func (b *holdBook) peek(d *store.Dir) {
	b.order.Lock()
	defer b.order.Unlock()
	if b.now.Load() != nil {
		return
	}
	var list holdList
	_, _ = d.PeekJSON(holdsFile, &list) // the loop reports what is wrong with it
	b.replace(list.holds())
}

// read reads the file for whoever is going to replace it.
func (b *holdBook) read(d *store.Dir) error {
	b.order.Lock()
	defer b.order.Unlock()
	var list holdList
	_, err := d.ReadJSON(holdsFile, &list)
	b.replace(list.holds())
	return err
}

// replace puts other holds in force; what waits for the user stays as it is. The
// caller holds order.
func (b *holdBook) replace(next *Holds) {
	if old := b.now.Load(); old != nil {
		next.waits = old.waits
	}
	b.now.Store(next)
}

// wait puts other reasons in force.
func (b *holdBook) wait(waits map[key]string) {
	b.order.Lock()
	defer b.order.Unlock()
	next := &Holds{waits: waits}
	if old := b.now.Load(); old != nil {
		next.of = old.of
	}
	b.now.Store(next)
}

// holds takes over what makes sense of a file.
func (l holdList) holds() *Holds {
	h := &Holds{of: make(map[key]held, len(l.Holds))}
	for _, e := range l.Holds {
		known := e.Kind == KindRoutine || e.Kind == KindReminder
		if !known || !ValidID(e.ID) || !e.Paused && e.Until.IsZero() {
			continue
		}
		if e.Paused {
			e.Until = time.Time{}
		}
		h.of[key{e.Kind, e.ID}] = held{Hold{Since: e.Since, Until: e.Until, Paused: e.Paused}, e.Gone}
	}
	return h
}

// change replaces the holds by what do makes of a copy. When they cannot be
// written, they stay as they were, unless they are to change in any case.
func (b *holdBook) change(d *store.Dir, inAnyCase bool, do func(map[key]held)) error {
	b.order.Lock()
	defer b.order.Unlock()
	next := &Holds{of: map[key]held{}}
	if old := b.now.Load(); old != nil {
		maps.Copy(next.of, old.of)
	}
	do(next.of)
	err := next.write(d)
	if err == nil || inAnyCase {
		b.replace(next)
	}
	return err
}

func (h *Holds) write(d *store.Dir) error {
	if len(h.of) == 0 {
		return d.Remove(holdsFile)
	}
	list := holdList{Holds: make([]holdEntry, 0, len(h.of))}
	for k, one := range h.of {
		list.Holds = append(list.Holds, holdEntry{k.kind, k.id, one.Since, one.Until, one.Paused, one.gone})
	}
	slices.SortFunc(list.Holds, func(a, b holdEntry) int {
		return strings.Compare(a.ID+string(a.Kind), b.ID+string(b.Kind))
	})
	return d.WriteJSON(holdsFile, list)
}
