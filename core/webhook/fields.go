package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"ollimbot/core/clean"
	"ollimbot/core/fault"
	"ollimbot/core/schema"
	"ollimbot/core/store"
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
	line   int   // lines of the file before the first of the text
	column int   // columns before the first line of the text
}

// maxYAMLDepth bounds the nesting of a schema.
const maxYAMLDepth = 50

// readMapping reads the YAML behind `fields:`. The library may panic on
// garbage; that is a fault of the file like any other.
func readMapping(f store.Field) (m *mapping, err error) {
	m = &mapping{places: map[string]place{}, start: place{f.Line, f.Column}, line: f.Line - 1}
	m.column = f.Column + utf8.RuneCountInString(f.Key)
	defer fault.Rescue("the fields of a webhook", func(_ *fault.Error) {
		err = &fieldError{m.start, msgFieldsUnreadable}
	})
	file, perr := parser.ParseBytes([]byte(f.Raw), 0)
	if perr != nil {
		return m, m.translate(perr)
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return m, &fieldError{m.start, msgFieldsMapping}
	}
	m.value, err = m.convert(file.Docs[0].Body, "", 0)
	if err == nil {
		if _, ok := m.value.(map[string]any); !ok {
			err = &fieldError{m.start, msgFieldsMapping}
		}
	}
	return m, err
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

func (m *mapping) place(t *token.Token) place {
	if t == nil || t.Position == nil {
		return m.start
	}
	p := place{m.line + max(1, t.Position.Line), max(1, t.Position.Column)}
	if t.Position.Line <= 1 {
		p.column += m.column
	}
	return p
}

// translate puts the library's error into one line.
func (m *mapping) translate(err error) error {
	var y interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &y) {
		return &fieldError{m.start, msgFieldsUnreadable}
	}
	return &fieldError{m.place(y.GetToken()), fmt.Sprintf(msgFieldsYAML, clean.Cut(clean.Line(y.GetMessage()), 100))}
}

// convert turns a node into what JSON knows.
func (m *mapping) convert(n ast.Node, pointer string, depth int) (any, error) {
	at := m.place(n.GetToken())
	if pointer != "" {
		if _, known := m.places[pointer]; !known {
			m.places[pointer] = at
		}
	}
	if depth > maxYAMLDepth {
		return nil, &fieldError{at, msgFieldsDeep}
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return nil, nil //nolint:nilnil // null is a value of JSON
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.IntegerNode:
		return m.number(fmt.Sprint(n.Value), at)
	case *ast.FloatNode:
		return m.number(strconv.FormatFloat(n.Value, 'g', -1, 64), at)
	case *ast.SequenceNode:
		list := make([]any, 0, len(n.Values))
		for i, item := range n.Values {
			v, err := m.convert(item, pointer+"/"+strconv.Itoa(i), depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case *ast.MappingNode:
		return m.object(n.Values, pointer, depth)
	case *ast.MappingValueNode:
		return m.object([]*ast.MappingValueNode{n}, pointer, depth)
	}
	return nil, &fieldError{at, msgFieldsPlain}
}

func (m *mapping) number(text string, at place) (any, error) {
	if checkNumber(text) != nil {
		return nil, &fieldError{at, msgFieldsNumber}
	}
	return json.Number(text), nil
}

func (m *mapping) object(pairs []*ast.MappingValueNode, pointer string, depth int) (any, error) {
	object := make(map[string]any, len(pairs))
	for _, p := range pairs {
		at := m.place(p.Key.GetToken())
		var key string
		switch k := p.Key.(type) {
		case *ast.StringNode:
			key = k.Value
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
			key = strings.TrimSpace(k.GetToken().Value)
		default:
			return nil, &fieldError{at, msgFieldsPlain}
		}
		if _, twice := object[key]; twice {
			return nil, &fieldError{at, msgFieldsTwice}
		}
		inner := pointer + "/" + pointerToken.Replace(key)
		m.places[inner] = at
		v, err := m.convert(p.Value, inner, depth+1)
		if err != nil {
			return nil, err
		}
		object[key] = v
	}
	return object, nil
}

// pointerToken writes a name as a JSON pointer has it.
var pointerToken = strings.NewReplacer("~", "~0", "/", "~1")
