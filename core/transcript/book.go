package transcript

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/post"
	"ollimbot/core/store"
)

// maxText is the longest text of one entry in bytes; what goes beyond is cut.
const maxText = 64 << 10

// maxName is the longest shown name of a file, in characters.
const maxName = 200

// ErrClosed answers messages that come after Close; it is a post.ErrNoChannel.
var ErrClosed = fmt.Errorf("the bot has stopped: %w", post.ErrNoChannel)

// Options are what a Book is made of. Zero values work: no file, UTC, 500 entries.
type Options struct {
	Dir   *store.Dir // nil keeps the conversation in memory only
	Log   *slog.Logger
	Limit int // entries kept for scrolling back
	Zone  *time.Location
}

// Book is the conversation. It is a surface (chat.Surface): what the bot posts
// becomes an entry. All methods may be called concurrently.
type Book struct {
	limit int
	zone  *time.Location
	file  *file

	mu sync.Mutex
	// entries are the newest ones, oldest first; live are the answers that still
	// grow, by entry id; nonces map a post's nonce to its entry. seen is the
	// snapshot last handed out, nil once anything has changed.
	entries  []Entry
	live     map[post.MessageID]*Stream
	nonces   map[string]post.MessageID
	seen     []Entry
	onChange func()
	closed   bool
	more     bool // entries went beyond the limit
}

// New returns a book that begins with what was last said before the program
// ended. It writes nothing until something is said.
func New(o Options) *Book {
	b := &Book{
		limit: o.Limit, zone: o.Zone,
		live: map[post.MessageID]*Stream{}, nonces: map[string]post.MessageID{},
	}
	if b.limit <= 0 {
		b.limit = 500
	}
	if b.zone == nil {
		b.zone = time.UTC
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if o.Dir != nil {
		b.file = &file{dir: o.Dir, log: log}
		for _, r := range b.file.load() {
			e := r.entry(b.zone)
			b.entries = append(b.entries, e)
			if r.Nonce != "" {
				b.nonces[r.Nonce] = e.ID
			}
		}
		b.trim()
	}
	return b
}

// OnChange sets the function that is called after every change, from the
// goroutine that made it and without a lock. Set it before the book is shared.
func (b *Book) OnChange(f func()) { b.onChange = f }

// Entries is the conversation, oldest first: an immutable slice, the same one
// until something changes.
func (b *Book) Entries() []Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen == nil {
		b.seen = make([]Entry, len(b.entries))
		copy(b.seen, b.entries)
		for i := range b.seen {
			if s := b.live[b.seen[i].ID]; s != nil {
				b.seen[i].Text = s.text.String()
				b.seen[i].Tools = slices.Clone(s.tools)
			}
		}
	}
	return b.seen
}

// More reports that there was more said than Entries has.
func (b *Book) More() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.more
}

// Add appends a finished entry, such as the user's own words.
func (b *Book) Add(role Role, text string) post.MessageID {
	e := Entry{ID: newID(), At: b.now(), Role: role, Text: tidy(text)}
	b.mu.Lock()
	b.append(e)
	b.mu.Unlock()
	b.keep(e, "")
	b.changed()
	return e.ID
}

// Post adds the bot's message, once per nonce: a repeated nonce gives the id
// of the first message and changes nothing.
func (b *Book) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := p.Begin(); err != nil {
		return "", err
	}
	e := b.fromPost(p)
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return "", ErrClosed
	}
	if id, again := b.nonces[p.Nonce]; again && p.Nonce != "" {
		b.mu.Unlock()
		return id, nil
	}
	if p.Nonce != "" {
		b.nonces[p.Nonce] = e.ID
	}
	b.append(e)
	b.mu.Unlock()
	b.keep(e, p.Nonce)
	b.changed()
	return e.ID, nil
}

// AddFrom is Add for words that came over another surface, under their id there.
func (b *Book) AddFrom(where string, id post.MessageID, text string) post.MessageID {
	e := Entry{ID: newID(), At: b.now(), Role: User, Text: tidy(text), Where: where}
	if id != "" {
		e.Elsewhere = []post.MessageID{id}
	}
	b.mu.Lock()
	b.append(e)
	b.mu.Unlock()
	b.keep(e, "")
	b.changed()
	return e.ID
}

