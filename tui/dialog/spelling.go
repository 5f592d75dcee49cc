package dialog

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"
)

// What is typed in haste: the palette looks for it where no action has the words
// of a query. A word counts for one word of a title and never for letters of
// several: "demo" is no "Mute pings".

const (
	// leastScattered is how many letters of a word must be there for the rest to be
	// left out: "snz" is snooze, "sz" is nothing.
	leastScattered = 3
	// A word may have one letter wrong from so many on, and two from so many.
	oneWrong = 4
	twoWrong = 7
)

// respell gives a query with the words of a title in the place of those that are
// spelled otherwise, and how many letters are between the two; ok is false where
// a word of the query is like none of them.
func respell(query, title string) (spelled string, wrong int, ok bool) {
	words := wordsOf(title)
	var out []string
	for _, w := range wordsOf(query) {
		best, least := "", -1
		for _, t := range words {
			if n, near := mistakes(w, t); near && (least < 0 || n < least) {
				best, least = t, n
			}
		}
		if least < 0 {
			return "", 0, false
		}
		out, wrong = append(out, best), wrong+least
	}
	return strings.Join(out, " "), wrong, len(out) > 0
}

func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// mistakes is by how many letters a written word differs from one that may have
// been meant; near is false where it is likelier to be another word.
func mistakes(written, meant string) (n int, near bool) {
	length := utf8.RuneCountInString(written)
	n = distance([]rune(written), []rune(meant))
	switch {
	case n == 0:
		return 0, true
	case utf8.RuneCountInString(meant) < oneWrong: // "thme" is no "the"
		return 0, false
	case length >= oneWrong && n == 1, length >= twoWrong && n == 2:
		return n, true
	case length < leastScattered || written[0] != meant[0]:
		return 0, false
	}
	return n, len(fuzzy.Find(written, []string{meant})) > 0
}

// distance is how many letters have to be put in, left out or changed, or to
// change places with the next one, to make b of a.
func distance(a, b []rune) int {
	var before, row []int
	next := make([]int, len(b)+1)
	for j := range next {
		next[j] = j
	}
	for i := range a {
		before, row, next = row, next, make([]int, len(b)+1)
		next[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
	}
	return next[len(b)]
}
