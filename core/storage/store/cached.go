package store

import (
	"io/fs"
	"os"
	"sync"
	"time"
)

// racyFor is the age below which a further change of a file might not change its time, because some
// file systems store whole seconds. A file with a time in the future counts as young.
const racyFor = 3 * time.Second

// Cached is a value read from a file, which is read again after the file changes. Use NewCached.
// Its methods are safe for concurrent use.
type Cached[T any] struct {
	path string

	mu   sync.Mutex // guards the fields below
	seen fs.FileInfo
	kept T
}

// NewCached caches the file rel. It reads nothing yet.
func NewCached[T any](d *Dir, rel string) *Cached[T] { return &Cached[T]{path: d.Path(rel)} }

// Load returns the result of read. It calls read if the file has changed or is missing, or if the
// last call failed. All callers share the result.
func (c *Cached[T]) Load(read func() (T, error)) (T, error) {
	info, missing := os.Stat(c.path) // before reading, so that the next call notices a replacement
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

// Trouble reports a repeated error once. The zero Trouble has seen none.
type Trouble struct {
	mu   sync.Mutex
	told string
}

// News reports whether an error differs from the previous one. nil means that the problem is over.
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

// Same reports whether two immutable lists are the same slice, such as those that a Cached returns
// while its file is unchanged.
func Same[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
