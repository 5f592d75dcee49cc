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

// maxDepth limits the nesting of a schema, in keywords and names.
const maxDepth = 200

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	root *node
	refs bool // some part has a reference, which may be circular
}

// Compile compiles a schema decoded by encoding/json with UseNumber. It keeps parts of
// the value, which must not be modified afterwards. An error is an *Error; of several
// mistakes it is the first by name order.
//
// Unlike the draft, it rejects references to an address or an anchor, and any $id below
// the top that would change what references mean. A $ref makes everything next to it
// ineffective, as in the draft, but it must still be well-formed.
func Compile(value any) (*Schema, error) {
	rules, err := draft7()
	if err != nil {
		return nil, err
	}
	return build(value, rules)
}

//go:embed draft7.json
var draft7Text []byte

// draft7 is the meta-schema of draft 7. It uses conditions instead of the draft's anyOf,
// so that a problem is reported at the place of the mistake.
var draft7 = sync.OnceValues(func() (*Schema, error) {
	value, err := decode(draft7Text)
	if err != nil {
		return nil, fmt.Errorf("read the schema of draft 7: %w", err)
	}
	return build(value, nil)
})

// decode decodes exactly one JSON value for Compile and Validate, with numbers as
// written.
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

// Validate validates a decoded document, of the same form as for Compile. It returns nil
// if the document is valid. Problems are sorted by path. The work is bounded: a document
// that takes more than maxSteps steps has the single problem Exhausted, and the search
// ends after maxProblems problems.
func (s *Schema) Validate(value any) []Problem { return s.validate(value, maxSteps) }

func (s *Schema) validate(value any, steps int) []Problem {
	r := run{refs: s.refs, left: steps}
	fits := r.check(s.root, value)
	if r.left < 0 { // regardless of the verdict, because below a "not", giving up looks like a match
		return []Problem{{Keyword: Exhausted}}
	}
	if fits {
		return nil
	}
	sortProblems(r.problems)
	return r.problems
}

// inspect rejects the value at a path if it is not a schema.
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

// Pseudo-keywords for problems without a draft 7 keyword.
const (
	// False marks a part that no document can satisfy: the schema false, or a value that is
	// not JSON.
	False = ""
	// Exhausted marks a document that takes too many steps to validate.
	Exhausted = "(steps)"
)

// Problem is one problem of a document. It contains no value of the document, but may
// contain names, which its author chose.
type Problem struct {
	// Path is the path to the problem: names, and numbers of items. For a missing or
	// forbidden property it ends with the property's name.
	Path []string
	// Keyword is the violated keyword, False or Exhausted. A circular reference violates
	// "$ref".
	Keyword string
	// Want is the schema's requirement: []string for "type", in a fixed order; []any for
	// "enum"; the value of "const"; an int for counts; the number as written for a bound;
	// the text of "pattern". Otherwise it is nil.
	Want any
	// Kind is the type of the value, for "type": "null", "boolean", "number", "string",
	// "array" or "object".
	Kind string
	// Count is the actual number of characters, items or properties, if Want is a count.
	Count int
}

func sortProblems(list []Problem) {
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(slices.Compare(a.Path, b.Path), cmp.Compare(a.Keyword, b.Keyword))
	})
}

// Reason is the kind of mistake in a schema.
type Reason int

// The reasons.
const (
	Malformed Reason = iota // not allowed by draft 7
	Pattern                 // a regular expression not supported by Go
	Remote                  // a reference outside the schema, or to an anchor
	Lost                    // a reference without a target
	ID                      // an $id that changes what references mean
	Draft                   // a $schema of another draft
	Deep                    // nested beyond maxDepth
)

// Error describes why a schema was rejected.
type Error struct {
	// Pointer is the position in the schema, a JSON pointer; empty for the whole schema.
	Pointer string
	Reason  Reason
	// Problem is the problem with the schema as a document, if it is Malformed.
	Problem Problem
	// Text is the unusable pattern, reference or address.
	Text string
}

// Error names the position and the rejected part. A caller that shows it to people adds
// the cure.
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
