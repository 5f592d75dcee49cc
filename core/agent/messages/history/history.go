// Package history stores the messages of a session of the Messages API, so that a request
// can repeat them byte for byte, in a file of JSON lines that only grows. It must not know
// the meaning of messages, engines, or the network.
//
// A line is one of four. {"role":…} is a message as sent over the wire. {"tools":…} and
// {"system":…} precede the messages; they are frozen when a conversation starts, and a
// later {"tools":…} starts a new conversation, without the earlier messages. Everything
// else is a note.
//
// A fork is a file that starts with a note of its parent and the length of the parent's
// file at that moment. Nothing is copied: requests of all forks read the parent's bytes in
// place.
package history

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Folder is the folder of the sessions in the data directory.
const Folder = "state/sessions"

// Ext is the extension of a session's file; its name is the ID.
const Ext = ".jsonl"

const (
	// longChain is the number of files of a session above which a fork becomes a full copy,
	// maxParents the largest accepted number.
	longChain  = 16
	maxParents = 64
	// known is the depth of lines whose parent is already included.
	known = -1
)

// Facts are values that the writer of a history stores in it and reads after reopening it.
type Facts struct {
	// Tokens is the length of the prompt and its answer.
	Tokens int `json:"tokens,omitempty"`
	// Prompt is the digest of the newest system prompt that was sent.
	Prompt string `json:"prompt,omitempty"`
	// Betas are the server features that the messages depend on.
	Betas string `json:"betas,omitempty"`
}

// History is the history of one session. Its methods may be called concurrently. Later additions do
// not change a body that was already started.
type History struct {
	folder string
	path   string // of the own file; empty in memory

	mu      sync.Mutex
	own     source // nil before the first message
	sources []source
	size    int64 // of the own source
	// pending are the lines that are written with the first message. begun means that they include
	// the start of a conversation.
	pending []byte
	begun   bool
	// tools and system are whole lines, messages are runs of message lines, oldest first.
	tools, system span
	messages      []span
	// last is the newest message, users are the ends of the user's newest two, newest
	// first, and forked is the newest one of a parent.
	last   span
	users  []Mark
	forked Mark
	facts  Facts
	closed bool
	// stamped is the time of the newest note that has one.
	stamped time.Time
}

// Mark is the end of a message's line; the zero Mark means none.
type Mark struct {
	src source
	end int64
}

// ErrClosed means that the history was closed.
var ErrClosed = errors.New("the session is closed")

// append writes lines and reads them back. mu must be held.
func (h *History) append(text []byte) error {
	if h.closed {
		return ErrClosed
	}
	if h.own == nil {
		if err := h.create(); err != nil {
			return err
		}
	}
	text = append(h.pending, text...) // they are still there if the last write found no room
	if err := h.write(text); err != nil {
		return err
	}
	end, err := h.load(h.own, h.size, h.size+int64(len(text)), known)
	h.size, h.pending = end, nil
	return err
}

// create creates the own source.
func (h *History) create() error {
	if h.path == "" {
		h.own = &memory{}
		return nil
	}
	// Its parent is not made: without it the bot has lost its state.
	if err := os.Mkdir(h.folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("save the session: %w", err)
	}
	f, err := os.OpenFile(h.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("save the session: %w", err)
	}
	h.own, h.sources = f, append(h.sources, f)
	return nil
}

// write adds to the own source. A line that was written only partly is removed again.
func (h *History) write(text []byte) error {
	switch own := h.own.(type) {
	case *memory:
		own.append(text)
	case *os.File:
		if _, err := own.WriteAt(text, h.size); err != nil {
			return errors.Join(fmt.Errorf("save the session: %w", err), own.Truncate(h.size))
		}
	}
	return nil
}

// Begin starts a conversation with JSON arrays of the tools and of the system prompt's
// blocks, each in one line. Earlier messages stay in the file and are no longer sent.
func (h *History) Begin(tools, system []byte, f Facts) error {
	text := fmt.Appendf(nil, "%s%s}\n%s%s}\n%s", toolsBegins, tools, systemBegins, system, line(note{Facts: &f}))
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.own == nil && h.tools.src == nil {
		h.pending, h.facts, h.begun = append(h.pending, text...), f, true
		return nil
	}
	return h.append(text)
}

// Add appends messages, each a JSON object in one line that starts with its role. A user's
// message ends with a block that is an object.
func (h *History) Add(messages ...[]byte) error {
	text := append(bytes.Join(messages, []byte("\n")), '\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now().UTC(); now.Sub(h.stamped) >= time.Second {
		text = append(line(note{At: now}), text...)
		h.stamped = now
	}
	return h.append(text)
}

// Note stores facts.
func (h *History) Note(f Facts) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.append(line(note{Facts: &f}))
}

// Facts returns the newest facts.
func (h *History) Facts() Facts {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.facts
}

// End returns the current end of the history.
func (h *History) End() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.size
}

// Cut takes back everything after an end. lost means that it counts as never received. Bodies that
// were already started keep it.
func (h *History) Cut(end int64, lost bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if end >= h.size {
		return nil
	}
	return h.append(line(note{Cut: max(end, 1), Lost: lost}))
}

// Frozen returns the tools and the system prompt in Begin's form.
func (h *History) Frozen() (tools, system []byte, err error) {
	h.mu.Lock()
	spans := []span{h.tools, h.system}
	h.mu.Unlock()
	var out [2][]byte
	for i, begins := range []string{toolsBegins, systemBegins} {
		if spans[i].src == nil {
			continue
		}
		b, err := spans[i].read()
		if err != nil {
			return nil, nil, err
		}
		out[i] = b[len(begins) : len(b)-len("}\n")]
	}
	return out[0], out[1], nil
}

// Last returns the newest message, or nil.
func (h *History) Last() ([]byte, error) {
	h.mu.Lock()
	last := h.last
	h.mu.Unlock()
	if last.src == nil {
		return nil, nil
	}
	return last.read()
}

// Sync returns when everything is on disk.
func (h *History) Sync() error {
	h.mu.Lock()
	f, ok := h.own.(*os.File)
	h.mu.Unlock()
	if !ok {
		return nil
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("save the session: %w", err)
	}
	return nil
}

// Close closes the files. It is idempotent.
func (h *History) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	var errs []error
	for _, s := range h.sources {
		errs = append(errs, s.Close())
	}
	h.sources = nil
	return errors.Join(errs...)
}

// Begun reports whether Begin was called.
func (h *History) Begun() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begun || h.tools.src != nil
}
