package store

import (
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
)

// The ages below which a further change of a file might not change its time: by a clock that ticks up to a hundred times a
// second, or on a file system that stores whole seconds, up to two of them. A file with a time in the future counts as young.
const (
	racyFor       = 50 * time.Millisecond
	racyForCoarse = 3 * time.Second
)

// Cached is a value read from a file, which is read again after the file changes. Use NewCached.
// Its methods are safe for concurrent use.
type Cached[T any] struct {
	path string
	now  func() time.Time // of the clock that file systems use

	mu   sync.Mutex // guards the fields below
	seen fs.FileInfo
	kept T
}

// NewCached caches the file rel. It reads nothing yet.
func NewCached[T any](d *Dir, rel string) *Cached[T] {
	return &Cached[T]{path: d.Path(rel), now: machineTime}
}

// machineTime is the time of the machine, also in a test in which time.Now is another one.
func machineTime() time.Time {
	var t syscall.Timeval
	if err := syscall.Gettimeofday(&t); err != nil {
		return time.Now()
	}
	return time.Unix(t.Unix())
}

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
	if err == nil && missing == nil && c.now().Sub(info.ModTime()) >= racyAge(info.ModTime()) {
		c.seen, c.kept = info, v
	}
	return v, err
}

// racyAge is what age makes the time of a file certain.
func racyAge(at time.Time) time.Duration {
	if at.Nanosecond() == 0 {
		return racyForCoarse
	}
	return racyFor
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
