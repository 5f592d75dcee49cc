package claudetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"sync"
	"time"
)

// Anthropic's rules for prompt caches (docs: Build with Claude > Prompt caching).
const (
	maxMarks  = 4   // cache_control marks of a request
	lookBack  = 20  // blocks before a mark that are searched for an earlier entry
	leastKept = 512 // minimum tokens of a cached prefix
	// A token is about four bytes.
	tokenBytes = 4
)

// Cache is the prompt cache of an account. It computes how much of each request is read from it, by
// Anthropic's rules. The zero value is empty. Its methods may be called from any goroutine.
type Cache struct {
	mu      sync.Mutex
	entries map[prefix]entry
	// seen contains all prefixes of all requests, whole those that were complete requests.
	seen, whole map[prefix]bool
	total       Cached
}

// Cached is how many tokens of a cache one or more requests used.
type Cached struct {
	Input, Read, Write int
	Hour               int // the part of Write that is kept for an hour
	Requests           int
	// Rewritten counts requests that began like an earlier one and then differed from it before its
	// end. Forks differ only after its end.
	Rewritten int
}

// Share returns the fraction of all input tokens that was read from the cache.
func (c Cached) Share() float64 { return float64(c.Read) / float64(max(1, c.Input+c.Read+c.Write)) }

// prefix is the hash of a request up to a block, for a model.
type prefix [sha256.Size]byte

// entry is a cached prefix.
type entry struct {
	until time.Time
	kept  time.Duration
}

// place is a block of a request.
type place struct {
	upTo   prefix
	tokens int           // up to its end
	kept   time.Duration // the duration that its mark requests; 0 without a mark
	frozen bool          // a tool or a part of the system prompt
	answer bool          // written by the model
}

// Total returns the usage of all requests.
func (c *Cache) Total() Cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// Take accounts for a request. The error is the API's reason to refuse it.
func (c *Cache) Take(raw []byte, now time.Time) (Cached, error) {
	places, err := placesOf(raw)
	if err != nil {
		return Cached{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries, c.seen, c.whole = map[prefix]entry{}, map[prefix]bool{}, map[prefix]bool{}
	}
	used := Cached{Requests: 1}
	hit := c.hit(places, now)
	if hit >= 0 {
		used.Read = places[hit].tokens
	}
	last := 0 // tokens up to the last mark
	for _, p := range places {
		if p.kept == 0 || p.tokens < leastKept {
			continue
		}
		if p.tokens > max(used.Read, last) && p.kept == time.Hour {
			used.Hour += p.tokens - max(used.Read, last)
		}
		last = p.tokens
		// A mark of five minutes does not shorten an entry kept for an hour.
		kept := max(p.kept, c.entries[p.upTo].kept)
		c.entries[p.upTo] = entry{until: now.Add(kept), kept: kept}
	}
	used.Write = max(0, last-used.Read)
	used.Input = places[len(places)-1].tokens - used.Read - used.Write
	if c.rewrites(places) {
		used.Rewritten = 1
	}
	c.total.add(used)
	return used, nil
}

// hit returns the last block of the longest cached prefix that is found from a mark, or -1. Reading
// an entry renews it.
func (c *Cache) hit(places []place, now time.Time) int {
	for mark := len(places) - 1; mark >= 0; mark-- {
		if places[mark].kept == 0 {
			continue
		}
		for at := mark; at >= max(0, mark-lookBack+1); at-- {
			if e, ok := c.entries[places[at].upTo]; ok && now.Before(e.until) {
				e.until = now.Add(e.kept)
				c.entries[places[at].upTo] = e
				return at
			}
		}
	}
	return -1
}

// rewrites reports whether a request begins like earlier ones without containing all of one, with
// or without the model's answer, and remembers it.
func (c *Cache) rewrites(places []place) bool {
	common := -1
	for i, p := range places {
		if c.seen[p.upTo] {
			common = i
		}
		c.seen[p.upTo] = true
	}
	for common >= 0 && places[common].answer && !c.whole[places[common].upTo] {
		common--
	}
	bad := common >= 0 && !places[common].frozen && !c.whole[places[common].upTo]
	c.whole[places[len(places)-1].upTo] = true
	return bad
}

func (c *Cached) add(d Cached) {
	c.Input, c.Read, c.Write, c.Hour = c.Input+d.Input, c.Read+d.Read, c.Write+d.Write, c.Hour+d.Hour
	c.Requests, c.Rewritten = c.Requests+d.Requests, c.Rewritten+d.Rewritten
}

// marked finds a mark in a block. A text that looks like one has backslashes before its quotes.
var marked = regexp.MustCompile(`,?"cache_control":(\{[^}]*\}|null),?`)

// placesOf returns the blocks of a request in cache order: tools, system, messages.
func placesOf(raw []byte) ([]place, error) {
	var q struct {
		Model    string
		Tools    []json.RawMessage
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		return nil, err
	}
	var list []place
	upTo, tokens, marks := sha256.Sum256([]byte(q.Model)), 0, 0
	add := func(where string, block []byte, frozen bool) error {
		kept, err := keptFor(block)
		if err != nil {
			return err
		}
		if kept > 0 {
			marks++
		}
		plain := marked.ReplaceAll(block, nil)
		upTo = sha256.Sum256(append(append(upTo[:], where...), plain...))
		tokens += len(plain) / tokenBytes
		list = append(list, place{upTo: upTo, tokens: tokens, kept: kept, frozen: frozen, answer: where == "assistant"})
		return nil
	}
	for _, t := range q.Tools {
		if err := add("tool", t, true); err != nil {
			return nil, err
		}
	}
	for _, b := range blocksOf(q.System) {
		if err := add("system", b, true); err != nil {
			return nil, err
		}
	}
	for _, m := range q.Messages {
		for _, b := range blocksOf(m.Content) {
			if err := add(m.Role, b, false); err != nil {
				return nil, err
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("messages: at least one message is required")
	}
	return list, orderly(list, marks)
}

// orderly refuses too many marks, and a one-hour mark after a five-minute mark.
func orderly(list []place, marks int) error {
	if marks > maxMarks {
		return fmt.Errorf("a maximum of %d blocks with cache_control may be provided, found %d", maxMarks, marks)
	}
	short := false
	for _, p := range list {
		if short && p.kept == time.Hour {
			return fmt.Errorf("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
		}
		short = short || p.kept == 5*time.Minute
	}
	return nil
}

// keptFor returns the duration that a block's mark requests.
func keptFor(block []byte) (time.Duration, error) {
	var b struct {
		Control *struct{ Type, TTL string } `json:"cache_control"`
	}
	if !bytes.Contains(block, []byte(`"cache_control"`)) || json.Unmarshal(block, &b) != nil || b.Control == nil {
		return 0, nil
	}
	switch b.Control.TTL {
	case "", "5m":
		return 5 * time.Minute, nil
	case "1h":
		return time.Hour, nil
	}
	return 0, fmt.Errorf("cache_control.ttl: %q is neither 5m nor 1h", b.Control.TTL)
}

// blocksOf returns the blocks of a message's content, which may be a plain string.
func blocksOf(content json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(content, &list) == nil || len(content) == 0 {
		return list
	}
	return []json.RawMessage{fmt.Appendf(nil, `{"type":"text","text":%s}`, content)}
}
