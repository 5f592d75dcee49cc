package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/fork"
	"ollimbot/core/transcript"
	"ollimbot/core/updates"
	"ollimbot/core/words"
	"ollimbot/routines/schedule"
)

// thing is what a command can name: by its number in the list that was read
// last, by its id, or by words of its title.
type thing struct {
	id, title string
	line      string // as a list says it, without its number
}

// list is a kind of things: each has its own numbers.
type list struct {
	noun, kind string
	none       string // said where there is nothing
	newest     bool   // of several with one title the first is meant
	things     func(m *session) []thing
}

var (
	allTasks    = list{noun: "task", kind: kindSchedule, none: textNoTasks, things: (*session).taskThings}
	allRuns     = list{noun: "run", kind: kindRun, none: textNoRuns, newest: true, things: (*session).runThings}
	allUpdates  = list{noun: "update", kind: kindUpdate, none: textNoUpdates, things: (*session).updateThings}
	allMessages = list{noun: "message", kind: kindChat, none: textNothingSaid, things: (*session).messageThings}
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

// each makes something of each value.
func each[T, U any](values []T, of func(T) U) []U {
	out := make([]U, len(values))
	for i, v := range values {
		out[i] = of(v)
	}
	return out
}

// taskThings are all tasks, by their next fire.
func (m *session) taskThings() []thing {
	return each(m.s.Schedule.Tasks, func(t schedule.TaskView) thing { return thing{t.ID, t.Title, taskText(&m.s, t)} })
}

func (m *session) runThings() []thing {
	return each(m.s.Forks, func(f fork.View) thing { return thing{f.ID, f.Title, runText(f)} })
}

// updateThings are the pending updates, newest first.
func (m *session) updateThings() []thing {
	things := each(m.s.Updates, func(u updates.Update) thing {
		text := flat(updateText(&m.s, u))
		return thing{u.Key, text, clockText(&m.s, u.At) + ", " + clean.Cut(text, updateTitle)}
	})
	slices.Reverse(things)
	return things
}

// messageThings are the whole messages of the conversation, newest first.
func (m *session) messageThings() []thing {
	things := each(m.s.Chat, func(e transcript.Entry) thing {
		text := flat(messageText(e))
		if e.Streaming {
			text = ""
		}
		return thing{string(e.ID), text, clockText(&m.s, e.At) + ", " + string(e.Role) + ": " + text}
	})
	slices.Reverse(things)
	return slices.DeleteFunc(things, func(t thing) bool { return t.title == "" })
}

// read says lines, or that there are none.
func (m *session) read(kind string, lines []string, none string) {
	m.answer(kind, cmp.Or(strings.Join(lines, "\n"), none))
}

// list reads things with numbers, which mean these things until the next list, or
// says that there are none.
func (m *session) list(l list, kind string, things []thing) {
	var ids, lines []string
	for i, t := range things {
		ids = append(ids, t.id)
		lines = append(lines, fmt.Sprintf("%d, %s", i+1, t.line))
	}
	if len(ids) > 0 {
		m.numbers[l.noun] = ids
	}
	m.read(kind, shortened(lines), l.none)
}

// shortened is as many lines as anybody listens to, and how many more there are.
func shortened(lines []string) []string {
	if n := len(lines) - most; n > 0 {
		return append(lines[:most], fmt.Sprintf(textMore, words.Thousands(uint64(n))))
	}
	return lines
}

// choose says that words fit none or several of the things, and reads these.
func (m *session) choose(l list, things []thing, why string) {
	m.answer(kindError, why)
	m.list(l, kindChoice, things)
}

// pick finds the thing of a list that the words name. Where that is not exactly
// one, it says what there is, and nothing is done. Among several that words of a
// title fit, those count that are good for the command, if there are any.
func (m *session) pick(l list, query string, good func(id string) bool) (thing, bool) {
	things := l.things(m)
	switch {
	case len(things) == 0:
		m.answer(kindError, l.none)
		return thing{}, false
	case query == "":
		m.wrong()
		return thing{}, false
	}
	if t, ok := byID(things, query); ok {
		return t, true
	}
	if n, err := strconv.Atoi(query); err == nil {
		return m.byNumber(l, n)
	}
	found := byWords(things, query)
	if better := slices.DeleteFunc(slices.Clone(found), func(t thing) bool { return good != nil && !good(t.id) }); len(better) > 0 {
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
	return thing{}, false
}

// byNumber is the thing with a number in the list that was read last. Without a
// list there is none: the order may have changed since it was thought of.
func (m *session) byNumber(l list, n int) (thing, bool) {
	things, ids := l.things(m), m.numbers[l.noun]
	switch {
	case len(things) == 0:
		m.answer(kindError, l.none)
		return thing{}, false
	case len(ids) == 0:
		m.choose(l, things, textNoList)
		return thing{}, false
	case n < 1 || n > len(ids):
		m.answer(kindError, fmt.Sprintf(textNoNumber, n, len(ids)))
		return thing{}, false
	}
	t, ok := byID(things, ids[n-1])
	if !ok {
		m.choose(l, things, fmt.Sprintf(textGone, n))
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
		func(t thing) bool { return holdsAll(t.title, query) },
	} {
		if found := slices.DeleteFunc(slices.Clone(things), func(t thing) bool { return !fits(t) }); len(found) > 0 {
			return found
		}
	}
	return nil
}

// holdsAll reports whether the text holds every one of the words.
func holdsAll(text, query string) bool {
	text = strings.ToLower(text)
	for w := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
