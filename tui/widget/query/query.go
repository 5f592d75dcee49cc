// Package query is the language of the filter, the same in every list: words, "a phrase",
// weekdays, dates and is:STATE, each with "!" in front for the opposite. A list gives the facts
// of its rows. The package must not know what the rows are, or how the query is written.
package query

import (
	"slices"
	"strconv"
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

// Sentence reports whether the query is several words, without a day, a state or an opposite.
func (q Query) Sentence() bool {
	return len(q.terms) > 1 && !slices.ContainsFunc(q.terms, func(t term) bool { return t.not || t.state || t.day != nil })
}

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

// Asks reports whether the last word of a text begins to name a state, and how it begins.
func Asks(text string) (begun string, ok bool) {
	last := text[strings.LastIndexByte(text, ' ')+1:]
	begun, ok = strings.CutPrefix(strings.TrimPrefix(last, opposite), prefix)
	return strings.ToLower(begun), ok
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

// shortest is how many letters of a weekday or a month are enough.
const shortest = 3

// date reads a day at the beginning of words: "tuesday", "yesterday", "2026-11-21", "21 nov",
// "nov 21". n is the number of words that it takes, 0 if they begin with something else.
func date(words []word) (day func(at, now time.Time) bool, n int) {
	first := strings.ToLower(words[0].text)
	if away, ok := map[string]int{"yesterday": -1, "today": 0, "tomorrow": 1}[first]; ok {
		return func(at, now time.Time) bool { return same(at, now.AddDate(0, 0, away)) }, 1
	}
	if on, err := time.Parse(time.DateOnly, first); err == nil {
		return func(at, _ time.Time) bool { return same(at, on) }, 1
	}
	for weekday := time.Sunday; weekday <= time.Saturday; weekday++ {
		if begins(weekday.String(), first) {
			return func(at, _ time.Time) bool { return at.Weekday() == weekday }, 1
		}
	}
	if len(words) < 2 || words[1].quoted || words[1].not {
		return nil, 0
	}
	for _, pair := range [][2]string{{first, words[1].text}, {words[1].text, first}} {
		number, err := strconv.Atoi(pair[0])
		if m := month(pair[1]); err == nil && m > 0 {
			return func(at, _ time.Time) bool { return at.Day() == number && at.Month() == m }, 2
		}
	}
	return nil, 0
}

// month is the month that a word names; 0 for none.
func month(word string) time.Month {
	for m := time.January; m <= time.December; m++ {
		if begins(m.String(), word) {
			return m
		}
	}
	return 0
}

// begins reports whether a word is the beginning of a name.
func begins(name, word string) bool {
	return len(word) >= shortest && strings.HasPrefix(strings.ToLower(name), strings.ToLower(word))
}

func same(a, b time.Time) bool {
	y, m, d := a.Date()
	y2, m2, d2 := b.Date()
	return y == y2 && m == m2 && d == d2
}