// Reword replaces the words of an entry; one that is gone stays gone.
func (b *Book) Reword(id post.MessageID, text string) {
	b.mu.Lock()
	i := b.find(id)
	if i < 0 {
		b.mu.Unlock()
		return
	}
	e := &b.entries[i]
	e.Text, e.Version, b.seen = tidy(text), e.Version+1, nil
	next := *e
	b.mu.Unlock()
	b.keep(next, "")
	b.changed()
}

// PostAs shows a message that another surface has sent, under its id there. A
// message that is already shown under that id stays as it is.
func (b *Book) PostAs(id post.MessageID, p post.Post, where string) {
	e := b.fromPost(p)
	e.ID, e.Where = id, where
	b.mu.Lock()
	if b.closed || b.find(id) >= 0 {
		b.mu.Unlock()
		return
	}
	if p.Nonce != "" {
		b.nonces[p.Nonce] = id
	}
	b.append(e)
	b.mu.Unlock()
	b.keep(e, p.Nonce)
	b.changed()
}

// Edit replaces a message; its place and time stay.
func (b *Book) Edit(ctx context.Context, id post.MessageID, p post.Post) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	next := b.fromPost(p)
	b.mu.Lock()
	i := b.find(id)
	if b.closed || i < 0 {
		closed := b.closed
		b.mu.Unlock()
		if closed {
			return ErrClosed
		}
		return errors.New("edit a message: it is no longer part of the conversation")
	}
	old := b.entries[i]
	next.ID, next.At, next.Version = old.ID, old.At, old.Version+1
	b.entries[i], b.seen = next, nil
	b.mu.Unlock()
	b.keep(next, p.Nonce)
	b.changed()
	return nil
}

// Delete removes a message; one that is gone is no error.
func (b *Book) Delete(ctx context.Context, id post.MessageID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.mu.Lock()
	i := b.find(id)
	if i >= 0 {
		b.entries, b.seen = slices.Delete(b.entries, i, i+1), nil
		delete(b.live, id)
	}
	b.mu.Unlock()
	if i < 0 {
		return nil
	}
	if b.file != nil {
		b.file.add(record{ID: string(id), Deleted: true})
	}
	b.changed()
	return nil
}

// Typing does nothing: a dashboard sees from the snapshot that the bot works.
func (b *Book) Typing(ctx context.Context) error { return ctx.Err() }

// Close keeps the answers that were still growing and ends the book: posting
// fails from now on. It is idempotent.
func (b *Book) Close() error {
	b.mu.Lock()
	b.closed = true
	open := make([]*Stream, 0, len(b.live))
	for _, s := range b.live {
		open = append(open, s)
	}
	b.mu.Unlock()
	for _, s := range open {
		s.End()
	}
	if b.file == nil {
		return nil
	}
	return b.file.failed()
}

func (b *Book) fromPost(p post.Post) Entry {
	e := Entry{
		ID: newID(), At: b.now(), Role: Bot, Text: withFiles(tidy(p.Text), p.Files), Embed: tidyEmbed(p.Embed),
		Source: clean.Line(p.Source), Critical: p.Critical,
	}
	switch {
	case p.Small:
		e.Role = Notice
	case p.Context == "bg":
		e.Role = Ping
	}
	return e
}

// append adds an entry and forgets the oldest beyond the limit; mu is held.
func (b *Book) append(e Entry) {
	b.entries, b.seen = append(b.entries, e), nil
	b.trim()
}

func (b *Book) trim() {
	over := len(b.entries) - b.limit
	if over <= 0 {
		return
	}
	gone := map[post.MessageID]bool{}
	for _, e := range b.entries[:over] {
		gone[e.ID] = true
	}
	b.entries, b.more = slices.Delete(b.entries, 0, over), true
	for nonce, id := range b.nonces {
		if gone[id] {
			delete(b.nonces, nonce)
		}
	}
}

// find searches from the end, where what changes is.
func (b *Book) find(id post.MessageID) int {
	for i, e := range slices.Backward(b.entries) {
		if e.ID == id {
			return i
		}
	}
	return -1
}

// keep writes a finished entry to the file. A full disk costs the entry its
// life after a restart, never the conversation.
func (b *Book) keep(e Entry, nonce string) {
	if b.file != nil {
		b.file.add(recordOf(e, nonce))
	}
}

func (b *Book) changed() {
	if b.onChange != nil {
		b.onChange()
	}
}

func (b *Book) now() time.Time { return time.Now().In(b.zone) }

func newID() post.MessageID { return post.MessageID("t" + store.NewID()) }
