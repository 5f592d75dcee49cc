package routines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/clean"
)

// settle works out who is in force after the files changed: it keeps the claims
// on ids, adds what came and went to c, and returns the new shelf.
func (f *folder[T]) settle(changed []*file[T], old shelf[T], c *Change) shelf[T] {
	ids := map[string]bool{}
	for _, one := range changed {
		f.claim(one, ids)
	}
	var swaps []swap[T]
	for id := range ids {
		claims := f.claims[id]
		f.prefer(claims)
		if len(claims) > 1 {
			f.doubles[id] = true
		} else {
			delete(f.doubles, id)
		}
		was := f.live[id]
		var now *T
		if len(claims) > 0 {
			now = claims[0].good
			claims[0].holds = true
		}
		switch {
		case was == now:
			continue
		case now == nil:
			delete(f.live, id)
			c.Removed = append(c.Removed, id)
		case was == nil:
			f.live[id] = now
			c.Added = append(c.Added, id)
		default:
			f.live[id] = now
			c.Updated = append(c.Updated, id)
		}
		swaps = append(swaps, swap[T]{old: was, new: now})
	}
	return old.with(swaps, f.task)
}

// claim moves a file's claim from the id that it carried to the one that it
// carries now, and notes both in ids.
func (f *folder[T]) claim(one *file[T], ids map[string]bool) {
	id := ""
	if one.good != nil && !one.gone {
		id = f.task(one.good).ID
	}
	if one.claimed != "" && one.claimed != id {
		one.holds = false
		left := slices.DeleteFunc(f.claims[one.claimed], func(o *file[T]) bool { return o == one })
		if len(left) == 0 {
			delete(f.claims, one.claimed)
		} else {
			f.claims[one.claimed] = left
		}
		ids[one.claimed] = true
	}
	if id != "" && one.claimed != id {
		f.claims[id] = append(f.claims[id], one)
	}
	if id != "" {
		ids[id] = true
	}
	one.claimed = id
	if one.gone || len(one.problems) == 0 {
		delete(f.troubled, one)
	} else {
		f.troubled[one] = true
	}
}

// prefer puts the file first that stays in force: the one that is, or that was
// when the program ended, whatever the names of the others. Without such a one it
// goes by name.
func (f *folder[T]) prefer(claims []*file[T]) {
	if len(claims) < 2 {
		return
	}
	rank := func(one *file[T]) int {
		switch {
		case one.holds:
			return 0
		case slices.Contains(f.before, one.rel):
			return 1
		}
		return 2
	}
	slices.SortFunc(claims, func(a, b *file[T]) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.name, b.name))
	})
}

// contested are the files in force whose id another file carries too.
func (f *folder[T]) contested() []string {
	var list []string
	for id := range f.doubles {
		list = append(list, f.claims[id][0].rel)
	}
	return list
}

// troubles lists what is wrong in the folder.
func (f *folder[T]) troubles() []Problem {
	list := slices.Clone(f.wrong)
	for one := range f.troubled {
		for i, p := range one.problems {
			if i == 0 && one.bad && one.good != nil {
				p.Message += msgLastGood
			}
			list = append(list, p)
		}
	}
	for id := range f.doubles {
		first := f.claims[id][0]
		for _, one := range f.claims[id][1:] {
			list = append(list, Problem{
				File: one.rel, Severity: Error,
				Message: clean.Line(fmt.Sprintf(msgDouble, one.rel, id, first.rel)),
			})
		}
	}
	slices.SortFunc(list, func(a, b Problem) int {
		if c := byWeight(a, b); c != 0 {
			return c
		}
		return strings.Compare(a.Message, b.Message)
	})
	return list
}
