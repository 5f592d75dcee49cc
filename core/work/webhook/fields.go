package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/schema"
	"ollimbot/core/storage/frontmatter"
)

// Fields is the JSON Schema (draft 7) for the payloads of a webhook. Formats are not checked.
type Fields struct {
	// Declared are the names of the declared fields, in alphabetical order.
	Declared []string

	closed   map[string]bool // declared fields with a fixed set of values
	compiled *schema.Schema
}

// compile makes a validator from the mapping, whose value it keeps. An error is a *fieldError.
func compile(m *mapping) (f Fields, err error) {
	root, ok := m.value.(map[string]any)
	if !ok {
		return Fields{}, &fieldError{m.start, msgFieldsMapping}
	}
	f.declare(root)
	if f.compiled, err = schema.Compile(root); err != nil {
		return Fields{}, m.explain(err)
	}
	return f, nil
}

// declare records the declared fields and gives their texts the default length. Draft 7
// ignores everything next to a $ref, so then nothing is declared.
func (f *Fields) declare(root map[string]any) {
	properties, _ := root["properties"].(map[string]any)
	if _, elsewhere := root["$ref"]; elsewhere {
		return
	}
	f.Declared = slices.Sorted(maps.Keys(properties))
	f.closed = map[string]bool{}
	for name, p := range properties {
		property, ok := p.(map[string]any)
		if !ok {
			continue
		}
		if _, elsewhere := property["$ref"]; elsewhere {
			continue
		}
		_, enum := property["enum"]
		_, constant := property["const"]
		f.closed[name] = enum || constant
		if _, set := property["maxLength"]; !set && isText(property["type"]) {
			property["maxLength"] = json.Number(strconv.Itoa(defaultMaxLength))
		}
	}
}

func isText(kind any) bool {
	if list, ok := kind.([]any); ok {
		return slices.Contains(list, any("string"))
	}
	return kind == "string"
}

// explain turns a schema error into a line with a position.
func (m *mapping) explain(err error) error {
	var wrong *schema.Error
	if !errors.As(err, &wrong) {
		return &fieldError{m.start, msgFieldsUnreadable}
	}
	at := m.at(wrong.Pointer)
	switch wrong.Reason {
	case schema.Pattern:
		return &fieldError{at, fmt.Sprintf(msgFieldsPattern, show(wrong.Text))}
	case schema.Remote:
		return &fieldError{at, msgFieldsRef}
	case schema.Lost:
		return &fieldError{m.start, fmt.Sprintf(msgFieldsLost, show(wrong.Text))}
	case schema.ID:
		return &fieldError{at, msgFieldsID}
	case schema.Draft:
		return &fieldError{at, msgFieldsDraft}
	case schema.Deep:
		return &fieldError{at, msgFieldsDeep}
	}
	return &fieldError{at, fmt.Sprintf(msgFieldsSchema, sentences([]schema.Problem{wrong.Problem}, textFieldsRoot)[0])}
}

// check returns the problems of a payload, one sentence each, without its values.
func (f Fields) check(payload map[string]any) []string {
	if n := len(f.Declared); n > maxProperties {
		return []string{fmt.Sprintf(textTooManyFields, n, maxProperties)}
	}
	return sentences(f.compiled.Validate(payload), textPayload)
}

// place is a position in a file. Both numbers start at 1; columns are in characters.
type place struct{ line, column int }

// fieldError is a problem of the fields, and its position.
type fieldError struct {
	at      place
	message string
}

func (f *fieldError) Error() string { return f.message }

// mapping is the value of `fields` as JSON, with the positions of its parts by JSON pointer.
type mapping struct {
	value  any
	places map[string]place
	start  place // of the key `fields`
}

// at is the position of a JSON pointer, or of its nearest known parent.
func (m *mapping) at(pointer string) place {
	for {
		if p, ok := m.places[pointer]; ok {
			return p
		}
		i := strings.LastIndexByte(pointer, '/')
		if i < 0 {
			return m.start
		}
		pointer = pointer[:i]
	}
}

// convert turns a value into JSON and records the positions of its parts.
func (m *mapping) convert(v frontmatter.Value, pointer string) (any, error) {
	switch v.Kind {
	case frontmatter.Scalar:
		return scalar(v)
	case frontmatter.List:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			inner := pointer + "/" + strconv.Itoa(i)
			m.places[inner] = place{item.Line, item.Column}
			var err error
			if list[i], err = m.convert(item, inner); err != nil {
				return nil, err
			}
		}
		return list, nil
	case frontmatter.Map:
		object := make(map[string]any, len(v.Fields))
		for _, f := range v.Fields {
			inner := pointer + "/" + pointerToken.Replace(f.Key)
			m.places[inner] = place{f.Line, f.Column}
			var err error
			if object[f.Key], err = m.convert(f.Value, inner); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return nil, nil //nolint:nilnil // JSON null
}

// scalar is a number or boolean if JSON would read one, otherwise a string.
func scalar(v frontmatter.Value) (any, error) {
	switch {
	case v.Quoted:
		return v.Text, nil
	case strings.EqualFold(v.Text, "true"), strings.EqualFold(v.Text, "false"):
		return strings.EqualFold(v.Text, "true"), nil
	case !json.Valid([]byte(v.Text)):
		return v.Text, nil
	case checkNumber(v.Text) != nil:
		return nil, &fieldError{place{v.Line, v.Column}, msgFieldsNumber}
	}
	return json.Number(v.Text), nil
}

// pointerToken escapes a name for a JSON pointer.
var pointerToken = strings.NewReplacer("~", "~0", "/", "~1")
