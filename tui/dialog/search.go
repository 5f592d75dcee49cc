package dialog

import (
	"cmp"
	"slices"
	"strings"

	"ollimbot/tui/action"
)

// search ranks the actions. Of two that the query names as well, one that can be
// used comes first, then one of the focused pane, then the table's order.
// How a word is spelled is forgiven only where nothing else is found.
func (p *Palette) search() {
	p.cursor, p.top = 0, 0
	query := p.query.Text()
	if strings.TrimSpace(query) == "" {
		p.shown = p.items
		return
	}
	p.list(func(item) (string, int, bool) { return query, 0, true })
	if len(p.shown) == 0 {
		p.list(func(it item) (string, int, bool) { return respell(query, it.name) })
	}
}

// list shows the actions that a query names. For each it says how the query is
// spelled, and how many letters of it were wrong.
func (p *Palette) list(asks func(item) (query string, wrong int, ok bool)) {
	p.shown = nil
	ranks := map[int]rank{}
	words, runs := strings.Fields(strings.ToLower(p.query.Text())), 0
	for i := range len(p.items) + len(p.things) {
		it := p.nth(i)
		run := it.thing != nil && it.thing.kind == textARun
		if run && (runs == mostRuns || !holdsAll(it.all, words)) { // of which there are thousands
			continue
		}
		query, wrong, ok := asks(*it)
		if !ok {
			continue
		}
		if run {
			runs++
		}
		if m := it.action.Match(query); m > 0 && (it.thing == nil || m >= action.Inside && len(strings.TrimSpace(query)) >= leastThing) {
			found := *it
			found.marks = hits(it.name, query)
			p.shown = append(p.shown, found)
			ranks[it.place] = rank{wrong, m, p.why(*it) != "", it.action.Pane != p.focus}
		}
	}
	slices.SortFunc(p.shown, func(a, b item) int {
		return cmp.Or(ranks[a.place].compare(ranks[b.place]), cmp.Compare(a.place, b.place))
	})
}

// nth is the ith of all that can be found.
func (p *Palette) nth(i int) *item {
	if i < len(p.items) {
		return &p.items[i]
	}
	return &p.things[i-len(p.items)]
}

// mostRuns is how many runs a query finds, the newest.
const mostRuns = 100

// holdsAll reports whether a text in small letters holds every word.
func holdsAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// leastThing is how many letters a query has at least that finds more than actions:
// one letter is in everything.
const leastThing = 2

// why is why an item cannot be run; empty means that it can.
func (p *Palette) why(it item) string {
	if it.thing != nil {
		return it.thing.why
	}
	return p.off(it.action)
}

// rank is what orders the actions that a query names.
type rank struct {
	wrong     int // letters of the query
	match     action.Match
	off, away bool // cannot be used; belongs to another pane
}

func (a rank) compare(b rank) int {
	return cmp.Or(cmp.Compare(a.wrong, b.wrong), cmp.Compare(b.match, a.match), after(a.off, b.off), after(a.away, b.away))
}

// after puts what is true behind what is not.
func after(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// hits are the bytes of a name at which its characters are those of the query's
// words: at the beginning of a word, if there is one.
func hits(name, query string) []int {
	var out []int
	for _, w := range strings.Fields(query) {
		at, n := index(name, w)
		if i, m := index(" "+name, " "+w); i >= 0 {
			at, n = i, m-1
		}
		if at < 0 {
			continue
		}
		for i := range name[at : at+n] {
			out = append(out, at+i)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
