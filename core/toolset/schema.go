package toolset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"ollimbot/core/clean"
)

const (
	// maxArgs is the largest arguments object in bytes; a model never needs more.
	maxArgs = 256 << 10
	// maxProblems is how many faults one answer names.
	maxProblems = 5
)

// schema is the part of JSON Schema that our schemas use. It is checked
// here and not by a library because the library's package initialisation costs
// each start of the program 4 ms and 1.7 MB, a command that calls no tool
// included; a test holds both against each other.
type schema struct {
	Type        string             `json:"type"`
	Description string             `json:"description"`
	Required    []string           `json:"required"`
	Properties  map[string]*schema `json:"properties"`
	Items       *schema            `json:"items"`
	MinLength   int                `json:"minLength"` // in characters
	MaxItems    *int               `json:"maxItems"`
	Minimum     *float64           `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
}

// schemas is every tool's schema, read when the first call arrives.
var schemas = sync.OnceValues(readSchemas)

func readSchemas() (map[string]*schema, error) {
	all := make(map[string]*schema, len(tools))
	for _, t := range tools {
		data, err := schemaFiles.ReadFile("schemas/" + t.name + ".json")
		if err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", t.name, err)
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields() // a keyword that is not checked must not stand there
		s := &schema{}
		if err := dec.Decode(s); err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", t.name, err)
		}
		all[t.name] = s
	}
	return all, nil
}

// check says what is wrong with a tool's arguments and how to cure it, or "".
func check(tool string, args json.RawMessage) string {
	if len(args) > maxArgs {
		return fmt.Sprintf(textTooLarge, tool, maxArgs>>10)
	}
	all, err := schemas()
	if err != nil {
		return fmt.Sprintf(textUnreadable, tool, err)
	}
	value, err := decode(args)
	if err != nil {
		return fmt.Sprintf(textUnreadable, tool, err)
	}
	if list := all[tool].faults("", value); len(list) > 0 {
		return fmt.Sprintf(textInvalid, tool, strings.Join(list[:min(len(list), maxProblems)], "; "))
	}
	return ""
}

// decode reads exactly one JSON value and keeps numbers as they are written.
func decode(args json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return value, nil
}

// faults are what is wrong with a value, in our words; field is its name as
// people write it: fields[0].name.
func (s *schema) faults(field string, value any) []string {
	if got := typeOf(value); got != s.Type && (s.Type != "number" || got != "integer") {
		if field == "" {
			return []string{textNotObject}
		}
		return []string{fmt.Sprintf(textWrongType, field, s.Type, got)}
	}
	switch v := value.(type) {
	case map[string]any:
		return s.objectFaults(field, v)
	case []any:
		return s.listFaults(field, v)
	case string:
		if utf8.RuneCountInString(v) < s.MinLength {
			return []string{fmt.Sprintf(textEmpty, field)}
		}
	case json.Number:
		n := float(v)
		if s.Minimum != nil && n < *s.Minimum {
			return []string{fmt.Sprintf(textTooSmall, field, number(*s.Minimum))}
		}
		if s.Maximum != nil && n > *s.Maximum {
			return []string{fmt.Sprintf(textTooBig, field, number(*s.Maximum))}
		}
	}
	return nil
}

func (s *schema) objectFaults(field string, object map[string]any) []string {
	var list, missing []string
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			missing = append(missing, strconv.Quote(name))
		}
	}
	if len(missing) > 0 {
		text := fmt.Sprintf(textMissing, strings.Join(missing, ", "))
		if field != "" {
			text = fmt.Sprintf(textMissingIn, strings.Join(missing, ", "), field)
		}
		list = append(list, text)
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names) // so that the same fault gets the same words
	for _, name := range names {
		inner, ok := object[name]
		if !ok {
			continue
		}
		path := name
		if field != "" {
			path = field + "." + name
		}
		list = append(list, s.Properties[name].faults(path, inner)...)
	}
	return list
}

func (s *schema) listFaults(field string, items []any) []string {
	if s.MaxItems != nil && len(items) > *s.MaxItems {
		return []string{fmt.Sprintf(textTooMany, field, *s.MaxItems, len(items))}
	}
	if s.Items == nil {
		return nil
	}
	var list []string
	for i, item := range items {
		list = append(list, s.Items.faults(fmt.Sprintf("%s[%d]", field, i), item)...)
		if len(list) >= maxProblems {
			break
		}
	}
	return list
}

// typeOf is JSON Schema's name of a value's type; a number without a fraction
// is an integer, however it is written.
func typeOf(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if n := float(v); n == math.Trunc(n) {
			return "integer"
		}
		return "number"
	}
	return "null"
}

// float is a number's value; one that is too large is infinite.
func float(n json.Number) float64 {
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0 // cannot be: a decoded number has a number's form
	}
	return f
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// whole reads an integer that has passed its schema; 5.0 and 5e1 are integers too.
func whole(n json.Number) (int, error) {
	if f := float(n); f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
		return int(f), nil
	}
	return 0, fmt.Errorf("%q is no whole number", clean.Cut(n.String(), 40))
}
