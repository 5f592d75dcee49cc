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

// Limits of the work for one document. Validating the largest payload against an ordinary
// schema takes about ten thousand steps.
const (
	maxSteps    = 1 << 18
	maxProblems = 4096
	// stepBytes is the amount of text compared or matched in one step.
	stepBytes = 64
)

// run is the validation of one document.
type run struct {
	refs     bool
	quiet    int // above 0, only the verdict counts, and checking stops at the first problem
	left     int // remaining steps; negative if exhausted
	problems []Problem
	path     []step
	// active are the schemas being checked, those from mark on for the current value. One
	// that occurs twice would recurse forever.
	active []*node
	mark   int
	buffer []byte
}

// step is one step of a path: a name or, if name is nil, an item.
type step struct {
	name *string
	item int
}

// check reports whether a value is valid, and records problems unless the run is quiet.
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

// fits is check without recording problems.
func (r *run) fits(n *node, v any) bool {
	r.quiet++
	ok := r.check(n, v)
	r.quiet--
	return ok
}

// inside checks a part of the current value.
func (r *run) inside(n *node, v any, s step) bool {
	mark := r.mark
	r.mark = len(r.active)
	r.path = append(r.path, s)
	ok := r.check(n, v)
	r.path = r.path[:len(r.path)-1]
	r.mark = mark
	return ok
}

// over reports whether the remaining checks are irrelevant.
func (r *run) over(ok bool) bool {
	return !ok && r.quiet > 0 || r.stopped()
}

func (r *run) stopped() bool { return r.left < 0 || len(r.problems) >= maxProblems }

// spend uses up steps. It returns false if none are left.
func (r *run) spend(steps int) bool {
	r.left -= steps
	return !r.stopped()
}

// fail records a problem with the current value or, if names are given, with the
// descendant at that path. It returns false.
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

// judge applies the rules of a schema. If a value has the wrong type or is not an allowed
// one, that is its only problem.
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

// kinds is a set of value types, as bits in naming order.
type kinds uint8

const (
	null kinds = 1 << iota
	boolean
	number
	integer // a number without a fraction; never the type of a value
	text
	list
	object
)

// kindNames are the draft 7 names, in the order of the bits.
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

// kindNamed returns 0 for an unknown name.
func kindNamed(name string) kinds {
	return kinds(1<<(slices.Index(kindNames, name)+1)) >> 1
}

// kindOf returns 0 for a non-JSON value and for a number out of bounds.
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

// Limits of a number's text. Beyond them exact arithmetic takes seconds. Every float64 is
// within them.
const (
	maxNumber   = 400
	maxExponent = 400
)

// inBounds reports whether a text is a JSON number within the limits.
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

// plain reports whether a text is a whole number in its shortest form that certainly fits
// an int64.
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

// numeral returns the JSON text of a number. v must be a number.
func numeral(v any) string {
	n, _ := v.(json.Number)
	return string(n)
}

// exact returns a number without rounding. v must be a number.
func exact(v any) *big.Rat {
	s := numeral(v)
	if plain(s) {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return new(big.Rat).SetInt64(n)
		}
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return new(big.Rat) // kindOf has already validated it
	}
	return r
}

// count returns a non-negative number of things.
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

// appendCanonical appends a text that is the same for two values if and only if they are
// equal by draft 7: 1, 1.0 and 10e-1 are equal, and the order of names does not matter.
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

// appendText prepends the length, so that no text can look like the end of another.
func appendText(b []byte, s string) []byte {
	b = strconv.AppendInt(append(b, 's'), int64(len(s)), 10)
	return append(append(b, ':'), s...)
}
