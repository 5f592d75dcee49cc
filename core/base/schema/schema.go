package schema

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"

	"ollimbot/core/base/clean"
)

// maxDepth bounds how deep a schema may nest, in keywords and names.
const maxDepth = 200

// Schema is a schema that was read. It does not change, so that any number of
// goroutines may use it.
type Schema struct {
	root *node
	refs bool // some part refers to another, which may lead back
}

// Compile reads a decoded schema: what encoding/json makes of one with
// UseNumber. It keeps parts of the value, which must not be changed afterwards.
// An error is an *Error; of several mistakes it is the first in the order of the
// names.
//
// Other than the draft it takes no reference to an address or an anchor, and
// below the top no $id that would move what references mean. A $ref makes
// everything beside it void, as the draft says, but not exempt from being
// well-formed.
func Compile(value any) (*Schema, error) {
	rules, err := draft7()
	if err != nil {
		return nil, err
	}
	return build(value, rules)
}

//go:embed draft7.json
var draft7Text []byte

// draft7 is what draft 7 asks of a schema, as a schema; conditions stand where
// the draft has anyOf, so that a problem has the place of the mistake.
var draft7 = sync.OnceValues(func() (*Schema, error) {
	value, err := decode(draft7Text)
	if err != nil {
		return nil, fmt.Errorf("read the schema of draft 7: %w", err)
	}
	return build(value, nil)
})

// decode reads exactly one JSON value as Compile and Validate take it: numbers are
// kept as they are written.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return value, nil
}

// Validate holds a decoded document against the schema; the value is of the
// kind that Compile takes. Nothing is returned where the document fits. The
// problems come in the order of their paths. Work is bounded: a document that
// costs more than maxSteps steps has the one problem Exhausted, and after
// maxProblems problems no more are looked for.
func (s *Schema) Validate(value any) []Problem { return s.validate(value, maxSteps) }

func (s *Schema) validate(value any, steps int) []Problem {
	r := run{refs: s.refs, left: steps}
	fits := r.check(s.root, value)
	if r.left < 0 { // whatever the verdict: below a "not" giving up looks like a fit
		return []Problem{{Keyword: Exhausted}}
	}
	if fits {
		return nil
	}
	sortProblems(r.problems)
	return r.problems
}

// inspect refuses the value at a path if it is no schema.
func (s *Schema) inspect(value any, path []string) error {
	if s == nil { // draft 7 itself
		return nil
	}
	problems := s.validate(value, math.MaxInt)
	if len(problems) == 0 {
		return nil
	}
	p := problems[0]
	p.Path = below(path, p.Path...)
	return &Error{Pointer: pointer(p.Path), Problem: p}
}

// Keywords of problems that draft 7 has no keyword for.
const (
	// False is that of a part that no document can fit: the schema false, or a
	// value that JSON does not know.
	False = ""
	// Exhausted is that of a document that takes too many steps to judge.
	Exhausted = "(steps)"
)

// Problem is one thing that is wrong with a document. It holds no value of it,
// but names, which its author chose.
type Problem struct {
	// Path are the steps from the document to what is wrong: names, and numbers
	// of items. That of a missing or forbidden property ends with its name.
	Path []string
	// Keyword is what was violated, False or Exhausted. A reference that leads
	// back to itself violates "$ref".
	Keyword string
	// Want is what the schema asks for: []string of "type", in a fixed order;
	// []any of "enum"; the value of "const"; an int where something is counted;
	// the number as it was written of a bound; the text of "pattern". It is nil
	// otherwise.
	Want any
	// Kind is what the value is, with "type": "null", "boolean", "number",
	// "string", "array" or "object".
	Kind string
	// Count is how many characters, items or properties there are, where Want
	// counts them.
	Count int
}

func sortProblems(list []Problem) {
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(slices.Compare(a.Path, b.Path), cmp.Compare(a.Keyword, b.Keyword))
	})
}

// Reason is what kind of mistake keeps a schema from being read.
type Reason int

// The reasons.
const (
	Malformed Reason = iota // not what draft 7 allows there
	Pattern                 // a regular expression that Go does not know
	Remote                  // a reference that leads out of the schema, or to an anchor
	Lost                    // a reference that leads nowhere
	ID                      // an $id that moves what references mean
	Draft                   // a $schema of another draft
	Deep                    // nested beyond maxDepth
)

// Error is why a schema is not read.
type Error struct {
	// Pointer is the place in the schema, a JSON pointer; empty for all of it.
	Pointer string
	Reason  Reason
	// Problem is what is wrong with the schema as a document, if it is Malformed.
	Problem Problem
	// Text is the pattern, the reference or the address that cannot be used.
	Text string
}

// Error names the place and what is refused; who shows it to people names the cure.
func (e *Error) Error() string {
	what := [...]string{
		Malformed: "is not what draft 7 allows", Pattern: "is no pattern that can be used", Remote: "leads out of the schema",
		Lost: "leads nowhere", ID: "moves what references mean", Draft: "is not draft 7", Deep: "nests too deeply",
	}[e.Reason]
	if e.Text != "" {
		what = strconv.Quote(clean.Cut(clean.Line(e.Text), 100)) + " " + what
	}
	return fmt.Sprintf("schema at %q: %s", clean.Line("#"+e.Pointer), what)
}
