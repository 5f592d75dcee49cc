package logs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"

	"ollimbot/core/storage/store"
)

var errNotRegular = errors.New("not a regular file; remove it, and the bot creates a new one")

// rotating is a log file. When it would exceed its limit it is renamed to NAME.1, which replaces
// the previous one, and a new file is started. It is not synced.
type rotating struct {
	dir   *store.Dir
	rel   string
	path  string
	limit int64

	// mu serializes writes, and is held during them.
	mu     sync.Mutex
	file   *os.File
	info   fs.FileInfo // of file at the time it was opened
	size   int64
	closed bool
}

// newRotating returns a rotating file of at most limit bytes. The first Write opens it, so the
// directory need not exist yet.
func newRotating(d *store.Dir, rel string, limit int64) *rotating {
	return &rotating{dir: d, rel: rel, path: d.Path(rel), limit: limit}
}

// Write appends p, which should be complete lines. After an error the next Write tries again. A
// full disk does not damage earlier lines.
func (r *rotating) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, os.ErrClosed
	}
	if r.file != nil && r.size > 0 && r.size+int64(len(p)) > r.limit {
		r.rotate()
	}
	r.follow()
	if r.file == nil {
		if err := r.open(int64(len(p))); err != nil {
			return 0, store.Advise("write "+filepath.Base(r.path), err)
		}
	}
	n, err := r.file.Write(p)
	r.size += int64(n)
	if err != nil {
		if n > 0 && r.file.Truncate(r.size-int64(n)) == nil {
			r.size -= int64(n) // no half lines
		}
		return 0, store.Advise("write "+filepath.Base(r.path), err)
	}
	return n, nil
}

// follow closes a file that was removed or renamed, because further lines in it would be lost.
func (r *rotating) follow() {
	if r.file == nil {
		return
	}
	if info, err := os.Stat(r.path); err != nil || !os.SameFile(info, r.info) {
		_ = r.file.Close() // nothing is buffered
		r.file = nil
	}
}

// open opens the file to append to it.
func (r *rotating) open(coming int64) error {
	if err := r.dir.MakeFolder(path.Dir(r.rel)); err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.file, r.info, r.size = f, info, info.Size()
	if r.size > 0 && r.size+coming > r.limit {
		r.rotate()
		return r.open(0)
	}
	return nil
}

// rotate renames the file. If that fails, the file keeps growing: a log that is too long is better
// than none.
func (r *rotating) rotate() {
	_ = r.file.Close() // nothing is buffered
	r.file = nil
	if err := os.Rename(r.path, r.path+".1"); err != nil {
		r.limit = 1 << 62
	}
}

// Close closes the file. Later writes fail.
func (r *rotating) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	if err != nil {
		return fmt.Errorf("close %s: %w", filepath.Base(r.path), err)
	}
	return nil
}
