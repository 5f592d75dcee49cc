package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Place is a place in a Log that is read from its end towards its beginning. The
// zero Place is the end.
type Place struct {
	File uint64 // the inode: a log that was shortened is another file
	At   int64  // bytes before it
	Set  bool
}

// AtBeginning reports that nothing is left before it.
func (p Place) AtBeginning() bool { return p.Set && p.At == 0 }

// backBlock is how much of a log is read at once, in bytes.
const backBlock = 64 << 10

// Before calls each with the values before a place, the newest first, until it says
// no, and gives the place before the last one that it was given, and how many lines
// on the way were none. Where the log was shortened meanwhile it is read from its end
// again. A missing file is empty.
func (l Log[T]) Before(p Place, each func(T) bool) (next Place, damaged int, err error) {
	f, err := l.Dir.Open(l.Rel)
	if errors.Is(err, fs.ErrNotExist) {
		return Place{Set: true}, 0, nil
	}
	if err != nil {
		return p, 0, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return p, 0, fmt.Errorf("read %s: %w", l.Rel, bare(err))
	}
	if now := inode(info); !p.Set || p.File != now || p.At > info.Size() {
		p = Place{File: now, At: info.Size(), Set: true}
	}
	for p.At > 0 {
		lines, err := linesBefore(f, p.At)
		if err != nil {
			return p, damaged, fmt.Errorf("read %s: %w", l.Rel, bare(err))
		}
		for i := len(lines) - 1; i >= 0; i-- {
			p.At -= int64(len(lines[i]))
			if len(bytes.TrimSpace(lines[i])) == 0 {
				continue
			}
			var v T
			if json.Unmarshal(lines[i], &v) != nil {
				damaged++
			} else if !each(v) {
				return p, damaged, nil
			}
		}
	}
	return p, damaged, nil
}

// linesBefore are the last whole lines before a byte of a file that fit into a block,
// at least one.
func linesBefore(f io.ReaderAt, end int64) ([][]byte, error) {
	for size := int64(backBlock); ; size *= 8 {
		from := max(0, end-size)
		data := make([]byte, end-from)
		if _, err := f.ReadAt(data, from); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		if n := len(lines); len(lines[n-1]) == 0 {
			lines = lines[:n-1]
		}
		if from == 0 {
			return lines, nil
		}
		if len(lines) > 1 { // the first one may be torn
			return lines[1:], nil
		}
	}
}

// inode is what tells a file from another one of its name.
func inode(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
