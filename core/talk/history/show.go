package history

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ollimbot/core/base/clean"
)

// Conversation is one session with its entries.
type Conversation struct {
	Session
	Entries []Entry `json:"entries"` // oldest first
	Earlier int     `json:"earlier"` // earlier entries that are not shown
	Copied  int     `json:"copied"`  // entries copied by a fork that are not shown
}

// Limits bound what Show returns.
type Limits struct {
	Entries int // the newest
	Bytes   int // of all texts, also the newest
	Text    int // runes of one message
	Result  int // runes of one tool's result, and of one message of the program
	Copies  bool
}

// Brief returns limits for following a session.
func Brief() Limits { return Limits{Entries: 200, Bytes: 128 << 10, Text: 2000, Result: 200} }

// Full returns limits for a whole session, up to what a terminal or a model can take.
func Full() Limits {
	return Limits{Entries: 20_000, Bytes: 8 << 20, Text: 100_000, Result: 100_000, Copies: true}
}

// Show reads a session of this data directory or, if it has none with that id, of any
// other. The id may be shortened as long as it is unique. An unknown id returns
// ErrNoSession.
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

// pick finds the session with an id, which may be shortened.
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
			return found{}, fmt.Errorf("%d sessions start with %s: enter more of the id", len(fits), id)
		}
	}
	return found{}, unknown(id)
}

// fill reads the entries and counts their messages exactly. It keeps the newest within
// the limits.
func (h *History) fill(f found, limits Limits, c *Conversation) error {
	bytes := 0
	drop := 0 // entries at the front beyond the limit
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
		if drop > limits.Entries { // free their memory
			c.Entries, c.Earlier, drop = append([]Entry(nil), c.Entries[drop:]...), c.Earlier+drop, 0
		}
		return true
	})
	c.Entries, c.Earlier = c.Entries[drop:], c.Earlier+drop
	return err
}

// cut shortens a text. Of the program's messages it keeps the end, because a task's
// prompt follows the general instructions.
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

// cutFront keeps the last n runes at most, from the start of a line if one starts among
// them.
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
