package cron

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error says what is wrong with an expression and how to cure it.
type Error struct {
	Column  int    // 1-based, in runes of the expression as given
	Message string // one line
}

// Error is the message; the column is for whoever knows where the expression stands.
func (e *Error) Error() string { return e.Message }

// Parse reads a five-field expression. Every error is an *Error. An expression
// that can never fire, as 30 February, parses: ask Never.
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

// at is the error of this word, n runes in.
func (w word) fail(message string) error { return &Error{Column: w.column, Message: message} }

// split cuts the expression at white space of any kind: non-breaking spaces
// come with text that was copied from a page.
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
	for _, text := range strings.Split(w.text, sep) {
		out = append(out, word{text, column})
		column += utf8.RuneCountInString(text) + utf8.RuneCountInString(sep)
	}
	return out
}

// starStep is n where the field is exactly */n, else 0.
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
	// What nearly all fields are takes no apart-taking: * and a number.
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
		return 0, w.fail(emptyItem(f))
	}
	if err := refuseSpecial(f, w); err != nil {
		return 0, err
	}
	halves := w.parts("/")
	if len(halves) > 2 {
		return 0, halves[2].fail(twoSteps(w.text))
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

// parseRange reads what stands before the step. A range that wraps comes back
// with a to beyond the field's maximum; fold brings its values home.
func parseRange(f *field, w word, stepped bool) (from, to int, err error) {
	if w.text == "*" {
		return f.min, f.top, nil
	}
	if w.text == "" {
		return 0, 0, w.fail(missingBeforeStep(f))
	}
	ends := w.parts("-")
	if len(ends) > 2 {
		return 0, 0, ends[2].fail(twoRanges(w.text))
	}
	if from, err = f.value(ends[0]); err != nil {
		return 0, 0, err
	}
	switch {
	case len(ends) == 2:
		if ends[1].text == "" {
			return 0, 0, ends[1].fail(openRange(f, w.text))
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
	case !ok:
		return 0, w.fail(stepNotNumber(w.text))
	case n == 0:
		return 0, w.fail(stepZero())
	case n > 1 && n > span:
		return 0, w.fail(stepTooLarge(f, w.text, span))
	}
	return n, nil
}

// number reads plain digits; leading zeros are fine, signs are not.
func number(s string) (int, bool) {
	if s == "" {
		return 0, false
	}
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = min(n*10+int(s[i]-'0'), 100000) // out of every range, and never overflows
	}
	return n, true
}
