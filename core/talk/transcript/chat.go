// Package transcript is the conversation as shown in the dashboard: the user's messages,
// the bot's answers, and every message it sent. It owns the entries and their file, and
// is the bot's surface if there is no Discord. It must not know engines, sessions or
// dashboards.
package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
)

// maxText is the maximum length of an entry's text in bytes; longer ones are cut.
const maxText = 64 << 10

// maxName is the maximum length of a shown file name, in characters.
const maxName = 200

// errClosed is returned by posts after Close; it is a post.ErrNoChannel.
var errClosed = fmt.Errorf("the bot has stopped: %w", post.ErrNoChannel)

// Options configure a Chat. Zero values work: no file, UTC, 500 entries.
type Options struct {
	Dir   *store.Dir // nil keeps the conversation in memory only
	Log   *slog.Logger
	Limit int // entries kept for scrolling back
	Zone  *time.Location
}

// Chat is the conversation. It is a surface (chat.Surface): each post becomes an entry.
// Its methods are safe for concurrent use.
type Chat struct {
	limit int
	zone  *time.Location
	file  *file

	mu sync.Mutex
	// entries are the newest ones, oldest first; live are the streaming answers by entry id;
	// nonces maps a post's nonce to its entry. seen is the latest snapshot, nil after a
	// change.
	entries  []Entry
	live     map[post.MessageID]*Stream
	nonces   map[string]post.MessageID
	seen     []Entry
	onChange func()
	closed   bool
	more     bool // older entries were dropped
}

// New returns a chat that starts with the saved entries. It writes nothing until an
// entry is added.
func New(o Options) *Chat {
	c := &Chat{
		limit: o.Limit, zone: o.Zone,
		live: map[post.MessageID]*Stream{}, nonces: map[string]post.MessageID{},
	}
	if c.limit <= 0 {
		c.limit = 500
	}
	c.zone = cmp.Or(c.zone, time.UTC)
	log := o.Log
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	if o.Dir != nil {
		c.file = &file{lines: jsonl.Log[record]{Dir: o.Dir, Rel: fileName, Limit: rotateAt, Keep: keepBytes}, log: log}
		for _, r := range c.file.load() {
			e := r.entry(c.zone)
			c.entries = append(c.entries, e)
			if r.Nonce != "" {
				c.nonces[r.Nonce] = e.ID
			}
		}
		c.trim()
	}
	return c
}

// OnChange sets the function called after every change, from the goroutine that made it
// and without holding a lock. Set it before the chat is shared.
func (c *Chat) OnChange(f func()) { c.onChange = f }

// Entries returns the conversation, oldest first, as an immutable slice: the same one
// until something changes.
func (c *Chat) Entries() []Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = make([]Entry, len(c.entries))
		copy(c.seen, c.entries)
		for i := range c.seen {
			if s := c.live[c.seen[i].ID]; s != nil {
				c.seen[i].Text = s.text.String()
				c.seen[i].Tools = slices.Clone(s.tools)
			}
		}
	}
	return c.seen
}

// More reports whether older entries were dropped.
func (c *Chat) More() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.more
}

// Add appends a finished entry, such as a message of the user.
func (c *Chat) Add(role Role, text string) post.MessageID {
	return c.add(Entry{ID: newID(), At: c.now(), Role: role, Text: tidy(text)})
}

// AddFrom adds a user's message from another surface, with its id there. A label means
// that someone else wrote it.
func (c *Chat) AddFrom(where string, id post.MessageID, text string, from label.Label) post.MessageID {
	e := Entry{ID: newID(), At: c.now(), Role: User, Text: tidy(text), Where: where, Label: from}
	if id != "" {
		e.Elsewhere = []post.MessageID{id}
	}
	return c.add(e)
}

func (c *Chat) add(e Entry) post.MessageID {
	c.mu.Lock()
	c.append(e)
	c.mu.Unlock()
	c.save(e, "")
	return e.ID
}

// Post adds the bot's message, once per nonce: a repeated nonce returns the id of the
// first message and has no effect.
func (c *Chat) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := p.Begin(); err != nil {
		return "", err
	}
	e := c.fromPost(p)
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return "", errClosed
	}
	if id, again := c.nonces[p.Nonce]; again && p.Nonce != "" {
		c.mu.Unlock()
		return id, nil
	}
	if p.Nonce != "" {
		c.nonces[p.Nonce] = e.ID
	}
	c.append(e)
	c.mu.Unlock()
	c.save(e, p.Nonce)
	return e.ID, nil
}

