package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Why a payload is not read.
var (
	errJSON      = errors.New("not a JSON document that can be read in one way only")
	errNotObject = errors.New("not a JSON object")
	errNumber    = errors.New("a number is out of bounds")
)

// Bounds of a number's text. Beyond them exact arithmetic costs seconds.
const (
	maxNumber   = 64
	maxExponent = 308
)

// member is one field of an object in the order of its text.
type member struct {
	key   string
	raw   []byte // its value's text
	value any    // as the validator takes it: numbers are json.Number
}

// readObject reads a JSON object. Unlike encoding/json it refuses what two
// readers could take for two things: bytes that are not UTF-8 and names that
// come twice, at any depth; and it refuses what nests deeper than a payload may.
func readObject(text []byte) ([]member, error) {
	if !utf8.Valid(text) || !json.Valid(text) {
		return nil, errJSON
	}
	r := objectReader{text: text, d: json.NewDecoder(bytes.NewReader(text))}
	r.d.UseNumber()
	first, err := r.d.Token()
	if err != nil {
		return nil, errJSON
	}
	if first != json.Delim('{') {
		// A list that is no JSON for other reasons is refused as such first.
		if _, err := r.value(first, 1); err != nil {
			return nil, err
		}
		return nil, errNotObject
	}
	return r.members(1, true)
}

type objectReader struct {
	text []byte
	d    *json.Decoder
}

// members reads an object behind its brace; raw keeps the texts of the values.
func (r *objectReader) members(depth int, raw bool) ([]member, error) {
	if depth > maxNesting {
		return nil, errJSON
	}
	var list []member
	seen := map[string]bool{}
	for r.d.More() {
		token, err := r.d.Token()
		key, ok := token.(string)
		if err != nil || !ok || seen[key] {
			return nil, errJSON
		}
		seen[key] = true
		from := r.d.InputOffset()
		m := member{key: key}
		if m.value, err = r.next(depth); err != nil {
			return nil, err
		}
		if raw {
			m.raw = bytes.TrimLeft(r.text[from:r.d.InputOffset()], " \t\r\n:")
		}
		list = append(list, m)
	}
	_, err := r.d.Token() // the closing brace
	return list, bad(err)
}

func (r *objectReader) next(depth int) (any, error) {
	token, err := r.d.Token()
	if err != nil {
		return nil, errJSON
	}
	return r.value(token, depth+1)
}

// value is what begins with the token, at that depth if it nests.
func (r *objectReader) value(token json.Token, depth int) (any, error) {
	switch token := token.(type) {
	case json.Number:
		return token, checkNumber(token.String())
	case json.Delim:
		if token == '[' {
			return r.list(depth)
		}
		list, err := r.members(depth, false)
		if err != nil {
			return nil, err
		}
		return asMap(list), nil
	}
	return token, nil
}

func (r *objectReader) list(depth int) (any, error) {
	if depth > maxNesting {
		return nil, errJSON
	}
	list := []any{}
	for r.d.More() {
		v, err := r.next(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.d.Token() // the closing bracket
	return list, bad(err)
}

// bad hides the library's words: they quote the text.
func bad(err error) error {
	if err != nil {
		return errJSON
	}
	return nil
}

// checkNumber refuses numbers that nobody means and that cost a lot to compare.
func checkNumber(text string) error {
	if len(text) > maxNumber {
		return errNumber
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exponent, err := strconv.Atoi(strings.TrimPrefix(text[i+1:], "+"))
		if err != nil || exponent > maxExponent || exponent < -maxExponent {
			return errNumber
		}
	}
	return nil
}

// text is a value as a prompt shows it: a text without its quotes, everything
// else as compact JSON with numbers as they were written.
func (m member) text() string {
	if s, ok := m.value.(string); ok {
		return s
	}
	var b bytes.Buffer
	if err := json.Compact(&b, m.raw); err != nil {
		return fmt.Sprint(m.value) // it was valid JSON before
	}
	return b.String()
}

// asMap is the object as the validator takes it.
func asMap(list []member) map[string]any {
	object := make(map[string]any, len(list))
	for _, m := range list {
		object[m.key] = m.value
	}
	return object
}

func has(list []member, key string) bool {
	return slices.ContainsFunc(list, func(m member) bool { return m.key == key })
}
