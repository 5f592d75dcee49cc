package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ollimbot/tui/theme"
)

// Matcher finds a word in texts. A query without capital letters finds both
// cases. The zero Matcher finds nothing.
type Matcher struct {
	query string
	fold  bool
}

// NewMatcher returns a Matcher for the query.
func NewMatcher(query string) Matcher {
	fold := true
	for _, r := range query {
		fold = fold && !unicode.IsUpper(r)
	}
	return Matcher{query: query, fold: fold}
}

// Active reports whether there is something to find.
func (m Matcher) Active() bool { return m.query != "" }

// In reports whether s holds the query.
func (m Matcher) In(s string) bool {
	if m.query == "" {
		return false
	}
	from, _ := m.next(s, 0)
	return from >= 0
}

// pieces are the places of the query in s, which do not overlap.
func (m Matcher) pieces(s string) []piece {
	if m.query == "" {
		return nil
	}
	var out []piece
	for at := 0; ; {
		from, to := m.next(s, at)
		if from < 0 {
			return out
		}
		out = append(out, piece{from, to})
		at = to
	}
}

// next is the first place of the query in s from byte at on, or -1.
func (m Matcher) next(s string, at int) (from, to int) {
	if !m.fold {
		i := strings.Index(s[at:], m.query)
		if i < 0 {
			return -1, 0
		}
		return at + i, at + i + len(m.query)
	}
	first, _ := utf8.DecodeRuneInString(m.query)
	upper := unicode.ToUpper(first)
	for i := at; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if r == first || r == upper || unicode.ToLower(r) == first {
			if k := foldPrefix(s[i:], m.query); k > 0 {
				return i, i + k
			}
		}
		i += n
	}
	return -1, 0
}

// foldPrefix is how many bytes of s the lower-case query covers, or 0.
func foldPrefix(s, query string) int {
	i := 0
	for _, q := range query {
		if i >= len(s) {
			return 0
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.ToLower(r) != q {
			return 0
		}
		i += n
	}
	return i
}

// Mark splits text into spans of the role, with what the Matcher finds painted
// as a match.
func (m Matcher) Mark(role theme.Role, text string) []Span {
	return marked(role, text, piece{0, len(text)}, m.pieces(text))
}

// marked are the spans of one part of a text whose matches are known, so that
// a match goes on behind a line break.
func marked(role theme.Role, text string, part piece, hits []piece) []Span {
	var out []Span
	at := part.from
	for _, h := range hits {
		from, to := max(h.from, at), min(h.to, part.to)
		if from >= to {
			continue
		}
		if from > at {
			out = append(out, Span{role, text[at:from]})
		}
		out = append(out, Span{theme.Match, text[from:to]})
		at = to
	}
	if at < part.to {
		out = append(out, Span{role, text[at:part.to]})
	}
	return out
}
