package history

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ollimbot/core/base/clean"
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
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	Role    Role      `json:"role"`
	Excerpt string    `json:"excerpt"` // cleaned, one line
}

// Search finds the messages of the user and the bot, and tool calls, that hold
// all words, in the sessions of this data directory that changed since then.
// Upper and lower case are the same. It gives the newest fifty hits, newest
// first, and how many there are besides. What a fork has copied counts once, for
// the session where it was said.
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

// Conversation is one session as it went.
type Conversation struct {
	Session
	Entries []Entry `json:"entries"` // oldest first
	Earlier int     `json:"earlier"` // entries before these that are not shown
	Copied  int     `json:"copied"`  // entries that a fork has copied and that are not shown
}

// Limits bound what Show gives.
type Limits struct {
	Entries int // the newest so many
	Bytes   int // of all texts together, again the newest
	Text    int // runes of one message
	Result  int // runes of what one tool gave, and of one message of the program
	Copies  bool
}

// Brief is what a reader needs to follow a session, Full what there is, as far
// as a terminal or a model can take it.
func Brief() Limits { return Limits{Entries: 200, Bytes: 128 << 10, Text: 2000, Result: 200} }

// Full is all of a session in the sizes that sessions have.
func Full() Limits {
	return Limits{Entries: 20_000, Bytes: 8 << 20, Text: 100_000, Result: 100_000, Copies: true}
}

// Show reads one session of this data directory or, if it has none of that id,
// of any other. The id may be shortened as long as one session fits. It fails
// with ErrNoSession where none fits.
func (h *History) Show(id string, limits Limits) (Conversation, error) {
	in, err := h.folders()
	if err != nil {
		return Conversation{}, err
	}
	defer in.close()
	f, err := h.pick(in, id)
	if err != nil {
		return Conversation{}, err
	}
	s, err := h.summary(f)
	if err != nil {
		return Conversation{}, fmt.Errorf("read session %s: %w", f.id, err)
	}
	c := Conversation{Session: h.knowledge().complete(s)}
	if err := h.fill(f, limits, &c); err != nil {
		return c, fmt.Errorf("read session %s: %w", f.id, err)
	}
	return c, nil
}

func unknown(id string) error {
	return fmt.Errorf("%q: %w", clean.Cut(clean.Line(id), 60), ErrNoSession)
}

// pick finds the one session that an id means.
func (h *History) pick(in folders, id string) (found, error) {
	if !validID(id) {
		return found{}, unknown(id)
	}
	for _, all := range []bool{false, true} {
		var fits []found
		for _, f := range h.find(in, time.Time{}, all) {
			if f.id == id {
				return f, nil
			}
			if strings.HasPrefix(f.id, id) {
				fits = append(fits, f)
			}
		}
		switch len(fits) {
		case 0:
		case 1:
			return fits[0], nil
		default:
			return found{}, fmt.Errorf("%d sessions begin with %s: give more of the id", len(fits), id)
		}
	}
	return found{}, unknown(id)
}

// fill reads the entries and counts their messages exactly. Of a session that is
// longer than the limits only the newest are held.
func (h *History) fill(f found, limits Limits, c *Conversation) error {
	bytes := 0
	drop := 0 // entries at the front that are over the limit
	c.Messages, c.Exact = 0, true
	err := h.read(f, nil, func(e Entry) bool {
		if e.Copied && !limits.Copies {
			c.Copied++
			return true
		}
		if e.counts && !e.Copied {
			c.Messages++
		}
		e.Text = limits.cut(e)
		bytes += len(e.Text)
		c.Entries = append(c.Entries, e)
		for len(c.Entries)-drop > limits.Entries || bytes > limits.Bytes && len(c.Entries)-drop > 1 {
			bytes -= len(c.Entries[drop].Text)
			c.Entries[drop] = Entry{}
			drop++
		}
		if drop > limits.Entries { // let go of what was dropped
			c.Entries, c.Earlier, drop = append([]Entry(nil), c.Entries[drop:]...), c.Earlier+drop, 0
		}
		return true
	})
	c.Entries, c.Earlier = c.Entries[drop:], c.Earlier+drop
	return err
}

// cut shortens a text. What a task asks stands behind what every task is told,
// so that the end of the program's words is kept.
func (l Limits) cut(e Entry) string {
	switch e.Role {
	case Program:
		return cutFront(e.Text, l.Result)
	case Result:
		if utf8.RuneCountInString(e.Text) > l.Result {
			return clean.Cut(clean.Line(e.Text), l.Result)
		}
	}
	return clean.Cut(e.Text, l.Text)
}

// cutFront keeps the last n runes at most, from the beginning of a line on
// where one begins among them.
func cutFront(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	rest := string(runes[len(runes)-n+1:])
	if _, line, ok := strings.Cut(rest, "\n"); ok && strings.TrimSpace(line) != "" {
		rest = strings.TrimSpace(line)
	}
	return "…" + rest
}
