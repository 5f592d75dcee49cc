package widget

import (
	"regexp"
	"strings"

	"ollimbot/tui/theme"
)

// Matcher finds a query in texts. A query without capital letters ignores case. The zero
// Matcher finds nothing.
type Matcher struct {
	query string
	fold  bool
	found *regexp.Regexp
}

// newMatcher returns a Matcher for the query.
func newMatcher(query string) Matcher {
	if query == "" {
		return Matcher{}
	}
	expr, fold := regexp.QuoteMeta(query), strings.ToLower(query) == query
	if fold {
		expr = "(?i)" + expr
	}
	return Matcher{query, fold, regexp.MustCompile(expr)}
}

// Active reports whether the query is not empty.
func (m Matcher) Active() bool { return m.query != "" }

// In reports whether s contains the query.
func (m Matcher) In(s string) bool {
	if m.fold {
		s = strings.ToLower(s)
	}
	return m.Active() && strings.Contains(s, m.query)
}

// pieces are the matches in s. They do not overlap.
func (m Matcher) pieces(s string) (out []piece) {
	if m.Active() {
		for _, at := range m.found.FindAllStringIndex(s, -1) {
			out = append(out, piece{at[0], at[1]})
		}
	}
	return out
}

// Mark splits text into spans of the role, with the matches as theme.Match.
func (m Matcher) Mark(role theme.Role, text string) []Span {
	return marked(role, text, piece{0, len(text)}, m.pieces(text))
}

// marked are the spans of one piece of a text. The matches are those of the whole text,
// so that a match can continue after a line break.
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

// MarkSpans returns a row of spans with the matches as theme.Match. A match can cross
// spans.
func (m Matcher) MarkSpans(row []Span) []Span {
	if !m.Active() {
		return row
	}
	row, text := tidied(row)
	hits := m.pieces(text)
	if len(hits) == 0 {
		return row
	}
	var out []Span
	at := 0
	for _, h := range hits {
		out = append(out, within(row, piece{at, h.from})...)
		out = append(out, Span{theme.Match, text[h.from:h.to]})
		at = h.to
	}
	return append(out, within(row, piece{at, len(text)})...)
}
