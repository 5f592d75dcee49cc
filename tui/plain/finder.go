package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/tui/widget/query"
)

// thing is an object that a command can name: by its number in the last list, by its ID, or by words of its title.
type thing struct {
	id, title string
	line      string // in a list, without its number
	off       bool   // the command does not apply to it
	facts     query.Facts
}

// list is a kind of things. Each kind has its own numbers.
type list struct {
	noun   string
	none   string // printed if there are none
	newest bool   // among several with the same title, the first one is meant
	alone  bool   // if there is only one, it need not be named
	kept   bool   // numbers are permanent
}

var (
	allTasks    = list{noun: "task", none: textNoTasks}
	allRuns     = list{noun: "run", none: textNoRuns, newest: true}
	allUpdates  = list{noun: "update", none: textNoUpdates, alone: true}
	allMessages = list{noun: "message", none: textNoMessages}
	allCalls    = list{noun: "tool call", none: textNoCalls, alone: true, kept: true}
	allButtons  = list{noun: "button", none: textNoButtons, newest: true, kept: true}
)

// or returns the list with another text for an empty list.
func (l list) or(none string) list {
	l.none = none
	return l
}

// numbers stores the IDs of numbered things, by the noun of their list. The first has number 1.
type numbers map[string][]string

// of returns the number of a thing; a new thing gets the next number.
func (n numbers) of(l list, id string) int {
	i := slices.Index(n[l.noun], id)
	if i < 0 {
		i = len(n[l.noun])
		n[l.noun] = append(n[l.noun], id)
	}
	return i + 1
}

// each converts each value.
func each[T, U any](values []T, of func(T) U) []U {
	out := make([]U, len(values))
	for i, v := range values {
		out[i] = of(v)
	}
	return out
}

// kept returns the values that a filter keeps. A sentence that keeps none may be no filter: "list my reminders".
func kept[T any](p *printer, values []T, filter string, facts func(T) query.Facts) []T {
	q := query.Parse(filter)
	values = slices.DeleteFunc(slices.Clone(values), func(v T) bool { return !q.Keeps(facts(v)) })
	if len(values) == 0 && q.Sentence() {
		p.missed = fmt.Sprintf(textNoneMatches, filter)
	}
	return values
}

func (t thing) found() query.Facts { return t.facts }

func (t thing) named() command.Thing { return command.Thing{ID: t.id, Title: t.title, Off: t.off} }

// finder prints numbered lists and finds things by words or numbers.
type finder struct {
	out     *printer
	numbers numbers
}

// list prints things with numbers, which are valid until the next list.
func (f *finder) list(l list, things []thing) {
	if !l.kept {
		delete(f.numbers, l.noun)
	}
	older := max(0, len(things)-mostListed)
	lines := each(things[:len(things)-older], func(t thing) string {
		if f.out.once { // no later line could name its number
			return strings.TrimPrefix(t.id+", ", ", ") + t.line
		}
		return fmt.Sprintf("%d, %s", f.numbers.of(l, t.id), t.line)
	})
	if older > 0 {
		lines = append(lines, fmt.Sprintf(textOlder, words.Grouped(uint64(older), "older "+l.noun)))
	}
	if len(lines) == 1 {
		f.out.answer(l.noun + " " + lines[0])
		return
	}
	f.out.read(words.Grouped(uint64(len(things)), l.noun), lines, l.none)
}

// mostListed is the maximum length of a list. That is enough to listen to, and a filter finds the rest.
const mostListed = 300

// pick finds the value named in a request; of converts values to things. If there is not exactly one match, it prints
// the candidates.
func pick[T any](f *finder, r request, l list, values []T, of func(T) thing) (v T, ok bool) {
	things := each(values, of)
	t, ok := f.find(r, l, things)
	if ok {
		v = values[slices.IndexFunc(things, func(o thing) bool { return o.id == t.id })]
	}
	return v, ok
}

// find is pick among things.
func (f *finder) find(r request, l list, things []thing) (thing, bool) {
	query := r.rest
	n, err := strconv.Atoi(query)
	t, ok := byID(things, query)
	switch {
	case len(things) == 0:
		f.out.misread(l.none)
		return t, false
	case query == "" && l.alone && len(things) == 1:
		return things[0], true
	case query == "" && l.alone:
		f.out.fail(textNoList)
		return f.candidates(l, things)
	case query == "":
		f.out.usage(r.Command)
		return t, false
	case ok && (!l.kept || err != nil): // IDs of kept things are never numbers
		return t, true
	case err == nil:
		return f.byNumber(l, things, n)
	}
	found := command.Pick(things, thing.named, query)
	switch {
	case len(found) == 0:
		f.out.misread(fmt.Sprintf(textNoMatch, l.noun, query))
		return f.candidates(l, things)
	case command.Only(found, thing.named, l.newest):
		return found[0], true
	}
	f.out.fail(fmt.Sprintf(textSeveral, query, words.Grouped(uint64(len(found)), l.noun)))
	return f.candidates(l, found)
}

// fewLines is the number of candidates printed at once.
const fewLines = 6

// candidates prints the possible matches, for a person if none was named.
func (f *finder) candidates(l list, things []thing) (thing, bool) {
	if f.out.missed == "" || !f.out.piped {
		if !f.out.once {
			f.out.printed = max(f.out.printed, maxLines-fewLines)
		}
		f.list(l, things)
	}
	return thing{}, false
}

// byNumber returns the thing with a number in the last list. Without a list no number is valid, because the order may
// have changed since the user saw it.
func (f *finder) byNumber(l list, things []thing, n int) (t thing, ok bool) {
	ids := f.numbers[l.noun]
	switch {
	case len(things) == 0:
		f.out.fail(l.none)
	case f.out.once:
		f.out.misread(textWords)
	case len(ids) == 0:
		f.out.fail(textNoList)
		return f.candidates(l, things)
	case n < 1 || n > len(ids):
		f.out.fail(fmt.Sprintf(textNoNumber, n, len(ids)))
	default:
		if t, ok = byID(things, ids[n-1]); !ok {
			f.out.fail(fmt.Sprintf(textGone, n))
			return f.candidates(l, things)
		}
	}
	return t, ok
}

func byID(things []thing, id string) (thing, bool) {
	i := slices.IndexFunc(things, func(t thing) bool { return strings.EqualFold(t.id, id) })
	if i < 0 {
		return thing{}, false
	}
	return things[i], true
}
