package history

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ollimbot/core/clean"
)

const (
	// maxHits is how many places a search gives.
	maxHits = 50
	// excerptBefore and excerptRunes are what an excerpt shows, in runes: a little
	// before the first word that was found, and what follows.
	excerptBefore = 60
	excerptRunes  = 240
)

// Hit is a place where all words were said.
type Hit struct {
	Session string
	At      time.Time
	Role    Role
	Excerpt string // cleaned, one line
}

// Search finds the messages of the user and the bot, and tool calls, that hold
// all words, in the sessions of this data directory that changed since then.
// Upper and lower case are the same. It gives the newest fifty hits, newest
// first, and how many there are besides. What a fork has copied counts once, for
// the session where it was said.
func (h *History) Search(words []string, since time.Time) (hits []Hit, more int, err error) {
	root, err := h.folders()
	if err != nil || root == nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }() // only read
	words = lowered(words)
	seen := map[string]bool{}
	for _, f := range h.oldestFirst(h.find(root, since, false)) {
		err := h.read(root, f, seen, func(e Entry) bool {
			if e.At.Before(since) || e.Role == Program || e.Role == Result {
				return true
			}
			if excerpt, ok := match(e.Text, words); ok {
				hits = append(hits, Hit{Session: f.id, At: e.At, Role: e.Role, Excerpt: excerpt})
			}
			if len(hits) >= 2*maxHits {
				more += len(hits) - len(newest(&hits))
			}
			return true
		})
		if err != nil {
			h.skipped(f, err)
		}
	}
	found := len(hits)
	return newest(&hits), more + found - len(hits), nil
}

// oldestFirst puts the session where something was said before the forks that
// have copied it: a fork's file is changed last when the fork ends, its parent's
// with every message, so the time of the change does not tell.
func (h *History) oldestFirst(files []found) []found {
	main := h.knowledge().kind
	slices.SortStableFunc(files, func(a, b found) int {
		if x, y := main[a.id] == Main, main[b.id] == Main; x != y {
			if x {
				return -1
			}
			return 1
		}
		return a.changed.Compare(b.changed)
	})
	return files
}

// newest keeps the newest hits, newest first.
func newest(hits *[]Hit) []Hit {
	slices.SortStableFunc(*hits, func(a, b Hit) int { return b.At.Compare(a.At) })
	*hits = (*hits)[:min(len(*hits), maxHits)]
	return *hits
}

// lowered are the words to look for, in lower case.
func lowered(words []string) []string {
	var list []string
	for _, w := range words {
		list = append(list, strings.Fields(strings.ToLower(clean.Line(w)))...)
	}
	return list
}

// match reports whether a text holds all words, and shows the place of the
// first that stands there. No words match nothing.
func match(text string, words []string) (excerpt string, ok bool) {
	line := clean.Line(text)
	lower := strings.ToLower(line)
	first := len(lower)
	for _, w := range words {
		at := strings.Index(lower, w)
		if at < 0 {
			return "", false
		}
		first = min(first, at)
	}
	if len(words) == 0 {
		return "", false
	}
	return around([]rune(line), utf8.RuneCountInString(lower[:first])), true
}

// around is an excerpt about the rune at. Lower case has as many runes as the
// text itself, though not as many bytes.
func around(line []rune, at int) string {
	from := max(0, at-excerptBefore)
	to := min(len(line), from+excerptRunes)
	excerpt := strings.TrimSpace(string(line[from:to]))
	if from > 0 {
		excerpt = "…" + excerpt
	}
	if to < len(line) {
		excerpt += "…"
	}
	return excerpt
}
