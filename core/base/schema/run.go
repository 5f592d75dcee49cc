package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
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

// kinds are kinds of values, as bits in the order in which they are named.
type kinds uint8

const (
	null kinds = 1 << iota
	boolean
	number
	integer // a number without a fraction; never the kind of a value
	text
	list
	object
)

// kindNames are what draft 7 calls them, in the order of the bits.
var kindNames = []string{"null", "boolean", "number", "integer", "string", "array", "object"}

func (k kinds) names() []string {
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// kindNamed is 0 for what is no name of a kind.
func kindNamed(name string) kinds {
	return kinds(1<<(slices.Index(kindNames, name)+1)) >> 1
}

// kindOf is 0 for a value that JSON does not know and for a number out of
// bounds.
func kindOf(v any) kinds {
	switch v := v.(type) {
	case nil:
		return null
	case bool:
		return boolean
	case string:
		return text
	case []any:
		return list
	case map[string]any:
		return object
	case json.Number:
		if inBounds(string(v)) {
			return number
		}
	}
	return 0
}

// Bounds of a number's text. Beyond them exact arithmetic costs seconds; every
// float64 is within.
const (
	maxNumber   = 400
	maxExponent = 400
)

// inBounds reports whether a text is a number of JSON within the bounds.
func inBounds(s string) bool {
	if plain(s) {
		return true
	}
	if len(s) > maxNumber || strings.Trim(s, "+-.0123456789eE") != "" || !json.Valid([]byte(s)) {
		return false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exponent, err := strconv.Atoi(s[i+1:])
		return err == nil && exponent <= maxExponent && exponent >= -maxExponent
	}
	return true
}

// plain reports whether a text is a whole number in its shortest form that
// certainly fits an int64.
func plain(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 18 || digits[0] == '0' && s != "0" {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// numeral is a number as JSON writes it. v is of the kind number.
func numeral(v any) string {
	n, _ := v.(json.Number)
	return string(n)
}

// exact is a number without any rounding. v is of the kind number.
func exact(v any) *big.Rat {
	s := numeral(v)
	if plain(s) {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return new(big.Rat).SetInt64(n)
		}
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return new(big.Rat) // kindOf has seen that it is one
	}
	return r
}

// count is a number of things that is not negative.
func count(v any) int {
	if n := exact(v).Num(); n.IsInt64() && n.Int64() <= math.MaxInt {
		return int(n.Int64())
	}
	return math.MaxInt
}

func isInteger(v any) bool {
	s := numeral(v)
	return !strings.ContainsAny(s, ".eE") || exact(v).IsInt()
}

// appendCanonical appends a text that two values share if and only if they are
// equal as draft 7 has it: 1, 1.0 and 10e-1 are, and the order of names does
// not count.
func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 'z')
	case bool:
		if v {
			return append(b, 't')
		}
		return append(b, 'f')
	case string:
		return appendText(b, v)
	case []any:
		b = append(b, '[')
		for _, item := range v {
			b = appendCanonical(b, item)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b = appendCanonical(appendText(b, name), v[name])
		}
		return append(b, '}')
	}
	if kindOf(v) != number {
		return appendText(append(b, '?'), fmt.Sprint(v))
	}
	b = append(b, 'n')
	if s := numeral(v); plain(s) {
		b = append(b, s...)
	} else {
		b = append(b, exact(v).RatString()...)
	}
	return append(b, ';')
}

// appendText puts the length in front, so that no text can look like the end of
// another.
func appendText(b []byte, s string) []byte {
	b = strconv.AppendInt(append(b, 's'), int64(len(s)), 10)
	return append(append(b, ':'), s...)
}
