package schema

import (
	"maps"
	"math/big"
	"regexp"
	"slices"
	"unicode/utf8"
)

func ofType(want any) rule {
	list, several := want.([]any)
	if !several {
		list = []any{want}
	}
	var types kinds
	for _, name := range list {
		types |= kindNamed(name.(string))
	}
	return func(r *run, v any) bool {
		kind := kindOf(v)
		if types&kind != 0 || types&integer != 0 && kind == number && isInteger(v) {
			return true
		}
		return r.fail(Problem{Keyword: "type", Want: types.names(), Kind: kind.names()[0]})
	}
}

func among(keyword string, want any, allowed []any) rule {
	keys := make(map[string]bool, len(allowed))
	for _, v := range allowed {
		keys[string(appendCanonical(nil, v))] = true
	}
	return func(r *run, v any) bool {
		r.buffer = appendCanonical(r.buffer[:0], v)
		if r.spend(len(r.buffer)/stepBytes) && keys[string(r.buffer)] {
			return true
		}
		return r.fail(Problem{Keyword: keyword, Want: want})
	}
}

// amount checks the counts of min… and max… keywords.
func amount(keyword string, bound int) rule {
	what, least := keyword[3:], keyword[:3] == "min"
	return func(r *run, v any) bool {
		var n int
		switch v := v.(type) {
		case string:
			if what != "Length" {
				return true
			}
			n = utf8.RuneCountInString(v)
		case []any:
			if what != "Items" {
				return true
			}
			n = len(v)
		case map[string]any:
			if what != "Properties" {
				return true
			}
			n = len(v)
		default:
			return true
		}
		if least && n >= bound || !least && n <= bound {
			return true
		}
		return r.fail(Problem{Keyword: keyword, Want: bound, Count: n})
	}
}

func bounded(keyword string, want any) rule {
	bound := exact(want)
	var fits func(n *big.Rat) bool
	switch keyword {
	case "minimum":
		fits = func(n *big.Rat) bool { return n.Cmp(bound) >= 0 }
	case "maximum":
		fits = func(n *big.Rat) bool { return n.Cmp(bound) <= 0 }
	case "exclusiveMinimum":
		fits = func(n *big.Rat) bool { return n.Cmp(bound) > 0 }
	case "exclusiveMaximum":
		fits = func(n *big.Rat) bool { return n.Cmp(bound) < 0 }
	default:
		fits = func(n *big.Rat) bool { return n.Quo(n, bound).IsInt() }
	}
	return func(r *run, v any) bool {
		if kindOf(v) != number || r.spend(1+len(numeral(v))/8) && fits(exact(v)) { // large numbers cost more
			return true
		}
		return r.fail(Problem{Keyword: keyword, Want: want})
	}
}

func matches(pattern *regexp.Regexp) rule {
	return func(r *run, v any) bool {
		s, ok := v.(string)
		if !ok || r.spend(len(s)/stepBytes) && pattern.MatchString(s) {
			return true
		}
		return r.fail(Problem{Keyword: "pattern", Want: pattern.String()})
	}
}

// onObject is a rule that applies to objects only.
func onObject(f func(r *run, v map[string]any) bool) rule {
	return func(r *run, v any) bool {
		object, ok := v.(map[string]any)
		return !ok || f(r, object)
	}
}

func onList(f func(r *run, v []any) bool) rule {
	return func(r *run, v any) bool {
		list, ok := v.([]any)
		return !ok || f(r, list)
	}
}

func required(want []any) rule {
	return onObject(func(r *run, v map[string]any) bool {
		ok := r.spend(len(want) / 8)
		for _, w := range want {
			name := w.(string)
			if _, given := v[name]; !given {
				ok = r.fail(Problem{Keyword: "required"}, name)
			}
		}
		return ok
	})
}

func properties(list []property) rule {
	return onObject(func(r *run, v map[string]any) bool {
		ok := r.spend(len(list) / 8)
		for i := range list {
			if r.over(ok) {
				return false
			}
			if inner, given := v[list[i].name]; given {
				ok = r.inside(list[i].node, inner, step{name: &list[i].name}) && ok
			}
		}
		return ok
	})
}

// match reports whether a name matches a property.
func (r *run) match(p property, name string) bool {
	return r.spend(1+len(name)/stepBytes) && p.matches.MatchString(name)
}

// each checks the names of an object in sorted order, so that the same document takes the
// same number of steps.
func (r *run) each(v map[string]any, f func(name string) bool) bool {
	ok := true
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if r.over(ok) {
			return false
		}
		ok = f(name) && ok
	}
	return ok
}

