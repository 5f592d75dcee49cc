// Package undo remembers the user's changes: what the next undo takes back, what the next
// redo makes again, and what both are called. It must not know how a change is carried out.
package undo

import (
	"cmp"
	"strings"

	"ollimbot/core/command"
)

// Way is a direction through the history.
type Way bool

// The ways.
const (
	Back    Way = false // undo
	Forward Way = true  // redo
)

// Change is one step of the history.
type Change struct {
	Name string // "capacity 5 → 6"; the same for its undo and its redo
	// Step is the command that takes the change back, or makes it again; nil for a change
	// of how the dashboard looks, which is in Look.
	Step command.Value
	Look map[string]string
}

// Short is the beginning of the name, in two words: "capacity 5→6".
func (c Change) Short() string {
	all := strings.Fields(strings.ReplaceAll(cmp.Or(c.Name, "last change"), " → ", "→"))
	return strings.Join(all[:min(2, len(all))], " ")
}

// depth is how many changes can be taken back.
const depth = 50

// History is the changes. The zero History has none.
type History struct {
	back, forward []Change
	fresh         bool // nothing else was done since the latest change
	latest        Way  // in which that one is taken back
}

func (h *History) of(w Way) *[]Change {
	if w == Forward {
		return &h.forward
	}
	return &h.back
}

// Add remembers how to take a new change back. What was taken back before cannot be made
// again then, as it was made in another state.
func (h *History) Add(c Change) {
	h.forward = nil
	h.Put(Back, c)
}

// Settle notes that the user does something else.
func (h *History) Settle() { h.fresh = false }

// Fresh is the way in which the latest change is taken back; ok is false if something else was done since.
func (h *History) Fresh() (w Way, ok bool) {
	_, has := h.Next(h.latest)
	return h.latest, h.fresh && has
}

// Next is the change that an undo or a redo is about; ok is false if there is none.
func (h *History) Next(w Way) (c Change, ok bool) {
	if list := *h.of(w); len(list) > 0 {
		return list[len(list)-1], true
	}
	return c, false
}

// Take takes out the next change, which is about to be carried out.
func (h *History) Take(w Way) (c Change, ok bool) {
	if c, ok = h.Next(w); ok {
		list := h.of(w)
		*list = (*list)[:len(*list)-1]
	}
	return c, ok
}

// Put adds a change without forgetting others: one that was taken back and can be made
// again, or one that could not be carried out.
func (h *History) Put(w Way, c Change) {
	h.fresh, h.latest = true, w
	list := h.of(w)
	*list = append(*list, c)
	*list = (*list)[max(0, len(*list)-depth):]
}
