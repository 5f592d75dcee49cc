package query

import (
	"strconv"
	"strings"
	"time"
)

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
