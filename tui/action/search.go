package action

import (
	"slices"
	"strings"
	"unicode"
)

// Match is how well a query names an action: the greater the better, and zero
// is not at all.
type Match int

// What a query may be to an action, the worst first. A match is one of these
// times rung, and what distinguishes two of a kind.
const (
	inside    = (iota + 1) * rung // a part of a word, of the id, of a key
	begins                        // of another name's word
	opens                         // of a word of its title
	word                          // of its id, its pane or another name
	keyed                         // one of its keys, or what its id begins with
	titled                        // a word of its title
	called                        // what the help line or people call it
	identical                     // its name, its title, its id
)

const (
	rung     = 100
	together = 40 // the words stand together in the title
	leads    = 20 // and at its beginning
)

// Exact reports that the query is what the row is called.
func (m Match) Exact() bool { return m >= called }

// Name is the title behind the pane's name: "Schedule: Fire the selected task
// now".
func (a Action) Name() string {
	if a.Pane == Everywhere {
		return a.Title
	}
	return a.Pane.Name() + ": " + a.Title
}

// Match finds out how well a query names the row: by its title, its pane, its
// id, its keys, or another word that people have for it. Each word of the query
// has to be found; the worst of them counts. The case matters for keys alone.
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

// matchWords is the worst of what the words are to the row, and a little more
// for what the others are.
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

// hasKey reports that the query is one of the row's keys, as a key press names
// it or as people read and write it.
func (a Action) hasKey(query string) bool {
	spelled, ok := Spell(query)
	return slices.ContainsFunc(a.Keys, func(k string) bool {
		return k == query || ok && k == spelled || len(query) > 1 && strings.EqualFold(KeyName(k, false), query)
	})
}

// everything is all that a part of a word may be found in.
func (a Action) everything() string {
	return strings.ToLower(a.Name() + "\n" + a.Short + "\n" + string(a.Pane) + "/" + string(a.ID) + "\n" +
		a.Words + "\n" + a.More + "\n" + strings.Join(a.Keys, "\n"))
}

// splitWords leaves "ctrl+l" whole: the "l" of it is no beginning of a word.
func splitWords(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' })
}
