package dialog

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"ollimbot/core/words"
)

// search ranks what the query names. Of two that it names as well, one that can be used
// comes first, then one of the focused pane, then the table's order.
// How a word is spelled is forgiven only where nothing else is found.
func (p *Palette) search() {
	p.list.At = 0
	query := strings.TrimSpace(p.query.Text())
	if query == "" {
		p.shown = p.items
		return
	}
	p.find(query, func(*item) string { return query })
	if len(p.shown) == 0 {
		p.find(query, func(it *item) string { return respell(query, it.name) })
	}
}

// mostRuns is how many runs a query finds, the newest. leastThing is how many letters a
// query has at least that finds more than actions: one letter is in everything.
const (
	mostRuns   = 100
	leastThing = 2
)

// find shows what a query names, as it is spelled for each.
func (p *Palette) find(query string, spelled func(*item) string) {
	p.shown = nil
	runs := 0
	all := p.items
	if len(query) >= leastThing {
		all = slices.Concat(p.items, p.things)
	}
	for _, it := range all {
		run := it.kind == textARun
		if run && (runs == mostRuns || !words.HoldsAll(it.kind+" "+it.name, query)) { // of which there are thousands
			continue
		}
		if it.match = it.action.Match(spelled(it)); it.match > 0 {
			p.shown = append(p.shown, it)
			if run {
				runs++
			}
		}
	}
	slices.SortStableFunc(p.shown, func(a, b *item) int {
		return cmp.Or(cmp.Compare(b.match, a.match), cmp.Compare(min(1, len(p.why(a))), min(1, len(p.why(b)))))
	})
}

// respell gives a query with the words of a title in the place of those that are
// spelled otherwise; empty where a word of the query is like none of them. A word counts
// for one word of a title and never for letters of several: "demo" is no "Mute pings".
func respell(query, title string) string {
	known := wordsOf(title)
	var out []string
	for _, w := range wordsOf(query) {
		i := slices.IndexFunc(known, func(t string) bool { return meant(w, t) })
		if i < 0 {
			return ""
		}
		out = append(out, known[i])
	}
	return strings.Join(out, " ")
}

func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// leastForgiven is how many letters a word has at least that may be spelled otherwise:
// "thme" is no "the".
const leastForgiven = 4

// meant reports whether a word may stand for one that is written otherwise: between
// their equal ends are at most two letters of each, and two for two only where they have
// changed places.
func meant(written, word string) bool {
	a, b := []rune(written), []rune(word)
	if min(len(a), len(b)) < leastForgiven {
		return written == word
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return max(len(a), len(b)) <= 2 && (len(a)+len(b) < 4 || a[0] == b[1])
}
