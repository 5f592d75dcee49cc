package cron

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ollimbot/core/base/clean"
)

// Error describes what is wrong with an expression and how to fix it.
type Error struct {
	Column  int    // 1-based, in runes of the expression as given
	Message string // one line
}

// Error returns the message without the column.
func (e *Error) Error() string { return e.Message }

// Parse parses a five-field expression. Every error is an *Error. An expression that never
// fires, such as on 30 February, is not an error; see Never.
func Parse(expr string) (Schedule, error) {
	words := split(expr)
	if err := refuseForeign(expr, words); err != nil {
		return Schedule{}, err
	}
	if len(words) != len(fields) {
		return Schedule{}, countError(expr, words)
	}
	var s Schedule
	texts := make([]string, len(fields))
	targets := [...]*set{&s.minute, &s.hour, &s.dom, &s.month, &s.dow}
	for i, w := range words {
		got, err := parseField(&fields[i], w)
		if err != nil {
			return Schedule{}, err
		}
		*targets[i] = got
		texts[i] = w.text
	}
	s.expr = strings.Join(texts, " ")
	s.anyHour = texts[1][0] == '*'
	s.anyDom = texts[2][0] == '*'
	s.anyDow = texts[4][0] == '*'
	s.stepMinute, s.stepHour, s.stepDom = starStep(texts[0]), starStep(texts[1]), starStep(texts[2])
	s.never = s.impossible()
	return s, nil
}

// word is a part of the expression and the column of its first rune.
type word struct {
	text   string
	column int
}

func (w word) fail(format string, args ...any) error {
	return &Error{w.column, fmt.Sprintf(format, args...)}
}

// split splits the expression at any white space; text copied from a web page can contain
// non-breaking spaces.
func split(expr string) []word {
	var out []word
	column, start, startColumn := 0, -1, 0
	for i, r := range expr {
		column++
		switch {
		case unicode.IsSpace(r) && start >= 0:
			out = append(out, word{expr[start:i], startColumn})
			start = -1
		case !unicode.IsSpace(r) && start < 0:
			start, startColumn = i, column
		}
	}
	if start >= 0 {
		out = append(out, word{expr[start:], startColumn})
	}
	return out
}

// parts cuts a word at every sep and keeps the columns.
func (w word) parts(sep string) []word {
	var out []word
	column := w.column
	for text := range strings.SplitSeq(w.text, sep) {
		out = append(out, word{text, column})
		column += utf8.RuneCountInString(text) + utf8.RuneCountInString(sep)
	}
	return out
}

// starStep returns n if the field is exactly */n, else 0.
func starStep(text string) int {
	rest, ok := strings.CutPrefix(text, "*/")
	if !ok {
		return 0
	}
	n, ok := number(rest)
	if !ok {
		return 0
	}
	return n
}

func parseField(f *field, w word) (set, error) {
	// Fast path for the most common fields, * and a number.
	if n, ok := number(w.text); ok && n >= f.min && n <= f.max {
		return 1 << uint(f.fold(n)), nil
	}
	if w.text == "*" {
		return 1<<uint(f.top+1) - 1<<uint(f.min), nil
	}
	var all set
	for _, item := range w.parts(",") {
		got, err := parseItem(f, item)
		if err != nil {
			return 0, err
		}
		all |= got
	}
	return all, nil
}

// parseItem reads one of: * · */n · a · a/n · a-b · a-b/n.
func parseItem(f *field, w word) (set, error) {
	if w.text == "" {
		return 0, w.fail(msgEmptyItem, f.name)
	}
	if err := refuseSpecial(f, w); err != nil {
		return 0, err
	}
	halves := w.parts("/")
	if len(halves) > 2 {
		return 0, halves[2].fail(msgTwoSteps, quote(w.text))
	}
	from, to, err := parseRange(f, halves[0], len(halves) == 2)
	if err != nil {
		return 0, err
	}
	step := 1
	if len(halves) == 2 {
		if step, err = parseStep(f, halves[1], to-from); err != nil {
			return 0, err
		}
	}
	var out set
	for v := from; v <= to; v += step {
		out |= 1 << uint(f.fold(v))
	}
	return out, nil
}

