package store

import (
	"io/fs"
	"os"
	"sync"
	"time"
)

// racyFor is how young a file may be for another change to look the same: some
// file systems keep times in whole seconds. A file from the future, as after a
// clock was set back, counts as young.
const racyFor = 3 * time.Second

// Cached is what was made of a file, which is read again when it has changed. Use
// NewCached; its methods are safe for several goroutines.
type Cached[T any] struct {
	path string

	mu   sync.Mutex // guards the fields below
	seen fs.FileInfo
	kept T
}

// NewCached names a file. Nothing is read yet.
func NewCached[T any](d *Dir, rel string) *Cached[T] { return &Cached[T]{path: d.Path(rel)} }

// Load is what read has made of the file. It is called when the file has changed
// or is not there, and again after it gave an error. Callers share what it gave.
func (c *Cached[T]) Load(read func() (T, error)) (T, error) {
	info, missing := os.Stat(c.path) // before it is read: should it be replaced meanwhile, the next look tells
	c.mu.Lock()
	seen, kept := c.seen, c.kept
	c.mu.Unlock()
	if missing == nil && seen != nil && os.SameFile(seen, info) && seen.Size() == info.Size() && seen.ModTime().Equal(info.ModTime()) {
		return kept, nil
	}
	v, err := read()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = nil
	if err == nil && missing == nil && time.Since(info.ModTime()) >= racyFor {
		c.seen, c.kept = info, v
	}
	return v, err
}

// Trouble lets what goes wrong at each look be told once. The zero Trouble has
// not been told of anything.
type Trouble struct {
	mu   sync.Mutex
	told string
}

// News reports whether an error says something else than the one before; nil says
// that all is well again.
func (t *Trouble) News(err error) bool {
	what := ""
	if err != nil {
		what = err.Error()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	news := what != "" && what != t.told
	t.told = what
	return news
}
