package toolset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"ollimbot/core/clean"
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
	var list []string
	for _, p := range all[tool].Validate(value) {
		list = append(list, fault(p))
	}
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf(textInvalid, tool, strings.Join(list[:min(len(list), maxProblems)], "; "))
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

// fault is a problem in our words, with the field as people write it:
// fields[0].name.
func fault(p schema.Problem) string {
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

// whole reads an integer that has passed its schema; 5.0 and 5e1 are integers too.
func whole(n json.Number) (int, error) {
	if f, err := n.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
		return int(f), nil
	}
	return 0, fmt.Errorf("%q is no whole number", clean.Cut(n.String(), 40))
}