// parseRange parses the part before the step. For a range that wraps, to is beyond the
// field's maximum; fold maps its values back.
func parseRange(f *field, w word, stepped bool) (from, to int, err error) {
	if w.text == "*" {
		return f.min, f.top, nil
	}
	if w.text == "" {
		return 0, 0, w.fail(msgNothingToStep, f.min, f.top)
	}
	ends := w.parts("-")
	if len(ends) > 2 {
		return 0, 0, ends[2].fail(msgTwoRanges, quote(w.text))
	}
	if from, err = f.value(ends[0]); err != nil {
		return 0, 0, err
	}
	switch {
	case len(ends) == 2:
		if ends[1].text == "" {
			return 0, 0, ends[1].fail(msgOpenRange, quote(w.text), quote(clean.Cut(w.text, 20)+strconv.Itoa(f.top)))
		}
		if to, err = f.value(ends[1]); err != nil {
			return 0, 0, err
		}
		if to < from {
			to += f.cycle
		}
	case stepped:
		to = max(from, f.top)
	default:
		to = from
	}
	return from, to, nil
}

func parseStep(f *field, w word, span int) (int, error) {
	n, ok := number(w.text)
	switch {
	case w.text == "":
		return 0, w.fail(msgNoStep)
	case !ok:
		return 0, w.fail(msgStepNotNumber, quote(w.text))
	case n == 0:
		return 0, w.fail(msgStepZero)
	case n > 1 && span == 0:
		return 0, w.fail(msgNoRange, clean.Cut(w.text, 20), clean.Cut(w.text, 20))
	case n > 1 && n > span:
		return 0, w.fail(msgStepTooLarge, clean.Cut(w.text, 20), f.name, span)
	}
	return n, nil
}

// number parses plain digits. Leading zeros are fine, signs are not.
func number(s string) (int, bool) {
	if s == "" {
		return 0, false
	}
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = min(n*10+int(s[i]-'0'), 100000) // above every range, and never overflows
	}
	return n, true
}

// field describes the values that one position of the expression accepts.
type field struct {
	name     string
	min, max int // values that may be written
	top      int // largest value that * and a/n reach (6 where 7 is a second Sunday)
	cycle    int // number of values before the field wraps around
	names    []string
}

// The five positions, in order.
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

// fold maps a value of a wrapped range, or the second Sunday, into the field's range.
func (f *field) fold(v int) int { return f.min + (v-f.min)%f.cycle }

// value parses a number or a name, in any case; three letters of a name are enough.
func (f *field) value(w word) (int, error) {
	if n, ok := number(w.text); ok {
		if n < f.min || n > f.max {
			return 0, w.fail(msgOutOfRange, f.name, clean.Cut(w.text, 20), f.span())
		}
		return n, nil
	}
	if w.text == "" || w.text[0] == '+' {
		return 0, w.fail(msgSigned, f.article(), f.min, f.min+1)
	}
	if f.names != nil && len(w.text) >= 3 {
		for i, name := range f.names {
			if len(w.text) <= len(name) && strings.EqualFold(name[:len(w.text)], w.text) {
				return f.min + i, nil
			}
		}
	}
	return 0, w.fail(msgNotAValue, quote(w.text), f.article(), f.span())
}

// refuseForeign rejects extra syntax of other schedulers around the five fields.
func refuseForeign(expr string, words []word) error {
	if len(words) == 0 {
		return &Error{1, msgEmpty}
	}
	first := words[0]
	upper := strings.ToUpper(first.text)
	switch {
	case strings.HasPrefix(upper, "TZ="), strings.HasPrefix(upper, "CRON_TZ="):
		return first.fail(msgZone, quote(first.text[:strings.IndexByte(first.text, '=')]+"=…"))
	case first.text[0] == '@':
		return first.fail("%s", macro(first.text))
	}
	return nil
}

// countError points at the first extra field, or after the last one.
func countError(expr string, words []word) error {
	column := utf8.RuneCountInString(strings.TrimRightFunc(expr, unicode.IsSpace)) + 1
	if len(words) > len(fields) {
		column = words[len(fields)].column
	}
	return &Error{column, wrongCount(len(words))}
}

// refuseSpecial rejects special characters of other cron dialects inside an item.
func refuseSpecial(f *field, w word) error {
	named := f.named(w.text)
	column := w.column
	for _, r := range w.text {
		switch {
		case r == '?':
			return &Error{column, msgQuestionMark}
		case r == '#':
			return &Error{column, msgNthWeekday}
		case r == '*' && column > w.column:
			return &Error{column, fmt.Sprintf(msgStrayStar, quote(w.text))}
		case !named && strings.ContainsRune("lL", r):
			return &Error{column, msgLast}
		case !named && strings.ContainsRune("wW", r):
			return &Error{column, msgNearest}
		}
		column++
	}
	return nil
}

// named reports whether the item consists of names rather than special characters: jul
// and wed contain the letters L and W, but 5L and LW are not names.
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
