package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"ollimbot/core/schema"
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
