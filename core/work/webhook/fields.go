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

// Fields is what a payload of one webhook has to be: JSON Schema, draft 7.
// Formats are not asserted.
type Fields struct {
	// Declared are the names of the declared fields, in alphabetical order.
	Declared []string

	closed   map[string]bool // declared fields with a fixed set of values
	compiled *schema.Schema
}

// compile makes a validator of the mapping, and takes over its value. An error is a *fieldError.
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

// declare notes the declared fields and gives their texts the default length.
// Beside a $ref draft 7 ignores everything else, so that nothing is declared.
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

// explain puts the refusal of a schema into one line with a place.
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

// check returns what is wrong with a payload, one sentence each; none of them
// shows a value.
func (f Fields) check(payload map[string]any) []string {
	if n := len(f.Declared); n > maxProperties {
		return []string{fmt.Sprintf(textTooManyFields, n, maxProperties)}
	}
	return sentences(f.compiled.Validate(payload), textPayload)
}

// place is where something stands in a file: both count from 1, columns in
// characters.
type place struct{ line, column int }

// fieldError is what is wrong with the fields, and where.
type fieldError struct {
	at      place
	message string
}

func (f *fieldError) Error() string { return f.message }

// mapping is the value of `fields` as JSON, with the place of everything in it
// by JSON pointer.
type mapping struct {
	value  any
	places map[string]place
	start  place // of the key `fields`
}

// at is the place of a JSON pointer, or of the nearest thing that holds it.
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

// convert turns a value into what JSON knows, and notes the places of what is in it.
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
	return nil, nil //nolint:nilnil // null is a value of JSON
}

// scalar is a number or a boolean where JSON would read one, and else a text.
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

// pointerToken writes a name as a JSON pointer has it.
var pointerToken = strings.NewReplacer("~", "~0", "/", "~1")
