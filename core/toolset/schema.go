package toolset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"ollimbot/core/clean"
)

// maxArgs is the largest arguments object in bytes; a model never needs more.
const maxArgs = 256 << 10

// compiled is every tool's schema, made when the first call arrives: a command
// that calls no tool does not pay for it.
var compiled = sync.OnceValues(compile)

func compile() (map[string]*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	all := make(map[string]*jsonschema.Schema, len(tools))
	for _, t := range tools {
		name := "schemas/" + t.name + ".json"
		data, err := schemaFiles.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", t.name, err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", t.name, err)
		}
		if err := c.AddResource(name, doc); err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", t.name, err)
		}
		if all[t.name], err = c.Compile(name); err != nil {
			return nil, fmt.Errorf("compile the schema of %s: %w", t.name, err)
		}
	}
	return all, nil
}

// check says what is wrong with a tool's arguments and how to cure it, or "".
func check(tool string, args json.RawMessage) string {
	if len(args) > maxArgs {
		return fmt.Sprintf(textTooLarge, tool, maxArgs>>10)
	}
	schemas, err := compiled()
	if err != nil {
		return fmt.Sprintf(textUnreadable, tool, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return fmt.Sprintf(textUnreadable, tool, err)
	}
	err = schemas[tool].Validate(value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &invalid):
		return fmt.Sprintf(textInvalid, tool, strings.Join(problems(invalid), "; "))
	}
	return fmt.Sprintf(textUnreadable, tool, err)
}

// problems are the leaves of a validation error, at most five, in our words.
func problems(e *jsonschema.ValidationError) []string {
	if len(e.Causes) == 0 {
		return []string{problem(e)}
	}
	var list []string
	for _, c := range e.Causes {
		list = append(list, problems(c)...)
	}
	return list[:min(len(list), 5)]
}

func problem(e *jsonschema.ValidationError) string {
	field := fieldName(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		names := make([]string, 0, len(k.Missing))
		for _, m := range k.Missing {
			names = append(names, strconv.Quote(m))
		}
		if field == "" {
			return fmt.Sprintf(textMissing, strings.Join(names, ", "))
		}
		return fmt.Sprintf(textMissingIn, strings.Join(names, ", "), field)
	case *kind.Type:
		if field == "" {
			return textNotObject
		}
		return fmt.Sprintf(textWrongType, field, strings.Join(k.Want, " or "), k.Got)
	case *kind.MinLength:
		return fmt.Sprintf(textEmpty, field)
	case *kind.MaxItems:
		return fmt.Sprintf(textTooMany, field, k.Want, k.Got)
	case *kind.Minimum:
		return fmt.Sprintf(textTooSmall, field, k.Want.RatString())
	case *kind.Maximum:
		return fmt.Sprintf(textTooBig, field, k.Want.RatString())
	}
	return clean.Cut(clean.Line(e.Error()), 200)
}

// fieldName writes a location as people do: fields[0].name.
func fieldName(path []string) string {
	var b strings.Builder
	for _, p := range path {
		if _, err := strconv.Atoi(p); err == nil {
			b.WriteString("[" + p + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(clean.Cut(clean.Line(p), 40))
	}
	return b.String()
}

// whole reads an integer; JSON Schema takes 5.0 and 5e1 for one too.
func whole(n json.Number) (int, error) {
	if i, err := strconv.Atoi(n.String()); err == nil {
		return i, nil
	}
	f, err := n.Float64()
	if err != nil || f != float64(int(f)) {
		return 0, fmt.Errorf("%q is no whole number", n.String())
	}
	return int(f), nil
}
