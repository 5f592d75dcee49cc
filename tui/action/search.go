package action

import (
	"slices"
	"strings"
	"unicode"
)

// Match is how well a query matches an action: greater is better, and zero means no match.
type Match int

// The kinds of matches, the worst first. A match is one of these times rung, plus a bonus within its kind.
const (
	inside    = (iota + 1) * rung // a part of a word, of the id, of a key
	begins                        // of another name's word
	opens                         // of a word of its title
	word                          // of its id, its pane or another name
	keyed                         // one of its keys, or the start of its ID
	titled                        // a word of its title
	called                        // its name in the help line, or a synonym
	identical                     // its name, its title, its id
)

const (
	rung     = 100
	together = 40 // the words are adjacent in the title
	leads    = 20 // and at its start
)

// Exact reports whether the query is a name of the row.
func (m Match) Exact() bool { return m >= called }

// Name returns the title after the pane's name: "Schedule: Fire the selected task now".
func (a Action) Name() string {
	if a.Pane == Everywhere {
		return a.Title
	}
	return a.Pane.Name() + ": " + a.Title
}

// Match returns how well a query matches the row: its title, pane, ID, keys or synonyms. Each word of the query has
// to match; the worst match counts. Case matters only for keys.
func (a Action) Match(query string) Match {
	query = strings.TrimSpace(query)
	q := strings.ToLower(query)
	title, id := strings.ToLower(a.Title), string(a.ID)
	best := a.matchWords(splitWords(q))
	switch {
	case q == "":
		return 0
	case slices.Contains([]string{title, strings.ToLower(a.Name()), id, string(a.Pane) + "/" + id}, q):
		return identical
	case q == strings.ToLower(a.Short), slices.Contains(strings.Fields(a.Words), q):
		best = max(best, called)
	case a.hasKey(query), strings.Contains(q, ".") && strings.HasPrefix(id, q):
		best = max(best, keyed)
	case best == 0 && strings.Contains(a.everything(), q):
		best = inside
	}
	if at := strings.Index(title, q); best > 0 && at >= 0 {
		best += together
		if at == 0 {
			best += leads
		}
	}
	return best
}

// matchWords returns the worst match of the words, plus a small bonus for the others.
func (a Action) matchWords(words []string) Match {
	if len(words) == 0 {
		return 0
	}
	title := splitWords(strings.ToLower(a.Title))
	others := splitWords(strings.ToLower(a.Short + " " + a.Pane.Name() + " " + string(a.ID) + " " + a.Words + " " + a.More))
	all := a.everything()
	worst, sum := Match(identical), Match(0)
	for _, w := range words {
		var m Match
		starts := func(s string) bool { return strings.HasPrefix(s, w) }
		switch {
		case slices.Contains(title, w):
			m = titled
		case slices.Contains(others, w):
			m = word
		case slices.ContainsFunc(title, starts):
			m = opens
		case slices.ContainsFunc(others, starts):
			m = begins
		case strings.Contains(all, w):
			m = inside
		default:
			return 0
		}
		worst, sum = min(worst, m), sum+m
	}
	return worst + sum/Match(len(words))/rung
}

// hasKey reports whether the query is one of the row's keys, by its canonical name or its name for people.
func (a Action) hasKey(query string) bool {
	spelled, ok := Spell(query)
	return slices.ContainsFunc(a.Keys, func(k string) bool {
		return k == query || ok && k == spelled || len(query) > 1 && strings.EqualFold(KeyName(k, false), query)
	})
}

// everything returns all texts in which a part of a word may match.
func (a Action) everything() string {
	return strings.ToLower(a.Name() + "\n" + a.Short + "\n" + string(a.Pane) + "/" + string(a.ID) + "\n" +
		a.Words + "\n" + a.More + "\n" + strings.Join(a.Keys, "\n"))
}

// splitWords keeps "ctrl+l" as one word, so that its "l" does not match as the start of a word.
func splitWords(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' })
}
