package routines

import (
	"cmp"
	"container/heap"
	"time"
)

// item is one thing to come.
type item struct {
	key
	at     time.Time // the scheduled instant
	when   time.Time // when to act: at, or later where it queues up
	makeup bool      // the late run of a missed routine, beside its next fire
	late   bool      // of a reminder: it was overdue when it was planned
	missed int

	index int // in the heap
}

// spot is what there can be one of in the plan.
type spot struct {
	key
	makeup bool
}

func (it item) spot() spot { return spot{it.key, it.makeup} }

// plan holds what is to come, the next first. The zero plan is empty.
type plan struct {
	heap  items
	known map[spot]*item
}

// put adds an item, in the place of the one that was there.
func (p *plan) put(it item) {
	if p.known == nil {
		p.known = map[spot]*item{}
	}
	if old, ok := p.known[it.spot()]; ok {
		it.index = old.index
		*old = it
		heap.Fix(&p.heap, old.index)
		return
	}
	kept := &it
	p.known[it.spot()] = kept
	heap.Push(&p.heap, kept)
}

func (p *plan) drop(at spot) {
	if it, ok := p.known[at]; ok {
		delete(p.known, at)
		heap.Remove(&p.heap, it.index)
	}
}

func (p *plan) has(at spot) bool {
	_, ok := p.known[at]
	return ok
}

func (p *plan) get(at spot) (item, bool) {
	if it, ok := p.known[at]; ok {
		return *it, true
	}
	return item{}, false
}

// next is when the first item wants to be acted on.
func (p *plan) next() (time.Time, bool) {
	if len(p.heap) == 0 {
		return time.Time{}, false
	}
	return p.heap[0].when, true
}

// pop takes the first item out if its time has come.
func (p *plan) pop(now time.Time) (item, bool) {
	if len(p.heap) == 0 || p.heap[0].when.After(now) {
		return item{}, false
	}
	it := *p.heap[0]
	p.drop(it.spot())
	return it, true
}

// items is a heap by time; equal times go by scheduled instant, then by task,
// so that the order is the same every time.
type items []*item

func (h items) Len() int { return len(h) }

func (h items) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(a.when.Compare(b.when), a.at.Compare(b.at), cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id)) < 0
}

func (h items) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *items) Push(v any) {
	it := v.(*item)
	it.index = len(*h)
	*h = append(*h, it)
}

func (h *items) Pop() any {
	last := len(*h) - 1
	it := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return it
}
