package webhook

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"ollimbot/core/clean"
)

// Fields is what a payload of one webhook has to be: JSON Schema, draft 7.
type Fields struct {
	// Declared are the names of the declared fields, in alphabetical order.
	Declared []string

	closed   map[string]bool // declared fields with a fixed set of values
	compiled *jsonschema.Schema
}

// schemaURL names the fields to the library. Nothing is ever loaded from it.
const schemaURL = "webhook:///fields"

// errFollow refuses whatever a reference would load.
var errFollow = errors.New("references lead nowhere but into the fields themselves")

// sealed loads nothing: no file and no address is followed.
type sealed struct{}

func (sealed) Load(string) (any, error) { return nil, errFollow }

// compile makes a validator of the mapping. An error is a *fault.
func compile(m *mapping) (f Fields, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &fault{m.start, msgFieldsUnreadable}
		}
	}()
	w := walker{m: m}
	tidied := w.schema(m.value, "")
	if w.wrong != nil {
		return Fields{}, w.wrong
	}
	root, ok := tidied.(map[string]any)
	if !ok {
		return Fields{}, &fault{m.start, msgFieldsMapping}
	}
	f.declare(root)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.UseLoader(sealed{})
	if err := c.AddResource(schemaURL, root); err != nil {
		return Fields{}, m.explain(err)
	}
	if f.compiled, err = c.Compile(schemaURL); err != nil {
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
			property["maxLength"] = defaultMaxLength
		}
	}
}

func isText(kind any) bool {
	if list, ok := kind.([]any); ok {
		return slices.Contains(list, any("string"))
	}
	return kind == "string"
}

// walker copies a schema without its `format` keywords, which are not asserted
// (spec 08.1.3), and refuses references that lead out of it.
type walker struct {
	m     *mapping
	wrong error
}

// Keywords of draft 7 that hold schemas: one, a list, or named ones.
var (
	oneSchema    = []string{"items", "additionalItems", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"}
	listOfSchema = []string{"allOf", "anyOf", "oneOf", "items"}
	mapOfSchema  = []string{"properties", "patternProperties", "definitions", "dependencies"}
)

func (w *walker) schema(v any, pointer string) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := maps.Clone(object)
	delete(out, "format")
	for _, key := range slices.Sorted(maps.Keys(object)) { // so that the first fault is always the same
		value := object[key]
		inner := pointer + "/" + key
		switch value := value.(type) {
		case string:
			w.text(key, value, inner)
		case []any:
			if slices.Contains(listOfSchema, key) {
				list := make([]any, len(value))
				for i := range value {
					list[i] = w.schema(value[i], fmt.Sprintf("%s/%d", inner, i))
				}
				out[key] = list
			}
		case map[string]any:
			switch {
			case slices.Contains(mapOfSchema, key):
				named := make(map[string]any, len(value))
				for _, name := range slices.Sorted(maps.Keys(value)) {
					named[name] = w.schema(value[name], inner+"/"+pointerToken.Replace(name))
				}
				out[key] = named
			case slices.Contains(oneSchema, key):
				out[key] = w.schema(value, inner)
			}
		}
	}
	return out
}

// text judges the keywords that lead elsewhere.
func (w *walker) text(key, value, pointer string) {
	switch key {
	case "$ref":
		if !strings.HasPrefix(value, "#") && w.wrong == nil {
			w.wrong = &fault{w.m.at(pointer), msgFieldsRef}
		}
	case "$schema":
		if strings.TrimSuffix(value, "#") != "http://json-schema.org/draft-07/schema" && w.wrong == nil {
			w.wrong = &fault{w.m.at(pointer), msgFieldsDraft}
		}
	}
}

// explain puts the library's refusal of a schema into one line with a place.
func (m *mapping) explain(err error) error {
	var pattern *jsonschema.InvalidRegexError
	if errors.As(err, &pattern) { // the name of a pattern property
		return &fault{m.at(fragment(pattern.URL)), fmt.Sprintf(msgFieldsPattern, show(pattern.Regex))}
	}
	var lost *jsonschema.JSONPointerNotFoundError
	if errors.As(err, &lost) {
		return &fault{m.start, fmt.Sprintf(msgFieldsLost, show("#"+fragment(lost.URL)))}
	}
	var invalid *jsonschema.SchemaValidationError
	var why *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &why) {
		deepest, pointer := innermost(why)
		if f, ok := deepest.ErrorKind.(*kind.Format); ok && f.Want == "regex" {
			return &fault{m.at(pointer), fmt.Sprintf(msgFieldsPattern, show(fmt.Sprint(f.Got)))}
		}
		list := sentences(deepest, textFieldsRoot)
		return &fault{m.at(pointer), fmt.Sprintf(msgFieldsSchema, strings.Join(list, "; "))}
	}
	return &fault{m.start, fmt.Sprintf(msgFieldsSchema, clean.Cut(clean.Line(err.Error()), 200))}
}

// innermost is the first cause that has no other, and where it lies.
func innermost(e *jsonschema.ValidationError) (*jsonschema.ValidationError, string) {
	var steps []string
	for {
		if len(e.InstanceLocation) > 0 {
			steps = e.InstanceLocation
		}
		if k, ok := e.ErrorKind.(*kind.PropertyNames); ok {
			steps = append(slices.Clone(steps), k.Property)
		}
		if len(e.Causes) == 0 {
			break
		}
		e = e.Causes[0]
	}
	pointer := ""
	for _, step := range steps {
		pointer += "/" + pointerToken.Replace(step)
	}
	return e, pointer
}

// fragment is the JSON pointer at the end of an address.
func fragment(address string) string {
	_, f, _ := strings.Cut(address, "#")
	if plain, err := url.PathUnescape(f); err == nil {
		return plain
	}
	return f
}

// check returns what is wrong with a payload, one sentence each; none of them
// shows a value.
func (f Fields) check(payload map[string]any) []string {
	if n := len(f.Declared); n > maxProperties {
		return []string{fmt.Sprintf(textTooManyFields, n, maxProperties)}
	}
	err := f.compiled.Validate(payload)
	var wrong *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return sentences(wrong, textPayload)
	}
	return []string{textPayload + textDoesNotFit}
}
