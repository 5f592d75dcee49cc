package webhook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"ollimbot/core/clean"
)

// Bounds of an answer, so that no payload gets back more than it is worth.
const (
	maxSentences = 20
	maxSentence  = 200 // characters
	maxNamed     = 40  // characters of a name that the sender chose
)

// sentences says what is wrong with a document: one short sentence for each
// thing, in alphabetical order. root is what the document itself is called.
// Values never show; names do, cleaned and cut.
func sentences(e *jsonschema.ValidationError, root string) []string {
	var list []string
	collect(e, root, &list)
	for i := range list {
		list[i] = clean.Cut(clean.Line(list[i]), maxSentence)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if more := len(list) - maxSentences; more > 0 {
		list = append(list[:maxSentences], fmt.Sprintf(textMore, more))
	}
	return list
}

func collect(e *jsonschema.ValidationError, root string, list *[]string) {
	where := root
	if len(e.InstanceLocation) > 0 {
		steps := make([]string, len(e.InstanceLocation))
		for i, s := range e.InstanceLocation {
			steps[i] = clean.Cut(clean.Line(s), maxNamed)
		}
		where = strings.Join(steps, ".")
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, c := range e.Causes {
			collect(c, root, list)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			*list = append(*list, fmt.Sprintf(textRequired, inside(e, name)))
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			*list = append(*list, fmt.Sprintf(textUndeclared, inside(e, name)))
		}
	default:
		*list = append(*list, where+simple(e.ErrorKind))
	}
}

// inside is the name of something in what the error is about.
func inside(e *jsonschema.ValidationError, name string) string {
	steps := make([]string, 0, len(e.InstanceLocation)+1)
	for _, s := range append(slices.Clone(e.InstanceLocation), name) {
		steps = append(steps, clean.Cut(clean.Line(s), maxNamed))
	}
	return strings.Join(steps, ".")
}

// simple is the end of a sentence about one value.
func simple(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf(textType, strings.Join(k.Want, textOr), k.Got)
	case *kind.Enum:
		return enumerated(k.Want)
	case *kind.Const:
		return textConst
	case *kind.MaxLength:
		return fmt.Sprintf(textTooLong, k.Got, k.Want)
	case *kind.MinLength:
		return fmt.Sprintf(textTooShort, k.Got, k.Want)
	case *kind.Pattern:
		return textPattern
	case *kind.Minimum, *kind.ExclusiveMinimum:
		return textTooSmall
	case *kind.Maximum, *kind.ExclusiveMaximum:
		return textTooLarge
	case *kind.MaxItems:
		return fmt.Sprintf(textTooManyItems, k.Got, k.Want)
	case *kind.MinItems:
		return fmt.Sprintf(textTooFewItems, k.Got, k.Want)
	}
	if path := k.KeywordPath(); len(path) > 0 {
		return textDoesNotFit + " (" + path[0] + ")"
	}
	return textDoesNotFit
}

// enumerated names the values that the spec allows: they are its author's.
func enumerated(want []any) string {
	list := make([]string, 0, len(want))
	for _, w := range want {
		list = append(list, fmt.Sprint(w))
	}
	return textEnum + strings.Join(list, ", ")
}
