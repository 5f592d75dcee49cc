package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/words"
)

// thing is what a command can name: by its number in the list that was read
// last, by its id, or by words of its title.
type thing struct {
	id, title string
	line      string // as a list says it, without its number
	off       bool   // the command can do nothing with it
}

// list is a kind of things: each has its own numbers.
type list struct {
	noun   string
	none   string // said where there is nothing
	newest bool   // of several with one title the first is meant
	alone  bool   // the only one need not be named
	kept   bool   // a thing has its number as soon as it comes, and for good
}

var (
	allTasks    = list{noun: "task", none: textNoTasks}
	allRuns     = list{noun: "run", none: textNoRuns, newest: true}
	allUpdates  = list{noun: "update", none: textNoUpdates, alone: true}
	allMessages = list{noun: "message", none: textNothingSaid}
	allCalls    = list{noun: "tool call", none: textNoCalls, alone: true, kept: true}
	allButtons  = list{noun: "button", none: textNoButtons, newest: true, kept: true}
)

const (
	// most is how many lines a list has unless more are asked for: who listens
	// cannot look away.
	most = 30
	// prefix is how much of an id is enough, in characters.
	prefix = 4
	// updateTitle is how much of an update a list reads, in characters.
	updateTitle = 160
)

// or is the list with other words where there is nothing.
func (l list) or(none string) list {
	l.none = none
	return l
}

// numbers are the ids of numbered things, by the noun of their list: the first is
// that of number 1.
type numbers map[string][]string

// of is the number of a thing; a new one gets the next.
func (n numbers) of(l list, id string) int {
	i := slices.Index(n[l.noun], id)
	if i < 0 {
		i = len(n[l.noun])
		n[l.noun] = append(n[l.noun], id)
	}
	return i + 1
}

// each makes something of each value.
func each[T, U any](values []T, of func(T) U) []U {
	out := make([]U, len(values))
	for i, v := range values {
		out[i] = of(v)
	}
	return out
}

// read says as many lines as anybody listens to, or that there are none. The kind is the
// command that asked for them.
func (m *session) read(lines []string, none string) { m.tell(m.named.Name, lines, none) }

func (m *session) tell(kind string, lines []string, none string) {
	if n := len(lines) - most; n > 0 {
		lines = append(lines[:most:most], fmt.Sprintf(textMore, words.Thousands(uint64(n))))
	}
	m.answer(kind, cmp.Or(strings.Join(lines, "\n"), none))
}

// list reads things with numbers, which mean these things until the next list, or
// says that there are none.
func (m *session) list(kind string, l list, things []thing) {
	if !l.kept {
		delete(m.numbers, l.noun)
	}
	m.tell(kind, each(things, func(t thing) string { return fmt.Sprintf("%d, %s", m.numbers.of(l, t.id), t.line) }), l.none)
}

// choose says that words fit none or several of the things, and reads these.
func (m *session) choose(l list, things []thing, why string) {
	m.answer(kindError, why)
	m.list(kindChoice, l, things)
}

// pick finds the value that the words name; of makes a thing of each. Where that is not
// exactly one, it says what there is, and nothing is done.
func pick[T any](m *session, l list, values []T, of func(T) thing, query string) (v T, ok bool) {
	things := each(values, of)
	t, ok := m.find(l, things, query)
	if ok {
		v = values[slices.IndexFunc(things, func(o thing) bool { return o.id == t.id })]
	}
	return v, ok
}

// find is pick among things. Among several that words of a title fit, those count
// that are good for the command, if there are any.
func (m *session) find(l list, things []thing, query string) (thing, bool) {
	n, err := strconv.Atoi(query)
	t, ok := byID(things, query)
	switch {
	case len(things) == 0:
		m.answer(kindError, l.none)
		return t, false
	case query == "" && l.alone && len(things) == 1:
		return things[0], true
	case query == "" && l.alone:
		m.choose(l, things, textNoList)
		return t, false
	case query == "":
		m.wrong()
		return t, false
	case ok && (!l.kept || err != nil): // what is kept has numbers that are no ids
		return t, true
	case err == nil:
		return m.byNumber(l, things, n)
	}
	found := byWords(things, query)
	if better := slices.DeleteFunc(slices.Clone(found), func(t thing) bool { return t.off }); len(better) > 0 {
		found = better
	}
	other := func(t thing) bool { return t.title != found[0].title }
	switch {
	case len(found) == 0:
		m.choose(l, things, fmt.Sprintf(textNoSuch, l.noun, query))
	case len(found) == 1, l.newest && !slices.ContainsFunc(found, other):
		return found[0], true
	default:
		m.choose(l, found, fmt.Sprintf(textWhich, query, words.Grouped(uint64(len(found)), l.noun)))
	}
	return t, false
}

// byNumber is the thing with a number in the list that was read last. Without a
// list there is none: the order may have changed since it was thought of.
func (m *session) byNumber(l list, things []thing, n int) (t thing, ok bool) {
	ids := m.numbers[l.noun]
	switch {
	case len(things) == 0:
		m.answer(kindError, l.none)
	case len(ids) == 0:
		m.choose(l, things, textNoList)
	case n < 1 || n > len(ids):
		m.answer(kindError, fmt.Sprintf(textNoNumber, n, len(ids)))
	default:
		if t, ok = byID(things, ids[n-1]); !ok {
			m.choose(l, things, fmt.Sprintf(textGone, n))
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

// byWords are the things with exactly this title, else those whose id begins
// so, else those whose title holds every word.
func byWords(things []thing, query string) []thing {
	query = strings.ToLower(query)
	for _, fits := range []func(t thing) bool{
		func(t thing) bool { return strings.ToLower(t.title) == query },
		func(t thing) bool { return len(query) >= prefix && strings.HasPrefix(strings.ToLower(t.id), query) },
		func(t thing) bool { return words.HoldsAll(t.title, query) },
	} {
		if found := slices.DeleteFunc(slices.Clone(things), func(t thing) bool { return !fits(t) }); len(found) > 0 {
			return found
		}
	}
	return nil
}
