package schedule

import (
	"cmp"
	"slices"
	"time"
)

const (
	// lateDelay and lateSpacing keep a backlog from starting in a burst.
	lateDelay   = 5 * time.Second
	lateSpacing = 2 * time.Second
)

// itemKey identifies an item of the agenda. A task has at most one next fire and, with
// catchUp, one late run of a missed routine.
type itemKey struct {
	key
	catchUp bool
}

// item is one upcoming fire.
type item struct {
	itemKey
	at       time.Time // the scheduled instant
	when     time.Time // when to act: at, or later if it queues up
	late     bool      // of a reminder: it was already overdue when planned
	missed   int
	forMoney bool // of a reminder: held until when by a spending cap
}

// compare orders items by when, then by scheduled instant, then by task, so that the
// order is deterministic.
func (it item) compare(o item) int {
	return cmp.Or(it.when.Compare(o.when), it.at.Compare(o.at), cmp.Compare(it.kind, o.kind), cmp.Compare(it.id, o.id))
}

// agenda holds the upcoming fires of the loop.
type agenda struct {
	items map[itemKey]item
	slot  time.Time // when the last late task starts
}

func newAgenda() agenda { return agenda{items: map[itemKey]item{}} }

func (a *agenda) put(it item)    { a.items[it.itemKey] = it }
func (a *agenda) drop(k itemKey) { delete(a.items, k) }

// get returns the item with a key, if it exists.
func (a *agenda) get(k itemKey) (item, bool) {
	it, ok := a.items[k]
	return it, ok
}

// next returns when the first item is due, or zero if there are no items.
func (a *agenda) next() (first time.Time) {
	for _, it := range a.items {
		if first.IsZero() || it.when.Before(first) {
			first = it.when
		}
	}
	return first
}

// filter returns the wanted items in order.
func (a *agenda) filter(wanted func(item) bool) (list []item) {
	for _, it := range a.items {
		if wanted(it) {
			list = append(list, it)
		}
	}
	slices.SortFunc(list, item.compare)
	return list
}

// nextSlot returns when the next late task may start.
func (a *agenda) nextSlot(now time.Time) time.Time {
	at := now.Add(lateDelay)
	if next := a.slot.Add(lateSpacing); !a.slot.IsZero() && next.After(at) {
		at = next
	}
	a.slot = at
	return at
}
