package widget

import (
	"strings"

	"ollimbot/tui/theme"
)

// WrapSpans breaks spans of one line into rows of at most w cells, as Wrap does
// with plain text. It gives at least one row, which may be empty.
func WrapSpans(spans []Span, w int) [][]Span {
	spans, text := tidied(spans)
	var rows [][]Span
	for _, p := range breaks(text, max(1, w)) {
		rows = append(rows, within(spans, p))
	}
	return rows
}

// HardWrap breaks a line into parts of at most w cells wherever they end: in
// code every space counts. It gives at least one part, which may be empty.
func HardWrap(s string, w int) []string {
	s, w = Tidy(s), max(1, w)
	var out []string
	for {
		n := skipWithin(s, w)
		out = append(out, s[:n])
		if s = s[n:]; s == "" {
			return out
		}
	}
}

// skipWithin is how many bytes of tidy text fit into w cells, at least one
// character.
func skipWithin(s string, w int) int {
	i, used := 0, 0
	for i < len(s) {
		size, cells := character(s[i:])
		if used += cells; used > w && i > 0 {
			break
		}
		i += size
	}
	return i
}

// tidied is the spans in tidy text, and their text in one.
func tidied(spans []Span) ([]Span, string) {
	var b strings.Builder
	out := make([]Span, 0, len(spans))
	for _, s := range spans {
		if s.Text = Tidy(s.Text); s.Text != "" {
			out = append(out, s)
			b.WriteString(s.Text)
		}
	}
	return out, b.String()
}

// within are the spans of one part of their joined text.
func within(spans []Span, p piece) []Span {
	var row []Span
	at := 0
	for _, s := range spans {
		from, to := max(p.from-at, 0), min(p.to-at, len(s.Text))
		if from < to {
			row = append(row, Span{s.Role, s.Text[from:to]})
		}
		at += len(s.Text)
	}
	return row
}

// MarkSpans paints what the Matcher finds in a row of spans, also where a match
// goes on in the next span.
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
