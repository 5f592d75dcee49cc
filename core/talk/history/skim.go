package history

import (
	"bytes"
	"encoding/json"
)

// Session files are large: a fork's file contains a copy of its parent's, and a picture is
// a line of megabytes. So a line is first skimmed for its members, at the speed of memory,
// and only the values in use are decoded.

// members calls f with each member of a JSON object: the raw key between its quotes, and
// the raw value. It reports whether the object was complete. It does not validate values.
func members(object []byte, f func(key, value []byte)) bool {
	i := blank(object, 0)
	if i >= len(object) || object[i] != '{' {
		return false
	}
	for i = blank(object, i+1); i < len(object) && object[i] != '}'; {
		end := pastString(object, i)
		if end < 0 {
			return false
		}
		key := object[i+1 : end-1]
		i = blank(object, end)
		if i >= len(object) || object[i] != ':' {
			return false
		}
		i = blank(object, i+1)
		if end = pastValue(object, i); end < 0 {
			return false
		}
		f(key, object[i:end])
		if i = next(object, end, '}'); i < 0 {
			return false
		}
	}
	return i < len(object)
}

// elements calls f with each raw element of a JSON array, and reports whether the array
// was complete.
func elements(array []byte, f func(value []byte)) bool {
	i := blank(array, 0)
	if i >= len(array) || array[i] != '[' {
		return false
	}
	for i = blank(array, i+1); i < len(array) && array[i] != ']'; {
		end := pastValue(array, i)
		if end < 0 {
			return false
		}
		f(array[i:end])
		if i = next(array, end, ']'); i < 0 {
			return false
		}
	}
	return i < len(array)
}

// next returns the index of the next member or of the closing bracket, or -1.
func next(data []byte, i int, closing byte) int {
	i = blank(data, i)
	switch {
	case i >= len(data):
		return -1
	case data[i] == closing:
		return i
	case data[i] == ',':
		if i = blank(data, i+1); i < len(data) && data[i] != closing {
			return i
		}
	}
	return -1
}

func blank(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n') {
		i++
	}
	return i
}

// pastString returns the index after the string that starts at i, or -1.
func pastString(data []byte, i int) int {
	if i >= len(data) || data[i] != '"' {
		return -1
	}
	for at := i + 1; ; {
		n := bytes.IndexByte(data[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		escapes := 0
		for data[at-1-escapes] == '\\' {
			escapes++
		}
		if at++; escapes%2 == 0 {
			return at
		}
	}
}

// pastValue returns the index after the value that starts at i, or -1.
func pastValue(data []byte, i int) int {
	if i >= len(data) {
		return -1
	}
	switch data[i] {
	case '"':
		return pastString(data, i)
	case '{', '[':
		return pastBrackets(data, i)
	}
	end := i
	for end < len(data) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(data[end])) {
		end++
	}
	if end == i {
		return -1
	}
	return end
}

func pastBrackets(data []byte, i int) int {
	for depth := 0; i < len(data); {
		switch data[i] {
		case '"':
			if i = pastString(data, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// plainString returns a raw string without escapes; empty for any other value.
func plainString(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' || bytes.IndexByte(raw, '\\') >= 0 {
		return ""
	}
	return string(raw[1 : len(raw)-1])
}

// text decodes a raw string; empty for any other value.
func text(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
