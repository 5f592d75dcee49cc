package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// New begins a session in a folder, or in memory where folder is empty. Nothing is
// written before its first message.
func New(folder, id string) (*History, error) {
	h := &History{folder: folder}
	return h, h.begin(id, note{Session: id})
}

// Fork begins a session with all that another one holds, and leaves that alone. An
// unknown parent is fs.ErrNotExist.
func Fork(folder, parent, id string) (*History, error) {
	h := &History{folder: folder}
	size, err := h.include(parent, -1, 0)
	switch {
	case err != nil:
	case len(h.sources) > longChain:
		return h.whole(id)
	default:
		err = h.begin(id, note{Session: id, Parent: parent, Offset: size})
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// whole is a session of its own with all that h holds, which is closed.
func (h *History) whole(id string) (copied *History, err error) {
	defer func() { err = errors.Join(err, h.Close()) }()
	if copied, err = New(h.folder, id); err != nil {
		return nil, err
	}
	tools, system, err := h.Frozen()
	if err != nil {
		return nil, err
	}
	if err := copied.Begin(tools, system, h.facts); err != nil {
		return nil, err
	}
	for _, m := range h.messages {
		text, err := m.read()
		if err != nil {
			return nil, err
		}
		copied.pending = append(copied.pending, text...)
	}
	return copied, nil
}

// begin makes the first line ready.
func (h *History) begin(id string, first note) error {
	if h.folder == "" {
		return nil
	}
	h.path = filepath.Join(h.folder, id+Ext)
	if _, err := os.Lstat(h.path); err == nil {
		return fmt.Errorf("begin the session %s: %w", id, fs.ErrExist)
	}
	first.At = time.Now().UTC()
	h.pending = line(first)
	return nil
}

// line is a value as a line.
func line(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil { // notes always can be
		return nil
	}
	return append(b, '\n')
}

// Open opens a session that is there. Where its last line is torn, it is taken away:
// it was never whole. An unknown id is fs.ErrNotExist.
func Open(folder, id string) (*History, error) {
	h := &History{folder: folder, path: filepath.Join(folder, id+Ext)}
	f, err := os.OpenFile(h.path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open the session: %w", err)
	}
	h.own, h.sources = f, []source{f}
	if err := h.reload(f); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *History) reload(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open the session: %w", err)
	}
	if h.size, err = h.load(h.own, 0, info.Size(), 0); err != nil {
		return err
	}
	if h.size == info.Size() {
		return nil
	}
	if err := f.Truncate(h.size); err != nil {
		return fmt.Errorf("mend the session: %w", err)
	}
	return nil
}

// include reads another session's file up to an offset; -1 is all of it.
func (h *History) include(id string, offset int64, depth int) (size int64, err error) {
	if depth > maxParents {
		return 0, fmt.Errorf("the session has more than %d parents", maxParents)
	}
	f, err := os.Open(filepath.Join(h.folder, id+Ext))
	if err != nil {
		return 0, fmt.Errorf("open the session: %w", err)
	}
	h.sources = append(h.sources, f)
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("open the session: %w", err)
	}
	if offset < 0 || offset > info.Size() {
		offset = info.Size()
	}
	size, err = h.load(f, 0, offset, depth)
	if len(h.users) > 0 {
		h.forked = h.users[0]
	}
	return size, err
}

// load takes the whole lines of a piece of a source, and gives where they end.
func (h *History) load(src source, from, size int64, depth int) (end int64, err error) {
	l := lines{src: src, at: from, size: size}
	for l.next() {
		here := span{src, l.from, l.at}
		switch {
		case l.begins(roleBegins):
			h.take(here, l.begins(userBegins))
		case l.begins(toolsBegins):
			h.tools, h.system = here, span{}
			h.messages, h.users, h.last, h.forked, h.facts = nil, nil, span{}, Mark{}, Facts{}
		case l.begins(systemBegins):
			h.system = here
		default:
			whole, err := here.read()
			if err != nil {
				return 0, err
			}
			var n note
			if json.Unmarshal(whole, &n) != nil {
				continue // it is nobody's
			}
			if err := h.heed(src, n, depth); err != nil {
				return 0, err
			}
		}
	}
	return l.at, l.err
}

// heed does what a note says.
func (h *History) heed(src source, n note, depth int) error {
	if n.Facts != nil {
		h.facts = *n.Facts
	}
	if n.Cut > 0 {
		h.takeBack(src, n.Cut)
	}
	if depth == known || n.Parent == "" || n.Parent != filepath.Base(n.Parent) {
		return nil
	}
	_, err := h.include(n.Parent, n.Offset, depth+1)
	return err
}

// take adds a message's line.
func (h *History) take(m span, users bool) {
	h.last = m
	if users {
		h.users = append([]Mark{{m.src, m.to}}, h.users[:min(1, len(h.users))]...)
	}
	if n := len(h.messages); n > 0 && h.messages[n-1].src == m.src && h.messages[n-1].to == m.from {
		h.messages[n-1].to = m.to
		return
	}
	h.messages = append(h.messages, m)
}

// takeBack forgets the messages behind a place of a source.
func (h *History) takeBack(src source, at int64) {
	kept := h.messages
	h.messages, h.users, h.last = nil, nil, span{}
	for _, m := range kept {
		if m.src == src {
			m.to = min(m.to, at)
		}
		l := lines{src: m.src, at: m.from, size: m.to}
		for l.next() {
			h.take(span{m.src, l.from, l.at}, l.begins(userBegins))
		}
	}
}

// Tidy removes the sessions of a folder that were last changed before a moment, but
// for those that a younger one has branched off from.
func Tidy(folder string, before time.Time) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for old sessions: %w", err)
	}
	old := map[string]bool{}
	var young []string
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), Ext)
		info, err := e.Info()
		switch {
		case !ok || err != nil || !info.Mode().IsRegular():
		case info.ModTime().Before(before):
			old[id] = true
		default:
			young = append(young, id)
		}
	}
	if len(old) == 0 {
		return nil
	}
	for _, id := range young {
		for range maxParents {
			id = parent(filepath.Join(folder, id+Ext))
			delete(old, id)
		}
	}
	var errs []error
	for id := range old {
		errs = append(errs, os.Remove(filepath.Join(folder, id+Ext)))
	}
	return errors.Join(errs...)
}

// parent is the session that a file has branched off from, or "".
func parent(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	l := lines{src: f, size: chunk}
	if info, err := f.Stat(); err != nil || info.Size() < chunk {
		if err != nil {
			return ""
		}
		l.size = info.Size()
	}
	if !l.next() {
		return ""
	}
	first, err := span{f, l.from, l.at}.read()
	var n note
	if err != nil || json.Unmarshal(first, &n) != nil {
		return ""
	}
	return n.Parent
}
