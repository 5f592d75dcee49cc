package schema

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// draft7 is the one $schema that is known; a # may follow it.
const draft7 = "http://json-schema.org/draft-07/schema"

// simpleTypes are what a type may be, in the order in which mistakes name them.
var simpleTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// shape is what the value of a keyword has to be.
type shape int

const (
	anything shape = iota
	aText
	aFlag
	aList
	aNumber
	aPositive
	aCount
	aPattern
	someNames
	someValues
	someTypes
	aSchema
	schemas
	itemSchemas
	namedSchemas
	patternSchemas
	dependencies
	aReference
	anID
	aDraft
)

// shapeOf is what draft 7 asks of a keyword; of names that it does not know it
// asks nothing.
func shapeOf(keyword string) shape {
	switch keyword {
	case "title", "description", "$comment", "contentMediaType", "contentEncoding":
		return aText
	case "readOnly", "writeOnly", "uniqueItems":
		return aFlag
	case "examples":
		return aList
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return aNumber
	case "multipleOf":
		return aPositive
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return aCount
	case "pattern":
		return aPattern
	case "required":
		return someNames
	case "enum":
		return someValues
	case "type":
		return someTypes
	case "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "additionalItems":
		return aSchema
	case "allOf", "anyOf", "oneOf":
		return schemas
	case "items":
		return itemSchemas
	case "properties", "definitions":
		return namedSchemas
	case "patternProperties":
		return patternSchemas
	case "dependencies":
		return dependencies
	case "$ref":
		return aReference
	case "$id":
		return anID
	case "$schema":
		return aDraft
	}
	return anything
}

// inspector finds out whether schemas are well-formed. It keeps what it learnt:
// the patterns, read, and which places it has seen.
type inspector struct {
	patterns map[string]*regexp.Regexp
	seen     map[string]bool
}

// schema inspects the schema at a path, and all schemas in it.
func (i *inspector) schema(v any, path []string) error {
	if len(path) > maxDepth {
		return &Error{Pointer: pointer(path), Reason: Deep}
	}
	if i.seen == nil {
		i.seen, i.patterns = map[string]bool{}, map[string]*regexp.Regexp{}
	}
	i.seen[pointer(path)] = true
	if err := need(v, boolean|object, path); err != nil {
		return err
	}
	keywords, _ := v.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(keywords)) {
		if err := i.keyword(shapeOf(key), keywords[key], below(path, key)); err != nil {
			return err
		}
	}
	return nil
}

// keyword inspects the value of a keyword.
func (i *inspector) keyword(s shape, v any, path []string) error {
	switch s {
	case aText:
		return need(v, text, path)
	case aFlag:
		return need(v, boolean, path)
	case aList:
		return need(v, list, path)
	case aNumber, aPositive, aCount:
		return quantity(s, v, path)
	case aPattern, aReference, anID, aDraft:
		return i.words(s, v, path)
	case someNames:
		return names(v, path)
	case someValues:
		if err := filled(v, path); err != nil {
			return err
		}
		return unique(v.([]any), path)
	case someTypes:
		return types(v, path)
	case aSchema:
		return i.schema(v, path)
	case schemas:
		return i.list(v, path)
	case itemSchemas:
		if _, several := v.([]any); several {
			return i.list(v, path)
		}
		return i.schema(v, path)
	case namedSchemas, patternSchemas, dependencies:
		return i.named(s, v, path)
	}
	return nil
}

// list inspects schemas that stand in a list.
func (i *inspector) list(v any, path []string) error {
	if err := filled(v, path); err != nil {
		return err
	}
	for n, one := range v.([]any) {
		if err := i.schema(one, below(path, strconv.Itoa(n))); err != nil {
			return err
		}
	}
	return nil
}

