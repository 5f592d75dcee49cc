package when

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ollimbot/core/base/words"
	"ollimbot/routines/recur"
)

// token is a piece of a text: a word in lower case, a number with its separators ("8:15",
// "24.12.", "1/2"), a minute (":15"), an offset ("-07:00"), or another character. A dash
// between two values is the word "to".
type token struct {
	text  string
	raw   string // as it was written
	glued bool   // nothing is between it and the token before
}

// number is the value of a token of digits.
func (t token) number() (int, bool) {
	if t.text == "" || strings.Trim(t.text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(t.text)
	return n, err == nil
}

// same are other spellings of the words of the grammar.
var same = map[string]string{
	"midday": "noon", "till": "until", "til": "until", "through": "to", "thru": "to", "–": "to", "-": "to", "&": "and", ";": ",",
	"each": "every", "workday": "weekday", "workdays": "weekdays", "tomorrow's": "tomorrow", "oclock": "o'clock", "mornings": "morning", "evenings": "evening",
	"afternoons": "afternoon", "nights": "night", "noons": "noon", "@": "at", "everyday": "daily",
}

// tokens takes a text apart. What is in parentheses is an explanation and left out.
func tokens(text string) (out []token) {
	rest := strings.NewReplacer("’", "'", "“", `"`, "”", `"`, "„", `"`,
		"a.m.", "am", "p.m.", "pm", "A.M.", "AM", "P.M.", "PM", "half-", "half ", "Half-", "half ").Replace(text)
	glued := false
	for rest != "" {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r):
			rest, glued = rest[size:], false
			continue
		case r == '(':
			_, after, _ := strings.Cut(rest, ")")
			rest, glued = after, false
			continue
		}
		if name, after, ok := googleCalendar(rest, out); ok {
			out = append(out, token{name, name, false})
			rest, glued = after, true
			continue
		}
		n := lengthOf(rest, r, size, glued)
		raw := rest[:n]
		word := strings.ToLower(raw)
		rest = rest[n:]
		if instead, ok := same[word]; ok && (instead != "to" || len(out) > 0) {
			word = instead
		}
		if word != "." && word != "!" { // they end sentences
			out = append(out, token{word, raw, glued})
		}
		glued = true
	}
	return out
}

// nameLetters are what the name of a calendar's file may have.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// googleCalendar takes "calendar Team" or `calendar "Team, all"` from the beginning of a list item, as one token.
func googleCalendar(text string, before []token) (name, after string, ok bool) {
	const word = "calendar"
	item := len(before) == 0 || slices.Contains([]string{"except", "not", ",", "and"}, before[len(before)-1].text)
	if !item || len(text) <= len(word) || !strings.EqualFold(text[:len(word)], word) {
		return "", text, false
	}
	rest := strings.TrimLeft(text[len(word):], " \t")
	quoted, isQuoted := strings.CutPrefix(rest, `"`)
	if isQuoted {
		name, after, ok = strings.Cut(quoted, `"`)
	} else if rest != text[len(word):] {
		end := strings.IndexAny(rest, ",;")
		if end < 0 {
			end = len(rest)
		}
		name, after, ok = rest[:end], rest[end:], true
	}
	name = recur.OfGoogle(name)
	return name, after, ok && name != recur.OfGoogle("")
}

// lengthOf is how many bytes the next token takes.
func lengthOf(rest string, r rune, size int, glued bool) int {
	digits := func(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
	if !glued {
		name := len(rest) - len(strings.TrimLeft(rest, nameLetters))
		if strings.HasSuffix(strings.ToLower(rest[:name]), calendarSuffix) {
			return name
		}
	}
	switch {
	case unicode.IsLetter(r):
		n := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
		if n < 0 {
			n = len(rest)
		}
		return n
	case r == ':' && digits(rest[1:]) == 2:
		return 3
	case (r == '-' || r == '+') && !glued && len(rest) >= 6 && rest[3] == ':' && digits(rest[1:]) == 2 && digits(rest[4:]) == 2:
		return 6
	case r >= '0' && r <= '9':
		n := digits(rest)
		for n < len(rest) && strings.IndexByte(":./", rest[n]) >= 0 {
			more := digits(rest[n+1:])
			if more == 0 && (rest[n] != '.' || strings.Count(rest[:n], ".") != 1) { // "24.12." is a date
				break
			}
			n += 1 + more
		}
		if len(rest) >= n+6 && n == 4 && rest[n] == '-' && digits(rest[n+1:]) == 2 && rest[n+3] == '-' && digits(rest[n+4:]) == 2 {
			n += 6 // 2026-12-24
		}
		return n
	}
	return size
}

// parser reads the tokens of a text.
type parser struct {
	Reader
	toks []token
	pos  int
}

func (r Reader) parser(text string) *parser {
	if r.Day == (Day{}) {
		r.Day = UsualDay
	}
	return &parser{Reader: r, toks: tokens(text)}
}

func (p *parser) done() bool { return p.pos >= len(p.toks) }

// peek is the n-th token from here; its text is empty after the end.
func (p *parser) peek(n int) token {
	if p.pos+n >= len(p.toks) {
		return token{}
	}
	return p.toks[p.pos+n]
}

// take skips words if all of them are next.
func (p *parser) take(list ...string) bool {
	for i, w := range list {
		if p.peek(i).text != w {
			return false
		}
	}
	p.pos += len(list)
	return true
}

// skip skips one of several words.
func (p *parser) skip(list ...string) bool {
	for _, w := range list {
		if p.take(w) {
			return true
		}
	}
	return false
}

// integer takes a whole number in digits or as a word.
func (p *parser) integer() (int, bool) {
	t := p.peek(0)
	n, ok := t.number()
	if !ok {
		n, ok = numbers[t.text]
	}
	if ok {
		p.pos++
	}
	return n, ok
}

var numbers = map[string]int{
	"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
	"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fortyfive": 45, "fifty": 50, "sixty": 60, "ninety": 90,
}

var ordinals = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}

