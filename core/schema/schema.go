// Package schema owns JSON Schema, draft 7: a schema is read once, then held
// against payloads of webhooks and arguments of tools. It knows every assertion
// of the draft and references into the schema itself; formats and content are
// notes to it. It must not know webhooks, tools, YAML, files or networks: it
// takes decoded values, never follows an address, and no problem that it
// reports holds a value of the document it judged. ARCHITECTURE.md says why no
// library does this.
package schema

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"sync"
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
	value, err := Decode(draft7Text)
	if err != nil {
		return nil, fmt.Errorf("read the schema of draft 7: %w", err)
	}
	return build(value, nil)
})

// Decode reads the first JSON value of a text as Compile and Validate take it.
func Decode(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value, d.Decode(&value)
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