// named inspects schemas that have names.
func (i *inspector) named(s shape, v any, path []string) error {
	if err := need(v, object, path); err != nil {
		return err
	}
	all := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		inner := below(path, name)
		if s == patternSchemas {
			if err := i.pattern(name, inner); err != nil {
				return err
			}
		}
		var err error
		if _, several := all[name].([]any); several && s == dependencies {
			err = names(all[name], inner)
		} else {
			err = i.schema(all[name], inner)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// words inspects the keywords whose texts mean something.
func (i *inspector) words(s shape, v any, path []string) error {
	if err := need(v, text, path); err != nil {
		return err
	}
	word := v.(string)
	fault := &Error{Pointer: pointer(path), Text: word}
	switch s {
	case aPattern:
		return i.pattern(word, path)
	case aReference:
		if word == "#" || strings.HasPrefix(word, "#/") {
			return nil
		}
		fault.Reason = Remote
	case anID:
		// At the top it only names the schema. Tools write the pointers of parts
		// as their $id, which means nothing to references by pointer.
		if len(path) == 1 || strings.HasPrefix(word, "#") {
			return nil
		}
		fault.Reason = ID
	case aDraft:
		if strings.TrimSuffix(word, "#") == draft7 {
			return nil
		}
		fault.Reason = Draft
	}
	return fault
}

func (i *inspector) pattern(source string, path []string) error {
	if i.patterns[source] != nil {
		return nil
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		return &Error{Pointer: pointer(path), Reason: Pattern, Text: source}
	}
	i.patterns[source] = compiled
	return nil
}

// below is the path of something in what stands at a path.
func below(path []string, step string) []string { return append(slices.Clip(path), step) }

func malformed(path []string, p Problem) error {
	p.Path = path
	return &Error{Pointer: pointer(path), Problem: p}
}

// need refuses a value that is of none of the kinds.
func need(v any, want kinds, path []string) error {
	got := kindOf(v)
	if got&want != 0 {
		return nil
	}
	if got == 0 { // a number out of bounds, or what no decoder makes
		return malformed(path, Problem{Keyword: False})
	}
	return malformed(path, Problem{Keyword: "type", Want: want.names(), Kind: got.names()[0]})
}

func quantity(s shape, v any, path []string) error {
	want := number
	if s == aCount {
		want = integer
		if kindOf(v) == number && whole(v) {
			want = number
		}
	}
	if err := need(v, want, path); err != nil {
		return err
	}
	switch sign := exact(v).Sign(); {
	case s == aCount && sign < 0:
		return malformed(path, Problem{Keyword: "minimum", Want: 0})
	case s == aPositive && sign <= 0:
		return malformed(path, Problem{Keyword: "exclusiveMinimum", Want: 0})
	}
	return nil
}

func filled(v any, path []string) error {
	if err := need(v, list, path); err != nil {
		return err
	}
	if len(v.([]any)) == 0 {
		return malformed(path, Problem{Keyword: "minItems", Want: 1})
	}
	return nil
}

func unique(list []any, path []string) error {
	seen := make(map[string]bool, len(list))
	for _, v := range list {
		key := string(appendCanonical(nil, v))
		if seen[key] {
			return malformed(path, Problem{Keyword: "uniqueItems"})
		}
		seen[key] = true
	}
	return nil
}

func names(v any, path []string) error {
	if err := need(v, list, path); err != nil {
		return err
	}
	for n, name := range v.([]any) {
		if err := need(name, text, below(path, strconv.Itoa(n))); err != nil {
			return err
		}
	}
	return unique(v.([]any), path)
}

// types inspects one type or a list of them. Whatever is wrong with it, what
// helps are the names of the types.
func types(v any, path []string) error {
	several, ok := v.([]any)
	if !ok {
		several = []any{v}
	}
	good := len(several) > 0 && unique(several, path) == nil
	for _, one := range several {
		name, ok := one.(string)
		good = good && ok && slices.Contains(simpleTypes, name)
	}
	if good {
		return nil
	}
	want := make([]any, 0, len(simpleTypes))
	for _, name := range simpleTypes {
		want = append(want, name)
	}
	return malformed(path, Problem{Keyword: "enum", Want: want})
}