func byPattern(list []property) rule {
	return onObject(func(r *run, v map[string]any) bool {
		return r.each(v, func(name string) bool {
			ok := true
			for _, p := range list {
				if r.match(p, name) {
					ok = r.inside(p.node, v[name], step{name: &name}) && ok
				}
			}
			return ok
		})
	})
}

func additional(declared map[string]any, patterns []property, n *node) rule {
	return onObject(func(r *run, v map[string]any) bool {
		return r.each(v, func(name string) bool {
			_, known := declared[name]
			switch {
			case known || slices.ContainsFunc(patterns, func(p property) bool { return r.match(p, name) }):
				return true
			case n.never:
				return r.fail(Problem{Keyword: "additionalProperties"}, name)
			}
			return r.inside(n, v[name], step{name: &name})
		})
	})
}

// names checks all property names and reports a single problem.
func names(n *node) rule {
	return onObject(func(r *run, v map[string]any) bool {
		r.quiet++
		ok := r.each(v, func(name string) bool { return r.inside(n, name, step{name: &name}) })
		r.quiet--
		return ok || r.fail(Problem{Keyword: "propertyNames"})
	})
}

// dependencies checks the requirements of present properties: other properties, or a
// schema.
func dependencies(needs map[string]any, schemas []property) rule {
	return onObject(func(r *run, v map[string]any) bool {
		ok := true
		for _, name := range slices.Sorted(maps.Keys(needs)) {
			list, _ := needs[name].([]any)
			lacks := func(other any) bool { _, has := v[other.(string)]; return !has }
			if _, given := v[name]; given && slices.ContainsFunc(list, lacks) {
				ok = r.fail(Problem{Keyword: "dependencies"})
			}
		}
		for _, p := range schemas {
			if _, given := v[p.name]; given && !r.over(ok) {
				ok = r.check(p.node, v) && ok
			}
		}
		return ok
	})
}

// unique reports whether no two items are equal.
func unique(wanted bool) rule {
	return onList(func(r *run, v []any) bool {
		if !wanted {
			return true
		}
		seen := make(map[string]bool, len(v))
		for _, item := range v {
			r.buffer = appendCanonical(r.buffer[:0], item)
			if seen[string(r.buffer)] || !r.spend(1+len(r.buffer)/stepBytes) {
				return r.fail(Problem{Keyword: "uniqueItems"})
			}
			seen[string(r.buffer)] = true
		}
		return true
	})
}

// items checks the first items against one schema each and the rest against rest, which
// may be nil. If a keyword forbids the rest, that is one problem.
func items(first []*node, rest *node, forbids string) rule {
	return onList(func(r *run, v []any) bool {
		ok := true
		if forbids != "" && rest != nil && rest.never && len(v) > len(first) {
			ok = r.fail(Problem{Keyword: forbids})
			v = v[:len(first)]
		}
		for i, item := range v {
			if r.over(ok) {
				return false
			}
			n := rest
			if i < len(first) {
				n = first[i]
			}
			if n != nil {
				ok = r.inside(n, item, step{item: i}) && ok
			}
		}
		return ok
	})
}

func contains(n *node) rule {
	return onList(func(r *run, v []any) bool {
		r.quiet++
		found := false
		for i := 0; i < len(v) && !found && !r.stopped(); i++ {
			found = r.inside(n, v[i], step{item: i})
		}
		r.quiet--
		return found || r.fail(Problem{Keyword: "contains"})
	})
}

func not(n *node) rule {
	return func(r *run, v any) bool { return !r.fits(n, v) || r.fail(Problem{Keyword: "not"}) }
}

func allOf(list []*node) rule {
	return func(r *run, v any) bool {
		ok := true
		for _, n := range list {
			if r.over(ok) {
				return false
			}
			ok = r.check(n, v) && ok
		}
		return ok
	}
}

func anyOf(list []*node) rule {
	return func(r *run, v any) bool {
		return slices.ContainsFunc(list, func(n *node) bool { return r.fits(n, v) }) || r.fail(Problem{Keyword: "anyOf"})
	}
}

func oneOf(list []*node) rule {
	return func(r *run, v any) bool {
		found := 0
		for _, n := range list {
			if found < 2 && r.fits(n, v) {
				found++
			}
		}
		return found == 1 || r.fail(Problem{Keyword: "oneOf"})
	}
}

func condition(when, yes, noes *node) rule {
	return func(r *run, v any) bool {
		next := noes
		if r.fits(when, v) {
			next = yes
		}
		return next == nil || r.check(next, v)
	}
}
