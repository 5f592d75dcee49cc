package plain

import (
	"fmt"
	"strconv"
	"strings"

	"ollimbot/core/words"
)

// thing is what a command can name: by its number in the list that was read
// last, by its id, or by words of its title.
type thing struct {
	id, title string
	line      string // as a list says it, without its number
}

// shelf is a kind of things: each has its own numbers.
type shelf string

const (
	shelfTask    shelf = "task"
	shelfRun     shelf = "run"
	shelfUpdate  shelf = "update"
	shelfMessage shelf = "message"
)

const (
	// most is how many lines a list has unless more are asked for: who listens
	// cannot look away.
	most = 30
	// prefix is how much of an id is enough, in characters.
	prefix = 4
)

// list reads things with numbers, which mean these things until the next list, or
// says that there are none.
func (m *session) list(k shelf, kind string, things []thing, none string) {
	if len(things) == 0 {
		m.answer(kind, none)
		return
	}
	ids := make([]string, 0, len(things))
	var lines strings.Builder
	for i, t := range things {
		ids = append(ids, t.id)
		if i < most {
			fmt.Fprintf(&lines, "%d, %s\n", i+1, t.line)
		}
	}
	if n := len(things) - most; n > 0 {
		fmt.Fprintf(&lines, textMore+"\n", words.Thousands(uint64(n)))
	}
	m.numbers[k] = ids
	m.answer(kind, lines.String())
}

// choose says what a word of the user can mean.
type choose struct {
	shelf  shelf
	things []thing
	what   string // said where nothing is named
	none   string // said where there is nothing to name
	// prefer picks among several that the words fit; nil takes all. What a number
	// or an id names is taken as it is.
	prefer func(id string) bool
	// newest takes the first of several that have one title.
	newest bool
}

// pick finds the thing that the words name. Where that is not exactly one, it
// says what there is, and nothing is done.
func (m *session) pick(c choose, query string) (thing, bool) {
	switch {
	case len(c.things) == 0:
		m.answer(kindError, c.none)
		return thing{}, false
	case query == "":
		m.answer(kindError, c.what)
		return thing{}, false
	}
	if t, ok := byID(c.things, query); ok {
		return t, true
	}
	if n, err := strconv.Atoi(query); err == nil {
		return m.byNumber(c, n)
	}
	found := byWords(c.things, query)
	if c.prefer != nil {
		var better []thing
		for _, t := range found {
			if c.prefer(t.id) {
				better = append(better, t)
			}
		}
		if len(better) > 0 {
			found = better
		}
	}
	switch {
	case len(found) == 1 || len(found) > 1 && c.newest && oneTitle(found):
		return found[0], true
	case len(found) > 1:
		m.answer(kindError, fmt.Sprintf(textWhich, query, words.Grouped(uint64(len(found)), string(c.shelf))))
		m.list(c.shelf, kindChoice, found, "")
	default:
		m.answer(kindError, fmt.Sprintf(textNoSuch, c.shelf, query))
		m.list(c.shelf, kindChoice, c.things, "")
	}
	return thing{}, false
}

// byNumber is the thing with a number in the list that was read last. Without a
// list there is none: the order may have changed since it was thought of.
func (m *session) byNumber(c choose, n int) (thing, bool) {
	ids := m.numbers[c.shelf]
	switch {
	case len(c.things) == 0:
		m.answer(kindError, c.none)
		return thing{}, false
	case len(ids) == 0:
		m.answer(kindError, textNoList)
		m.list(c.shelf, kindChoice, c.things, "")
		return thing{}, false
	case n < 1 || n > len(ids):
		m.answer(kindError, fmt.Sprintf(textNoNumber, n, len(ids)))
		return thing{}, false
	}
	t, ok := byID(c.things, ids[n-1])
	if !ok {
		m.answer(kindError, fmt.Sprintf(textGone, n))
		m.list(c.shelf, kindChoice, c.things, "")
	}
	return t, ok
}

func byID(things []thing, id string) (thing, bool) {
	for _, t := range things {
		if strings.EqualFold(t.id, id) {
			return t, true
		}
	}
	return thing{}, false
}

// byWords are the things with exactly this title, else those whose id begins
// so, else those whose title holds every word.
func byWords(things []thing, query string) []thing {
	query = strings.ToLower(query)
	var same, begin, hold []thing
	for _, t := range things {
		title := strings.ToLower(t.title)
		switch {
		case title == query:
			same = append(same, t)
		case len(query) >= prefix && strings.HasPrefix(strings.ToLower(t.id), query):
			begin = append(begin, t)
		case holdsAll(title, query):
			hold = append(hold, t)
		}
	}
	for _, found := range [][]thing{same, begin} {
		if len(found) > 0 {
			return found
		}
	}
	return hold
}

// holdsAll reports whether the text holds every one of the words.
func holdsAll(text, query string) bool {
	for w := range strings.FieldsSeq(query) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func oneTitle(things []thing) bool {
	for _, t := range things {
		if t.title != things[0].title {
			return false
		}
	}
	return true
}