// ordinal takes "1st" or "first".
func (p *parser) ordinal() (int, bool) {
	if n, ok := ordinals[p.peek(0).text]; ok {
		p.pos++
		return n, true
	}
	n, ok := p.peek(0).number()
	switch next := p.peek(1); {
	case !ok || !next.glued:
		return 0, false
	case next.text != "st" && next.text != "nd" && next.text != "rd" && next.text != "th":
		return 0, false
	}
	p.pos += 2
	return n, true
}

// weekday takes the name of a day, or at least three letters of it. plural is true for
// "mondays".
func (p *parser) weekday() (day int, plural, ok bool) {
	word := p.peek(0).text
	for i, name := range dayNames {
		switch {
		case word == name+"s":
			plural = true
		case word != name && (len(word) < 3 || len(word) > 5 || !strings.HasPrefix(name, word)):
			continue
		}
		p.pos++
		p.take(".")
		return i, plural, true
	}
	return 0, false, false
}

// month takes the name of a month, or at least three letters of it.
func (p *parser) month() (int, bool) {
	word := p.peek(0).text
	for i, name := range monthNames {
		if word == name || len(word) >= 3 && len(word) <= 4 && strings.HasPrefix(name, word) {
			p.pos++
			return i + 1, true
		}
	}
	return 0, false
}

var dayNames = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

var monthNames = []string{
	"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
}

// vocabulary are the words that a mistyped one is compared with.
var vocabulary = append(append([]string{
	"today", "tonight", "tomorrow", "morning", "noon", "afternoon", "evening", "night", "midnight", "next", "this", "every", "daily", "hourly", "weekdays",
	"weekend", "weekends", "weekday", "minute", "minutes", "hour", "hours", "day", "days", "week", "weeks", "month", "months", "year", "first", "half", "quarter",
	"until", "from", "between", "except", "other", "last", "times", "starting",
	"monthly", "weekly", "mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays",
}, dayNames...), monthNames...)

// vague are words about time that are close to others in spelling only.
var vague = map[string]bool{"soon": true, "never": true, "ever": true, "later": true, "some": true}

// orMeant is the error about a mistyped token here, or else another one.
func (p *parser) orMeant(other error) error {
	p.pass()
	if meant := p.meant(); meant != "" {
		return &Error{text: sentence(textMeant, p.peek(0).text, meant), telling: true}
	}
	return other
}

// pass goes to the word that was not understood, which is behind "24" and "in".
func (p *parser) pass() {
	for ; p.pos < len(p.toks)-1; p.pos++ {
		if _, number := p.peek(0).number(); !number && p.peek(0).text != "in" && p.peek(0).text != "the" {
			break
		}
	}
}

// meant is the known word that the next token was meant to be, or "".
func (p *parser) meant() string {
	word := p.peek(0).text
	meant := words.Nearest(word, vocabulary)
	if meant == word || len(word) <= 2 || vague[word] {
		return ""
	}
	return meant
}

// unknown is the error about the next token. near is what to write instead.
func (p *parser) unknown(near string) error {
	p.pass()
	word := p.peek(0).text
	if p.done() && len(p.toks) > 0 {
		return refuse(textIncomplete, p.toks[len(p.toks)-1].text, near)
	}
	if isForeign(word) {
		return refuse(textForeign, near)
	}
	if meant := p.meant(); meant != "" {
		return &Error{text: sentence(textMeant, word, meant), telling: true}
	}
	return &Error{text: sentence(textUnknown, word, near)}
}
