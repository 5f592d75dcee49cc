package schema

import (
	"maps"
	"math/big"
	"slices"
	"unicode/utf8"
)

func (r *run) object(o *objectRules, v map[string]any) bool {
	ok := r.amount("Properties", len(v), o.least, o.most)
	for _, name := range o.required {
		if _, given := v[name]; !given {
			ok = r.fail(Problem{Keyword: "required"}, name)
		}
	}
	if r.over(ok) || !r.spend((len(o.required)+len(o.properties))/8) {
		return false
	}
	for _, d := range o.dependencies {
		if _, given := v[d.name]; given {
			ok = r.dependency(d, v) && ok
		}
	}
	declared := 0
	for i := range o.properties {
		p := &o.properties[i]
		inner, given := v[p.name]
		if !given {
			continue
		}
		if r.over(ok) {
			return false
		}
		declared++
		ok = r.inside(p.node, inner, step{name: &p.name}) && ok
	}
	if len(o.patterns) == 0 && (o.additional == nil || declared == len(v)) && o.names == nil {
		return ok
	}
	return r.byName(o, v) && ok
}

// byName applies the rules that depend on the names of the object.
func (r *run) byName(o *objectRules, v map[string]any) bool {
	ok, badName := true, false
	for _, name := range slices.Sorted(maps.Keys(v)) { // sorted: the same document takes the same steps
		if r.over(ok) {
			return false
		}
		known := o.declared[name]
		for _, p := range o.patterns {
			if !r.spend(1 + len(name)/stepBytes) {
				return false
			}
			if p.pattern.MatchString(name) {
				known = true
				ok = r.inside(p.node, v[name], step{name: &name}) && ok
			}
		}
		switch {
		case known || o.additional == nil:
		case o.additional.never:
			ok = r.fail(Problem{Keyword: "additionalProperties"}, name)
		default:
			ok = r.inside(o.additional, v[name], step{name: &name}) && ok
		}
		badName = badName || o.names != nil && !r.named(o.names, name)
	}
	if badName { // one problem for all of them
		ok = r.fail(Problem{Keyword: "propertyNames"})
	}
	return ok
}

// named holds the name of a property against a schema.
func (r *run) named(n *node, name string) bool {
	r.quiet++
	ok := r.inside(n, name, step{name: &name})
	r.quiet--
	return ok
}

func (r *run) dependency(d dependency, v map[string]any) bool {
	if d.node != nil {
		return r.check(d.node, v)
	}
	for _, name := range d.required {
		if _, given := v[name]; !given {
			return r.fail(Problem{Keyword: "dependencies"})
		}
	}
	return true
}

func (r *run) list(l *listRules, v []any) bool {
	ok := r.amount("Items", len(v), l.least, l.most)
	if l.unique && !r.over(ok) && !r.distinct(v) {
		ok = r.fail(Problem{Keyword: "uniqueItems"})
	}
	if l.rest != nil && l.rest.never && len(v) > len(l.first) { // one problem for all of them
		ok = r.fail(Problem{Keyword: "additionalItems"})
	}
	for i, item := range v {
		if r.over(ok) {
			return false
		}
		switch at := (step{item: i}); {
		case l.each != nil:
			ok = r.inside(l.each, item, at) && ok
		case i < len(l.first):
			ok = r.inside(l.first[i], item, at) && ok
		case l.rest != nil && !l.rest.never:
			ok = r.inside(l.rest, item, at) && ok
		}
	}
	return r.contains(l, v) && ok
}

func (r *run) contains(l *listRules, v []any) bool {
	if l.contains == nil {
		return true
	}
	r.quiet++
	found := false
	for i := 0; i < len(v) && !found && !r.stopped(); i++ {
		found = r.inside(l.contains, v[i], step{item: i})
	}
	r.quiet--
	return found || r.fail(Problem{Keyword: "contains"})
}

// distinct reports whether no two items are equal.
func (r *run) distinct(v []any) bool {
	seen := make(map[string]bool, len(v))
	for _, item := range v {
		r.buffer = appendCanonical(r.buffer[:0], item)
		if seen[string(r.buffer)] || !r.spend(1+len(r.buffer)/stepBytes) {
			return false
		}
		seen[string(r.buffer)] = true
	}
	return true
}

func (r *run) text(t *textRules, v string) bool {
	ok := r.amount("Length", utf8.RuneCountInString(v), t.least, t.most)
	if t.pattern == nil || r.over(ok) || !r.spend(len(v)/stepBytes) {
		return ok
	}
	if !t.pattern.MatchString(v) {
		ok = r.fail(Problem{Keyword: "pattern", Want: t.pattern.String()})
	}
	return ok
}

// amount checks how many there are of what min… and max… count.
func (r *run) amount(what string, n, least, most int) bool {
	ok := true
	if n < least {
		ok = r.fail(Problem{Keyword: "min" + what, Want: least, Count: n})
	}
	if n > most {
		ok = r.fail(Problem{Keyword: "max" + what, Want: most, Count: n})
	}
	return ok
}

func (r *run) number(n *numberRules, v any) bool {
	if !r.spend(1 + len(numeral(v))/8) { // large ones cost more
		return false
	}
	value := exact(v)
	ok := true
	refuse := func(keyword string, b *bound, wrong func(*big.Rat) bool) {
		if b != nil && wrong(b.value) {
			ok = r.fail(Problem{Keyword: keyword, Want: b.want})
		}
	}
	refuse("minimum", n.minimum, func(b *big.Rat) bool { return value.Cmp(b) < 0 })
	refuse("maximum", n.maximum, func(b *big.Rat) bool { return value.Cmp(b) > 0 })
	refuse("exclusiveMinimum", n.above, func(b *big.Rat) bool { return value.Cmp(b) <= 0 })
	refuse("exclusiveMaximum", n.below, func(b *big.Rat) bool { return value.Cmp(b) >= 0 })
	refuse("multipleOf", n.multiple, func(b *big.Rat) bool { return !new(big.Rat).Quo(value, b).IsInt() })
	return ok
}
