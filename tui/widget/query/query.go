// Package query is the language of the filter, the same in every list: words, "a phrase",
// weekdays, dates and is:STATE, each with "!" in front for the opposite. A list gives the facts
// of its rows. The package must not know what the rows are, or how the query is written.
package query

import (
	"slices"
	"strings"
	"time"
)

// Facts are what a row can be found by.
type Facts struct {
	Text string   // all that can be read of it
	Is   []string // its states: "failed", "silent"
	// At is its moment in the user's zone, and Now is the user's now; a zero At has no day.
	At, Now time.Time
}

// Query keeps the rows that meet each of its terms. The zero Query keeps every row.
type Query struct{ terms []term }

// term is a part of a query. A day is met by its word, too: "Sunday reset" on any day.
type term struct {
	text  string
	not   bool
	exact bool // with capital letters, which are then significant
	state bool // text begins the name of a state
	day   func(at, now time.Time) bool
}

// prefix begins a term about a state, and opposite turns a term around.
const prefix, opposite = "is:", "!"

// Parse reads a query. It accepts every text: what is no date and no state is a word.
func Parse(text string) (q Query) {
	words := split(text)
	for len(words) > 0 {
		w := words[0]
		t := term{text: w.text, not: w.not, exact: strings.ToLower(w.text) != w.text}
		n := 1
		if !w.quoted {
			if rest, ok := strings.CutPrefix(w.text, prefix); ok {
				t.text, t.state = rest, true
			} else if day, took := date(words); took > 0 {
				t.day, n = day, took
				for _, more := range words[1:took] {
					t.text += " " + more.text
				}
			}
		}
		if t.text != "" {
			q.terms = append(q.terms, t)
		}
		words = words[n:]
	}
	return q
}

// On reports whether rows may be left out.
func (q Query) On() bool { return len(q.terms) > 0 }

// Keeps reports whether a row with these facts meets the query.
func (q Query) Keeps(f Facts) bool {
	return !slices.ContainsFunc(q.terms, func(t term) bool { return t.not == t.met(f) })
}

// Words are the texts that kept rows may contain.
func (q Query) Words() (out []string) {
	for _, t := range q.terms {
		if !t.not && !t.state {
			out = append(out, t.text)
		}
	}
	return out
}

// Asks reports whether the last word of a text begins to name a state.
func Asks(text string) bool {
	last := text[strings.LastIndexByte(text, ' ')+1:]
	return strings.HasPrefix(strings.TrimPrefix(last, opposite), prefix)
}

func (t term) met(f Facts) bool {
	switch {
	case t.state:
		return slices.ContainsFunc(f.Is, func(s string) bool { return strings.HasPrefix(s, strings.ToLower(t.text)) })
	case t.day != nil && !f.At.IsZero() && t.day(f.At, f.Now):
		return true
	case t.exact:
		return strings.Contains(f.Text, t.text)
	}
	return strings.Contains(strings.ToLower(f.Text), t.text) || slices.Contains(f.Is, t.text)
}

// word is a piece of a query: up to a space, or in quotes.
type word struct {
	text        string
	not, quoted bool
}

// split takes a query apart. A quote that is not closed reaches to the end.
func split(text string) (out []word) {
	for {
		text = strings.TrimLeft(text, " \t")
		if text == "" {
			return out
		}
		var w word
		text, w.not = strings.CutPrefix(text, opposite)
		end := " "
		if text, w.quoted = strings.CutPrefix(text, `"`); w.quoted {
			end = `"`
		}
		if w.text, text, _ = strings.Cut(text, end); w.text != "" {
			out = append(out, w)
		}
	}
}
