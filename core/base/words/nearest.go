package words

import "strings"

// Nearest returns the candidate that a mistyped word most likely means: the one it
// abbreviates, or one a few typos away. It returns "" if none is near.
func Nearest(word string, candidates []string) string {
	word = strings.ToLower(word)
	best, least := "", 1+slips(len(word))
	for _, c := range candidates {
		d := distance(word, strings.ToLower(c))
		if d < least || d == least && best != "" && within(word, c) && !within(word, best) {
			best, least = c, d
		}
	}
	if best != "" || len(word) < 2 {
		return best
	}
	for _, c := range candidates {
		if !strings.HasPrefix(c, word) {
			continue
		}
		if best != "" {
			return "" // an ambiguous abbreviation
		}
		best = c
	}
	return best
}

// within reports whether a word is the candidate without some of its letters, the most common slip.
func within(word, candidate string) bool {
	left := []byte(word)
	for _, c := range []byte(strings.ToLower(candidate)) {
		if len(left) > 0 && c == left[0] {
			left = left[1:]
		}
	}
	return len(left) == 0
}

// slips is the number of typos allowed in a word of that length.
func slips(length int) int {
	switch {
	case length < 3:
		return 0
	case length < 6:
		return 1
	case length < 9:
		return 2
	}
	return 3
}

// distance counts the typos between two words: an extra, missing or wrong letter, or two
// swapped neighbours (optimal string alignment).
func distance(a, b string) int {
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
