// Package schema owns JSON Schema as the specs of webhooks use it: draft 7,
// read once, then held against payloads. It knows every assertion of the draft
// and references into the schema itself; formats and content are notes to it.
// It must not know webhooks, YAML, files or networks: it takes decoded values,
// never follows an address, and no problem that it reports holds a value of the
// document it judged.
package schema

// maxDepth bounds how deep a schema may nest, in keywords and names.
const maxDepth = 200

// Schema is a schema that was read. It does not change, so that any number of
// goroutines may use it.
type Schema struct {
	root *node
	refs bool // some part refers to another, which may lead back
}

// Compile reads a decoded schema: booleans, objects, lists, texts, null and
// numbers, which may be json.Number, float64, int, int64 or uint64. It keeps
// parts of the value, which must not be changed afterwards. An error is an
// *Error; of several mistakes it is the first in the order of the names.
//
// Other than the draft it takes no reference to an address or an anchor, and
// below the top no $id that would move what references mean. A $ref makes
// everything beside it void, as the draft says, but not exempt from being
// well-formed.
func Compile(value any) (*Schema, error) {
	i := &inspector{}
	if err := i.schema(value, nil); err != nil {
		return nil, err
	}
	b := &builder{document: value, inspector: i, nodes: map[string]*node{}}
	root, err := b.node(value, nil)
	if err != nil {
		return nil, err
	}
	return &Schema{root: root, refs: b.refs}, nil
}

// Validate holds a decoded document against the schema; the value may be what
// Compile takes. Nothing is returned where the document fits. The problems come
// in the order of their paths. Work is bounded: a document that costs more than
// maxSteps steps has the one problem Exhausted, and after maxProblems problems
// no more are looked for.
func (s *Schema) Validate(value any) []Problem {
	r := run{refs: s.refs}
	fits := r.check(s.root, value)
	if r.steps > maxSteps { // whatever the verdict: below a "not" giving up looks like a fit
		return []Problem{{Keyword: Exhausted}}
	}
	if fits {
		return nil
	}
	sortProblems(r.problems)
	return r.problems
}
