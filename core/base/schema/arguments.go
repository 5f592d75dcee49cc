package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// maxNamed is the maximum number of faults listed in one answer.
const maxNamed = 5

// Arguments are the validated arguments of a tool call. Present values have the right
// type, and missing ones read as zero values. Names are case-sensitive.
type Arguments map[string]any

// Read compiles a schema from JSON text.
func Read(text []byte) (*Schema, error) {
	value, err := decode(text)
	if err != nil {
		return nil, err
	}
	return Compile(value)
}

// Arguments decodes the arguments of a call of that tool, of at most limit bytes, and
// validates them. problem describes what is wrong and how to fix it.
func (s *Schema) Arguments(tool string, args json.RawMessage, limit int) (a Arguments, problem string) {
	if len(args) > limit {
		return nil, fmt.Sprintf(textTooLarge, tool, limit>>10)
	}
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	value, err := decode(args)
	if err != nil {
		return nil, fmt.Sprintf(textUnreadable, tool, err)
	}
	problems := s.Validate(value)
	if len(problems) == 0 {
		a, _ = value.(map[string]any)
		return a, ""
	}
	var list []string
	for _, p := range problems[:min(len(problems), maxNamed)] {
		list = append(list, fieldFault(p))
	}
	return nil, fmt.Sprintf(textInvalid, tool, strings.Join(list, "; "))
}

// Text returns a string; empty if missing.
func (a Arguments) Text(key string) string {
	s, _ := a[key].(string)
	return s
}

// Flag returns a boolean; false if missing.
func (a Arguments) Flag(key string) bool { return a[key] == true }

// Number returns an integer within the bounds of its schema; 5.0 and 5e1 count as
// integers.
func (a Arguments) Number(key string) int {
	n, _ := a[key].(json.Number)
	f, _ := n.Float64()
	return int(f)
}

// List returns the objects of an array.
func (a Arguments) List(key string) []Arguments {
	all, _ := a[key].([]any)
	list := make([]Arguments, 0, len(all))
	for _, one := range all {
		fields, _ := one.(map[string]any)
		list = append(list, fields)
	}
	return list
}

// fieldFault words a problem, with the field in the form fields[0].name.
func fieldFault(p Problem) string {
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
	case "additionalProperties":
		return fmt.Sprintf(textNoField, name)
	case "enum":
		return fmt.Sprintf(textNotOne, name, choices(p.Want))
	case "minLength":
		return fmt.Sprintf(textEmpty, name)
	case "maxItems":
		return fmt.Sprintf(textTooMany, name, p.Want, p.Count)
	case "minimum":
		return fmt.Sprintf(textTooSmall, name, p.Want)
	case "maximum":
		return fmt.Sprintf(textTooBig, name, p.Want)
	}
	return fmt.Sprintf(textUnfit, cmp.Or(name, "the object")) // a number out of bounds, or too many values
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

// choices lists the values of an enumeration in prose.
func choices(want any) string {
	all, _ := want.([]any)
	list := make([]string, 0, len(all))
	for _, one := range all {
		list = append(list, fmt.Sprint(one))
	}
	return strings.Join(list, ", ")
}

// Problems with arguments.
const (
	textUnreadable = "Error: the arguments of %s cannot be read (%v). Send one JSON object."
	textTooLarge   = "Error: the arguments of %s are larger than %d KiB. Shorten them."
	textInvalid    = "Error: the arguments of %s are not valid: %s."
	textMissing    = "%s is missing, add it"
	textMissingIn  = "%s is missing in %s, add it"
	textNotObject  = "the arguments must be one JSON object"
	textWrongType  = "%s must be of type %s, not %s"
	textEmpty      = "%s must not be empty"
	textTooMany    = "%s may hold at most %d, not %d"
	textTooSmall   = "%s must be at least %s"
	textTooBig     = "%s must be at most %s"
	textUnfit      = "%s is out of bounds, write it smaller"
	textNoField    = "%s is no field that is known, leave it out"
	textNotOne     = "%s must be one of %s"
)
