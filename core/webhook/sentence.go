package webhook

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/schema"
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
func sentences(problems []schema.Problem, root string) []string {
	var list []string
	for _, p := range problems {
		list = append(list, clean.Cut(clean.Line(sentence(p, root)), maxSentence))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if more := len(list) - maxSentences; more > 0 {
		list = append(list[:maxSentences], fmt.Sprintf(textMore, more))
	}
	return list
}

func sentence(p schema.Problem, root string) string {
	where := root
	if len(p.Path) > 0 {
		steps := make([]string, len(p.Path))
		for i, s := range p.Path {
			steps[i] = clean.Cut(clean.Line(s), maxNamed)
		}
		where = strings.Join(steps, ".")
	}
	switch p.Keyword {
	case "required":
		return fmt.Sprintf(textRequired, where)
	case "additionalProperties":
		return fmt.Sprintf(textUndeclared, where)
	}
	return where + simple(p)
}

// simple is the end of a sentence about one value.
func simple(p schema.Problem) string {
	if words, known := simpleWords[p.Keyword]; known {
		return words
	}
	switch p.Keyword {
	case "type":
		want, _ := p.Want.([]string)
		return fmt.Sprintf(textType, strings.Join(want, textOr), p.Kind)
	case "enum":
		want, _ := p.Want.([]any)
		return enumerated(want)
	case "maxLength":
		return fmt.Sprintf(textTooLong, p.Count, p.Want)
	case "minLength":
		return fmt.Sprintf(textTooShort, p.Count, p.Want)
	case "maxItems":
		return fmt.Sprintf(textTooManyItems, p.Count, p.Want)
	case "minItems":
		return fmt.Sprintf(textTooFewItems, p.Count, p.Want)
	}
	return textDoesNotFit + " (" + p.Keyword + ")"
}

// simpleWords are those of keywords of which nothing more is to be said.
var simpleWords = map[string]string{
	"const": textConst, "pattern": textPattern, "minimum": textTooSmall, "exclusiveMinimum": textTooSmall,
	"maximum": textTooLarge, "exclusiveMaximum": textTooLarge, schema.Exhausted: textTooCostly,
	schema.False: textDoesNotFit, "not": textDoesNotFit, "$ref": textDoesNotFit, // the keyword would say nothing more
}

// enumerated names the values that the spec allows: they are its author's.
func enumerated(want []any) string {
	list := make([]string, 0, len(want))
	for _, w := range want {
		list = append(list, fmt.Sprint(w))
	}
	return textEnum + strings.Join(list, ", ")
}
