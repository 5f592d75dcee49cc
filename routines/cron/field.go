package cron

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// field is what one position of the expression accepts.
type field struct {
	name     string
	min, max int // values that may be written
	top      int // largest value that * and a/n reach (6 where 7 is a second Sunday)
	cycle    int // values before the field begins anew
	names    []string
}

// The five positions, in their order.
var fields = [5]field{
	{name: "minute", min: 0, max: 59, top: 59, cycle: 60},
	{name: "hour", min: 0, max: 23, top: 23, cycle: 24},
	{name: "day of month", min: 1, max: 31, top: 31, cycle: 31},
	{name: "month", min: 1, max: 12, top: 12, cycle: 12, names: monthNames[1:]},
	{name: "day of week", min: 0, max: 7, top: 6, cycle: 7, names: dayNames[:]},
}

var (
	monthNames = [13]string{
		"", "January", "February", "March", "April", "May", "June", "July",
		"August", "September", "October", "November", "December",
	}
	dayNames = [7]string{
		"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
	}
)

// fold brings a value of a wrapped range, or the second Sunday, into the field.
func (f *field) fold(v int) int { return f.min + (v-f.min)%f.cycle }

// value reads a number or a name: three letters or more of one, in any case.
func (f *field) value(w word) (int, error) {
	if n, ok := number(w.text); ok {
		if n < f.min || n > f.max {
			return 0, w.fail(outOfRange(f, w.text))
		}
		return n, nil
	}
	if w.text == "" || w.text[0] == '+' {
		return 0, w.fail(signed(f))
	}
	if f.names != nil && len(w.text) >= 3 {
		for i, name := range f.names {
			if len(w.text) <= len(name) && strings.EqualFold(name[:len(w.text)], w.text) {
				return f.min + i, nil
			}
		}
	}
	return 0, w.fail(notAValue(f, w.text))
}

// refuseForeign answers what other schedulers accept around the five fields.
func refuseForeign(expr string, words []word) error {
	if len(words) == 0 {
		return &Error{Column: 1, Message: emptyExpression()}
	}
	first := words[0]
	upper := strings.ToUpper(first.text)
	switch {
	case strings.HasPrefix(upper, "TZ="), strings.HasPrefix(upper, "CRON_TZ="):
		return first.fail(zonePrefix(expr))
	case first.text[0] == '@':
		return first.fail(macro(first.text))
	}
	return nil
}

// countError points at the first field too many, or behind the last one.
func countError(expr string, words []word) error {
	column := utf8.RuneCountInString(strings.TrimRightFunc(expr, unicode.IsSpace)) + 1
	if len(words) > len(fields) {
		column = words[len(fields)].column
	}
	return &Error{Column: column, Message: wrongCount(len(words))}
}

// refuseSpecial answers the signs of other cron dialects inside an item.
func refuseSpecial(f *field, w word) error {
	named := f.named(w.text)
	column := w.column
	for _, r := range w.text {
		switch {
		case r == '?':
			return &Error{column, questionMark()}
		case r == '#':
			return &Error{column, nthWeekday()}
		case r == '*' && column > w.column:
			return &Error{column, strayStar(w.text)}
		case !named && strings.ContainsRune("lLwW", r):
			return &Error{column, lastOrNearest(r)}
		}
		column++
	}
	return nil
}

// named reports whether the item is made of words rather than of signs: jul and
// wed contain the letters L and W, 5L and LW do not name anything.
func (f *field) named(text string) bool {
	letters := 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			if letters++; letters >= 3 {
				return true
			}
		} else {
			letters = 0
		}
	}
	return false
}
