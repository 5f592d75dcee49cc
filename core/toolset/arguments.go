package toolset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"ollimbot/core/schema"
)

const (
	// maxArgs is the largest arguments object in bytes; a model never needs more.
	maxArgs = 256 << 10
	// maxProblems is how many faults one answer names.
	maxProblems = 5
)

// schemas is every tool's schema, read when the first call arrives.
var schemas = sync.OnceValues(readSchemas)

func readSchemas() (map[string]*schema.Schema, error) {
	all := make(map[string]*schema.Schema, len(tools))
	for _, t := range tools {
		data, err := schemaFiles.ReadFile("schemas/" + t.name + ".json")
		var value any
		if err == nil {
			value, err = decode(data)
		}
		if err == nil {
			all[t.name], err = schema.Compile(value)
		}
		if err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", t.name, err)
		}
	}
	return all, nil
}

// arguments are those of a call that has passed its schema: what is there is of
// the right kind, so that what is missing reads as nothing.
type arguments map[string]any

// read decodes a tool's arguments and holds them against its schema, or says what
// is wrong with them and how to cure it.
func read(tool string, args json.RawMessage) (a arguments, problem string) {
	if len(args) > maxArgs {
		return nil, fmt.Sprintf(textTooLarge, tool, maxArgs>>10)
	}
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	all, err := schemas()
	if err != nil {
		return nil, fmt.Sprintf(textUnreadable, tool, err)
	}
	value, err := decode(args)
	if err != nil {
		return nil, fmt.Sprintf(textUnreadable, tool, err)
	}
	problems := all[tool].Validate(value)
	if len(problems) == 0 {
		a, _ = value.(map[string]any)
		return a, ""
	}
	var list []string
	for _, p := range problems[:min(len(problems), maxProblems)] {
		list = append(list, fieldFault(p))
	}
	return nil, fmt.Sprintf(textInvalid, tool, strings.Join(list, "; "))
}

func (a arguments) text(key string) string {
	s, _ := a[key].(string)
	return s
}

func (a arguments) flag(key string) bool { return a[key] == true }

// number is an integer within the bounds of its schema; 5.0 and 5e1 are integers too.
func (a arguments) number(key string) int {
	n, _ := a[key].(json.Number)
	f, _ := n.Float64()
	return int(f)
}

// list are the objects of an array.
func (a arguments) list(key string) []arguments {
	all, _ := a[key].([]any)
	list := make([]arguments, 0, len(all))
	for _, one := range all {
		fields, _ := one.(map[string]any)
		list = append(list, fields)
	}
	return list
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

// fieldFault is a problem in our words, with the field as people write it:
// fields[0].name.
func fieldFault(p schema.Problem) string {
	name := fieldOf(p.Path)
	switch p.Keyword {
	case "required":
		last := len(p.Path) - 1
		missing := strconv.Quote(p.Path[last])
		if last == 0 {
			return fmt.Sprintf(textMissing, missing)
		}
		return fmt.Sprintf(textMissingIn, missing, fieldOf(p.Path[:last]))
	case "type":
		if name == "" {
			return textNotObject
		}
		want, _ := p.Want.([]string)
		return fmt.Sprintf(textWrongType, name, strings.Join(want, " or "), p.Kind)
	case "minLength":
		return fmt.Sprintf(textEmpty, name)
	case "maxItems":
		return fmt.Sprintf(textTooMany, name, p.Want, p.Count)
	case "minimum":
		return fmt.Sprintf(textTooSmall, name, p.Want)
	case "maximum":
		return fmt.Sprintf(textTooBig, name, p.Want)
	}
	return fmt.Sprintf(textUnfit, cmp.Or(name, "the object")) // a number out of bounds, or too much of everything
}

func fieldOf(path []string) string {
	var b strings.Builder
	for _, step := range path {
		switch _, err := strconv.Atoi(step); {
		case err == nil:
			b.WriteString("[" + step + "]")
		case b.Len() > 0:
			b.WriteString("." + step)
		default:
			b.WriteString(step)
		}
	}
	return b.String()
}
