package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"ollimbot/core/base/schema"
	"ollimbot/core/storage/frontmatter"
)

// Fields is the JSON Schema (draft 7) for the payloads of a webhook. Formats are not checked.
type Fields struct {
	// Declared are the names of the declared fields, in alphabetical order.
	Declared []string

	closed   map[string]bool // declared fields with a fixed set of values
	shape    *shape
	compiled *schema.Schema
}

// compile makes a validator from the value of `fields`. An error is a *fieldError.
func compile(at frontmatter.Field) (f Fields, err error) {
	for v := range at.Value.All() {
		if number, ok := v.JSON().(json.Number); ok && checkNumber(number.String()) != nil {
			return Fields{}, &fieldError{v.Line, v.Column, msgFieldsNumber}
		}
	}
	root, ok := at.Value.JSON().(map[string]any)
	if !ok {
		return Fields{}, &fieldError{at.Line, at.Column, msgFieldsMapping}
	}
	f.declare(root)
	f.shape = shapeOf(root)
	if f.compiled, err = schema.Compile(root); err != nil {
		return Fields{}, explain(at, err)
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
func explain(at frontmatter.Field, err error) error {
	var wrong *schema.Error
	if !errors.As(err, &wrong) {
		return &fieldError{at.Line, at.Column, msgFieldsUnreadable}
	}
	line, column := at.At(wrong.Pointer)
	var message string
	switch wrong.Reason {
	case schema.Pattern:
		message = fmt.Sprintf(msgFieldsPattern, show(wrong.Text))
	case schema.Remote:
		message = msgFieldsRef
	case schema.Lost:
		line, column, message = at.Line, at.Column, fmt.Sprintf(msgFieldsLost, show(wrong.Text))
	case schema.ID:
		message = msgFieldsID
	case schema.Draft:
		message = msgFieldsDraft
	default:
		message = fmt.Sprintf(msgFieldsSchema, sentences([]schema.Problem{wrong.Problem}, textFieldsRoot)[0])
	}
	return &fieldError{line, column, message}
}

// check returns the problems of a payload, one sentence each, without its values.
func (f Fields) check(payload map[string]any) []string {
	if n := len(f.Declared); n > maxProperties {
		return []string{fmt.Sprintf(textTooManyFields, n, maxProperties)}
	}
	return sentences(f.compiled.Validate(payload), textPayload)
}

// fieldError is a problem of the fields, and its position.
type fieldError struct {
	line, column int
	message      string
}

func (f *fieldError) Error() string { return f.message }
