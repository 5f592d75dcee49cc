package history

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ollimbot/core/base/clean"
)

const (
	maxHits = 50
	// excerptBefore is the number of runes before the first match in an excerpt,
	// excerptRunes its total length.
	excerptBefore = 60
	excerptRunes  = 240
)

// Hit is a message or call that contains all words.
type Hit struct {
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	Role    Role      `json:"role"`
	Excerpt string    `json:"excerpt"` // cleaned, one line
}

// Search finds the messages of the user and the bot, and the tool calls, that contain all
// words, in the sessions of this data directory that changed since then. It ignores case.
// It returns the newest fifty hits, newest first, and the number of further ones. A
// message copied by a fork counts once, for the session in which it was said.
func (h *History) Search(words []string, since time.Time) (hits []Hit, more int, err error) {
	in, err := h.folders()
	if err != nil {
		return nil, 0, err
	}
	defer in.close()
	words = lowered(words)
	seen := map[string]bool{}
	for _, f := range h.oldestFirst(h.find(in, since, false)) {
		err := h.read(f, seen, func(e Entry) bool {
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

// oldestFirst puts a session before the forks that copied it. The modification time alone
// is not enough: a fork's file changes until the fork ends, its parent's with every
// message.
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

// newest drops all but the newest hits, and sorts them newest first.
func newest(hits *[]Hit) []Hit {
	slices.SortStableFunc(*hits, func(a, b Hit) int { return b.At.Compare(a.At) })
	*hits = (*hits)[:min(len(*hits), maxHits)]
	return *hits
}

// lowered returns the search words in lower case.
func lowered(words []string) []string {
	var list []string
	for _, w := range words {
		list = append(list, strings.Fields(strings.ToLower(clean.Line(w)))...)
	}
	return list
}

// match reports whether a text contains all words, and returns an excerpt around the
// first of them. An empty list matches nothing.
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

// around returns an excerpt around the rune at. Lower-casing preserves the number of
// runes, though not of bytes.
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
