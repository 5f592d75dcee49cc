package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Rotating is a file that is written at its end and, when it would grow beyond
// its limit, is renamed to NAME.1 (the one older file that is kept) and begun
// anew. It is not synced: it holds logs, not state.
type Rotating struct {
	dir   *Dir
	path  string
	limit int64

	// mu orders the file: it is held over its I/O.
	mu     sync.Mutex
	file   *os.File
	info   fs.FileInfo // of file, when it was opened
	size   int64
	closed bool
}

// Rotating names a rotating file of at most limit bytes. It is opened by the
// first Write, so that it may be named before the directory exists.
func (d *Dir) Rotating(rel string, limit int64) *Rotating {
	return &Rotating{dir: d, path: d.Path(rel), limit: limit}
}

// Write appends p, which should be whole lines. After an error the next Write
// tries anew. A full disk harms nothing that was written before.
func (r *Rotating) Write(p []byte) (int, error) {
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
			return 0, Advise("write "+filepath.Base(r.path), err)
		}
	}
	n, err := r.file.Write(p)
	r.size += int64(n)
	if err != nil {
		if n > 0 && r.file.Truncate(r.size-int64(n)) == nil {
			r.size -= int64(n) // no half lines
		}
		return 0, Advise("write "+filepath.Base(r.path), err)
	}
	return n, nil
}

// follow lets go of a file that was removed or moved away: what is written to it
// would be lost.
func (r *Rotating) follow() {
	if r.file == nil {
		return
	}
	if info, err := os.Stat(r.path); err != nil || !os.SameFile(info, r.info) {
		_ = r.file.Close() // nothing is buffered
		r.file = nil
	}
}

// open opens the file, behind what an earlier run left there.
func (r *Rotating) open(coming int64) error {
	if err := r.dir.makeFolder(filepath.Dir(r.path)); err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, fileMode)
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

// rotate sets the file aside. If it cannot be renamed the file just grows on:
// a log that is too long is better than none.
func (r *Rotating) rotate() {
	_ = r.file.Close() // nothing is buffered
	r.file = nil
	if err := os.Rename(r.path, r.path+".1"); err != nil {
		r.limit = 1 << 62
	}
}

// Close closes the file. Later writes fail.
func (r *Rotating) Close() error {
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
