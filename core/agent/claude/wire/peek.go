package wire

import "encoding/json"

// head are the fields of a line as they stand there, which decide where it goes.
// A field that is missing is nil; the last of equal keys counts.
type head map[string]json.RawMessage

// peek reports whether raw is one JSON object, and reads its fields.
func peek(raw []byte) (h head, ok bool) {
	err := json.Unmarshal(raw, &h)
	return h, err == nil && h != nil
}

// text is the string that a field holds; any other value is "".
func (h head) text(field string) (s string) {
	if json.Unmarshal(h[field], &s) != nil {
		return ""
	}
	return s
}