// Reword replaces the text of an entry; a removed one stays removed.
func (c *Chat) Reword(id post.MessageID, text string) {
	if e, ok := c.change(id, func(e *Entry) { e.Text = tidy(text) }); ok {
		c.save(e, "")
	}
}

// change alters an entry. It returns false if the entry was removed.
func (c *Chat) change(id post.MessageID, alter func(*Entry)) (Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.find(id)
	if i < 0 {
		return Entry{}, false
	}
	e := &c.entries[i]
	alter(e)
	e.Version++
	c.seen = nil
	return *e, true
}

// PostAs adds a message sent by another surface, under its id there. An existing entry
// with that id stays unchanged.
func (c *Chat) PostAs(id post.MessageID, p post.Post, where string) {
	e := c.fromPost(p)
	e.ID, e.Where = id, where
	c.mu.Lock()
	if c.closed || c.find(id) >= 0 {
		c.mu.Unlock()
		return
	}
	if p.Nonce != "" {
		c.nonces[p.Nonce] = id
	}
	c.append(e)
	c.mu.Unlock()
	c.save(e, p.Nonce)
}

// Edit replaces a message, keeping its place and time.
func (c *Chat) Edit(ctx context.Context, id post.MessageID, p post.Post) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	next := c.fromPost(p)
	c.mu.Lock()
	i := c.find(id)
	if c.closed || i < 0 {
		closed := c.closed
		c.mu.Unlock()
		if closed {
			return errClosed
		}
		return errors.New("edit a message: it is no longer part of the conversation")
	}
	old := c.entries[i]
	next.ID, next.At, next.Version = old.ID, old.At, old.Version+1
	next.Where, next.Elsewhere = old.Where, old.Elsewhere
	c.entries[i], c.seen = next, nil
	c.mu.Unlock()
	c.save(next, p.Nonce)
	return nil
}

// Delete removes a message; a missing one is not an error.
func (c *Chat) Delete(ctx context.Context, id post.MessageID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	i := c.find(id)
	if i >= 0 {
		c.entries, c.seen = slices.Delete(c.entries, i, i+1), nil
		delete(c.live, id)
	}
	c.mu.Unlock()
	if i < 0 {
		return nil
	}
	c.write(record{ID: string(id), Deleted: true})
	return nil
}

// Typing does nothing: the snapshot already shows dashboards that the bot is working.
func (c *Chat) Typing(ctx context.Context) error { return ctx.Err() }

// Close saves the answers that are still streaming. Later posts fail. It is idempotent.
func (c *Chat) Close() error {
	c.mu.Lock()
	c.closed = true
	open := make([]*Stream, 0, len(c.live))
	for _, s := range c.live {
		open = append(open, s)
	}
	c.mu.Unlock()
	for _, s := range open {
		s.End()
	}
	if c.file == nil {
		return nil
	}
	return c.file.failed()
}

func (c *Chat) fromPost(p post.Post) Entry {
	e := Entry{
		ID: newID(), At: c.now(), Role: Bot, Text: withFiles(tidy(p.Text), p.Files), Embed: tidyEmbed(p.Embed),
		Source: clean.Line(p.Source), Critical: p.Critical, Quiet: p.Quiet, Label: p.Label,
	}
	switch {
	case p.Small:
		e.Role = Notice
	case p.Context == "bg":
		e.Role = Ping
	}
	return e
}

// append adds an entry and drops the oldest beyond the limit; mu is held.
func (c *Chat) append(e Entry) {
	c.entries, c.seen = append(c.entries, e), nil
	c.trim()
}

func (c *Chat) trim() {
	over := len(c.entries) - c.limit
	if over <= 0 {
		return
	}
	gone := map[post.MessageID]bool{}
	for _, e := range c.entries[:over] {
		gone[e.ID] = true
	}
	c.entries, c.more = slices.Delete(c.entries, 0, over), true
	for nonce, id := range c.nonces {
		if gone[id] {
			delete(c.nonces, nonce)
		}
	}
}

// find searches from the end, because newer entries change more often.
func (c *Chat) find(id post.MessageID) int {
	for i, e := range slices.Backward(c.entries) {
		if e.ID == id {
			return i
		}
	}
	return -1
}

// save writes a finished entry to the file. If the disk is full, the entry is missing
// after a restart, but the conversation continues.
func (c *Chat) save(e Entry, nonce string) { c.write(recordOf(e, nonce)) }

func (c *Chat) write(r record) {
	if c.file != nil {
		c.file.add(r)
	}
	c.changed()
}

func (c *Chat) changed() {
	if c.onChange != nil {
		c.onChange()
	}
}

func (c *Chat) now() time.Time { return time.Now().In(c.zone) }

func newID() post.MessageID { return post.MessageID("t" + store.NewID()) }
