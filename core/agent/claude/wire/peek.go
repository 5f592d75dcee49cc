package wire

import (
	"bytes"
	"encoding/json"
)

// maxDepth is how deep values may be nested; encoding/json has the same limit.
const maxDepth = 10_000

// head is what decides where a line goes, found without decoding the line:
// pieces of it, nil where missing. The last of equal keys counts.
type head struct {
	kind, subtype, requestID   []byte
	request, response, failure []byte
}

// peek checks that raw is one JSON object and finds its head. It accepts
// exactly what encoding/json does, in one pass and without memory of its own:
// a line may be 10 MB long, and most of it is nobody's business here.
func peek(raw []byte) (head, bool) {
	s := scanner{b: raw}
	var h head
	s.space()
	if !s.object(&h) {
		return head{}, false
	}
	s.space()
	return h, s.i == len(raw)
}

func (h *head) note(key, value []byte) {
	if bytes.IndexByte(key, '\\') >= 0 {
		key = []byte(text(key))
	} else {
		key = key[1 : len(key)-1]
	}
	switch string(key) {
	case "type":
		h.kind = value
	case "subtype":
		h.subtype = value
	case "request_id":
		h.requestID = value
	case "request":
		h.request = value
	case "response":
		h.response = value
	case "error":
		h.failure = value
	}
}

// text is the string that a piece of JSON holds; any other value is "".
func text(piece []byte) string {
	if len(piece) < 2 || piece[0] != '"' {
		return ""
	}
	inside := piece[1 : len(piece)-1]
	for _, c := range inside {
		if c == '\\' || c >= 0x80 {
			var s string
			if err := json.Unmarshal(piece, &s); err != nil {
				return ""
			}
			return s
		}
	}
	return string(inside)
}

// scanner walks over JSON. Its methods report whether what they expect stands
// at i, and leave i behind it.
type scanner struct {
	b     []byte
	i     int
	depth int
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// is takes the byte c if it is next.
func (s *scanner) is(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *scanner) value() bool {
	if s.i == len(s.b) {
		return false
	}
	switch s.b[s.i] {
	case '{':
		return s.object(nil)
	case '[':
		return s.array()
	case '"':
		return s.str()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

// object tells h, if there is one, of every key and its value.
func (s *scanner) object(h *head) bool {
	if s.depth++; !s.is('{') || s.depth > maxDepth {
		return false
	}
	for s.space(); !s.is('}'); s.space() {
		key := s.i
		if !s.str() {
			return false
		}
		keyEnd := s.i
		if s.space(); !s.is(':') {
			return false
		}
		s.space()
		value := s.i
		if !s.value() {
			return false
		}
		if h != nil {
			h.note(s.b[key:keyEnd], s.b[value:s.i])
		}
		if s.space(); !s.another('}', '"') {
			return false
		}
	}
	s.depth--
	return true
}

func (s *scanner) array() bool {
	if s.depth++; !s.is('[') || s.depth > maxDepth {
		return false
	}
	for s.space(); !s.is(']'); s.space() {
		if !s.value() {
			return false
		}
		if s.space(); !s.another(']', 0) {
			return false
		}
	}
	s.depth--
	return true
}

// another checks what follows a member: the end, which stays, or a comma and
// then not the end.
func (s *scanner) another(end, first byte) bool {
	if s.i < len(s.b) && s.b[s.i] == end {
		return true
	}
	if !s.is(',') {
		return false
	}
	s.space()
	return s.i < len(s.b) && s.b[s.i] != end && (first == 0 || s.b[s.i] == first)
}

func (s *scanner) str() bool {
	if !s.is('"') {
		return false
	}
	for i := s.i; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return true
		case c == '\\':
			n := escape(s.b[i+1:])
			if n == 0 {
				return false
			}
			i += n
		case c < 0x20:
			return false
		}
	}
	return false
}

// escape is how many bytes after the backslash belong to it; 0 for no escape.
func escape(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(b) < 5 {
			return 0
		}
		for _, c := range b[1:5] {
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return 0
			}
		}
		return 5
	}
	return 0
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return false
	}
	s.i += len(w)
	return true
}

func (s *scanner) number() bool {
	s.is('-')
	if !s.is('0') && !s.digits() {
		return false
	}
	if s.is('.') && !s.digits() {
		return false
	}
	if s.is('e') || s.is('E') {
		if !s.is('+') {
			s.is('-')
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > start
}
