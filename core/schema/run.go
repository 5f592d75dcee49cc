package schema

import (
	"slices"
	"strconv"
)

// Bounds of the work for one document. A payload of the largest size against an
// ordinary schema takes some ten thousand steps.
const (
	maxSteps    = 1 << 18
	maxProblems = 4096
	// stepBytes is how much text is compared or matched in one step.
	stepBytes = 64
)

// run is the judgement of one document.
type run struct {
	refs     bool
	quiet    int // above 0 only the verdict counts, and ends at the first problem
	left     int // steps; below 0 there are none
	problems []Problem
	path     []step
	// active are the schemas under way, and from mark on those for the value
	// under way: one that comes twice would come for ever.
	active []*node
	mark   int
	buffer []byte
}

// step is one step of a path: a name or, if name is nil, an item.
type step struct {
	name *string
	item int
}

// check reports whether a value fits, and notes what is wrong unless the run is
// quiet.
func (r *run) check(n *node, v any) bool {
	if !r.spend(1) {
		return false
	}
	if n.never {
		return r.fail(Problem{Keyword: False})
	}
	if !r.refs {
		return r.judge(n, v)
	}
	if slices.Contains(r.active[r.mark:], n) {
		return r.fail(Problem{Keyword: "$ref"})
	}
	r.active = append(r.active, n)
	ok := r.judge(n, v)
	r.active = r.active[:len(r.active)-1]
	return ok
}

// fits is check without notes.
func (r *run) fits(n *node, v any) bool {
	r.quiet++
	ok := r.check(n, v)
	r.quiet--
	return ok
}

// inside checks something in the value under way.
func (r *run) inside(n *node, v any, s step) bool {
	mark := r.mark
	r.mark = len(r.active)
	r.path = append(r.path, s)
	ok := r.check(n, v)
	r.path = r.path[:len(r.path)-1]
	r.mark = mark
	return ok
}

// over reports whether the rest does not matter any more.
func (r *run) over(ok bool) bool {
	return !ok && r.quiet > 0 || r.stopped()
}

func (r *run) stopped() bool { return r.left < 0 || len(r.problems) >= maxProblems }

// spend counts steps; false when there are none left.
func (r *run) spend(steps int) bool {
	r.left -= steps
	return !r.stopped()
}

// fail notes a problem with the value under way or, where names follow, with
// what they lead to from there. It returns false.
func (r *run) fail(p Problem, names ...string) bool {
	if r.quiet > 0 || r.stopped() {
		return false
	}
	p.Path = make([]string, 0, len(r.path)+len(names))
	for _, s := range r.path {
		if s.name != nil {
			p.Path = append(p.Path, *s.name)
		} else {
			p.Path = append(p.Path, strconv.Itoa(s.item))
		}
	}
	p.Path = append(p.Path, names...)
	r.problems = append(r.problems, p)
	return false
}

// judge applies the rules of a schema. A value of the wrong kind, or none of
// those allowed, has that one problem.
func (r *run) judge(n *node, v any) bool {
	if n.to != nil {
		return r.check(n.to, v)
	}
	if kindOf(v) == 0 {
		return r.fail(Problem{Keyword: False})
	}
	for _, keeps := range n.kinds {
		if !keeps(r, v) {
			return false
		}
	}
	ok := true
	for _, keeps := range n.rules {
		if r.over(ok) {
			return false
		}
		ok = keeps(r, v) && ok
	}
	return ok
}
