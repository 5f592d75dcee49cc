package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Why a payload is not read.
var (
	errJSON      = errors.New("not an unambiguous JSON document")
	errNotObject = errors.New("not a JSON object")
	errNumber    = errors.New("a number is out of bounds")
)

// Limits of a number's text. Beyond them exact arithmetic takes seconds.
const (
	maxNumber   = 64
	maxExponent = 308
)

// member is one field of an object in the order of its text.
type member struct {
	key   string
	raw   []byte // the text of its value
	value any    // for the validator: numbers are json.Number
}

// readObject reads a JSON object. Unlike encoding/json it rejects text that two readers
// could understand differently, invalid UTF-8 and duplicate names at any depth, and nesting
// beyond maxNesting. The library's errors quote the text, so they are not returned.
func readObject(text []byte) ([]member, error) {
	if !utf8.Valid(text) || !json.Valid(text) {
		return nil, errJSON
	}
	if err := walk(decoder(text), 1); err != nil {
		return nil, err
	}
	d, values := decoder(text), map[string]any{} // which have no errors left
	if first, _ := d.Token(); first != json.Delim('{') {
		return nil, errNotObject
	}
	_ = decoder(text).Decode(&values)
	var list []member
	for d.More() {
		var raw json.RawMessage
		token, _ := d.Token()
		key, _ := token.(string)
		_ = d.Decode(&raw)
		list = append(list, member{key: key, raw: raw, value: values[key]})
	}
	return list, nil
}

func decoder(text []byte) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d
}

// walk checks the next value of valid JSON, which is at that depth.
func walk(d *json.Decoder, depth int) error {
	token, _ := d.Token()
	if number, ok := token.(json.Number); ok {
		return checkNumber(number.String())
	}
	if token != json.Delim('{') && token != json.Delim('[') {
		return nil
	}
	if depth > maxNesting {
		return errJSON
	}
	seen := map[json.Token]bool{}
	for d.More() {
		if token == json.Delim('{') {
			key, _ := d.Token()
			if seen[key] {
				return errJSON
			}
			seen[key] = true
		}
		if err := walk(d, depth+1); err != nil {
			return err
		}
	}
	_, _ = d.Token() // the closing bracket
	return nil
}

// checkNumber rejects absurd numbers, which are expensive to compare.
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

// text is the value in a prompt: strings without quotes, everything else as compact JSON
// with numbers as they were written.
func (m member) text() string {
	if s, ok := m.value.(string); ok {
		return s
	}
	var b bytes.Buffer
	_ = json.Compact(&b, m.raw) // it is valid JSON
	return b.String()
}

// asMap is the object for the validator.
func asMap(list []member) map[string]any {
	object := make(map[string]any, len(list))
	for _, m := range list {
		object[m.key] = m.value
	}
	return object
}
