package store

import "strings"

// flowList reads a flow list of scalars that ends on its line.
func (s *scalar) flowList() (Value, verdict) {
	list := Value{Kind: List, Line: s.no, Column: s.column(s.start)}
	for at := s.start + 1; ; {
		at += len(s.line[at:]) - len(strings.TrimLeft(s.line[at:], " "))
		if at >= len(s.line) {
			s.open = true
			return list, slip(s.no, list.Column, msgListOpen)
		}
		if s.line[at] == ']' {
			tail := strings.TrimLeft(s.line[at+1:], " ")
			if tail == "" || tail[0] == '#' && s.line[at+1] == ' ' {
				return list, verdict{}
			}
			return list, giveUp()
		}
		item, end, bad := s.flowItem(at)
		if bad.bad() {
			return list, bad
		}
		list.Items = append(list.Items, item)
		end += len(s.line[end:]) - len(strings.TrimLeft(s.line[end:], " "))
		switch {
		case end >= len(s.line):
			s.open = true
			return list, slip(s.no, list.Column, msgListOpen)
		case s.line[end] == ',':
			end++
		case s.line[end] != ']':
			return list, giveUp()
		}
		at = end
	}
}

// flowItem reads one item that begins at the offset and returns where it ends.
func (s *scalar) flowItem(at int) (item Value, end int, bad verdict) {
	one := scalar{line: s.line, start: at, no: s.no}
	if c := s.line[at]; c == '"' || c == '\'' {
		item, end, bad = one.quoted()
		if bad.err != nil {
			bad = giveUp()
		}
		return item, end, bad
	}
	n := strings.IndexAny(s.line[at:], ",[]{}\"'#:\t&*!|>%@`?")
	if n == 0 {
		return item, 0, giveUp()
	}
	if n < 0 {
		n = len(s.line) - at
	}
	end = at + n
	if end < len(s.line) && s.line[end] != ',' && s.line[end] != ']' {
		// Stars inside are common (tool patterns) and harmless; for the rest the
		// library knows the rules.
		return s.flowStars(one, at)
	}
	return one.flowPlain(at, end)
}

// flowStars reads a plain item that may hold stars after its first character.
func (s *scalar) flowStars(one scalar, at int) (Value, int, verdict) {
	n := strings.IndexAny(s.line[at:], ",[]{}\"'#:\t&!|>%@`?")
	end := len(s.line)
	if n >= 0 {
		end = at + n
	}
	if s.line[at] == '*' || end < len(s.line) && s.line[end] != ',' && s.line[end] != ']' {
		return Value{}, 0, giveUp()
	}
	return one.flowPlain(at, end)
}

func (s *scalar) flowPlain(at, end int) (Value, int, verdict) {
	text := strings.TrimRight(s.line[at:end], " ")
	if text[0] == '-' && (len(text) == 1 || text[1] == ' ') {
		return Value{}, 0, giveUp()
	}
	return s.plain(text), end, verdict{}
}
