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

// New creates a session in a folder, or in memory if folder is empty. Nothing is written before its
// first message.
func New(folder, id string) (*History, error) {
	h := &History{folder: folder}
	return h, h.begin(id, note{Session: id})
}

// Fork creates a session with the messages of another one, which is not changed. An unknown parent
// returns fs.ErrNotExist.
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

// whole copies h into a new session and closes h.
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

// begin prepares the first line.
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

// Open opens an existing session and removes an incomplete last line. An unknown ID returns
// fs.ErrNotExist.
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
		return fmt.Errorf("repair the session: %w", err)
	}
	return nil
}

// Tidy removes the sessions that were last changed before a time, except parents of younger ones.
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

// parent returns the session from which a file branched off, or "".
func parent(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	l := lines{src: f, size: min(info.Size(), chunk)}
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
