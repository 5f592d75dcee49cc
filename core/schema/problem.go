package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"ollimbot/core/clean"
)

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
