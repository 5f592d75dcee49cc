// Package jsonl reads and appends files with a JSON value on each line. It owns their growth, and
// reading them from either end. It must not know what the values mean.
package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"ollimbot/core/storage/store"
)

// Log is a file with a JSON value on each line, newest last. When it would grow to Limit bytes, all
// but its last Keep bytes are dropped. Several processes can append to it.
type Log[T any] struct {
	Dir         *store.Dir
	Rel         string
	Limit, Keep int64
}

// Append adds values in one write. They are on disk when Append returns.
func (l Log[T]) Append(values ...T) error {
	lines := make([][]byte, 0, len(values))
	coming := 0
	for _, v := range values {
		line, err := store.JSONLine(v)
		if err != nil {
			return fmt.Errorf("append to %s: %w", l.Rel, err)
		}
		lines = append(lines, line)
		coming += len(line) + 1
	}
	return l.Dir.WithLock(strings.TrimSuffix(path.Base(l.Rel), ".jsonl"), func() error {
		if err := l.shorten(int64(coming)); err != nil {
			return err
		}
		return l.Dir.Append(l.Rel, lines...)
	})
}

// shorten drops the beginning of a file that would exceed its limit.
func (l Log[T]) shorten(coming int64) error {
	info, err := os.Stat(l.Dir.Path(l.Rel))
	if err != nil || info.Size()+coming < l.Limit {
		return nil //nolint:nilerr // a missing file is short enough
	}
	data, err := readEnd(l.Dir, l.Rel, l.Keep)
	if err != nil {
		return err
	}
	return l.Dir.Write(l.Rel, data)
}

// Newest returns the values in the last limit bytes of the file, oldest first, and the number of
// damaged lines. A missing file is empty.
func (l Log[T]) Newest(limit int64) (list []T, damaged int, err error) {
	data, err := readEnd(l.Dir, l.Rel, limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	for v, err := range Lines[T](data) {
		if err != nil {
			damaged++
			continue
		}
		list = append(list, v)
	}
	return list, damaged, nil
}

// Lines iterates over the values of a text with one on each line. A line with anything else, such
// as one torn by a crash, is an error.
func Lines[T any](data []byte) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for line := range bytes.Lines(data) {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			var v T
			err := json.Unmarshal(line, &v)
			if !yield(v, err) {
				return
			}
		}
	}
}

// Each calls f with each complete line of the last Limit bytes of the file, newest last, until f
// returns false. A line is valid until f returns. A missing file is empty.
func (l Log[T]) Each(f func(line []byte) bool) error {
	file, from, err := openEnd(l.Dir, l.Rel, l.Limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	torn := from > 0
	err = EachLine(io.NewSectionReader(file, from, l.Limit), func(line []byte) bool {
		if torn {
			torn = false
			return true
		}
		return f(line)
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", l.Rel, store.Bare(err))
	}
	return nil
}

// EachLine calls f with each line until f returns false. The last line can be torn. A line can have
// any length, and is valid until f returns.
func EachLine(in io.Reader, f func(line []byte) bool) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var long []byte
	for {
		part, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		line := part
		if len(long) > 0 {
			long = append(long, part...)
			line = long
		}
		if len(line) > 0 && !f(line) || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		long = long[:0]
	}
}

// readEnd reads the last limit bytes of a file of lines, without the line that the limit cuts in
// two. A missing file returns fs.ErrNotExist.
func readEnd(d *store.Dir, rel string, limit int64) ([]byte, error) {
	f, from, err := openEnd(d, rel, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.NewSectionReader(f, from, limit))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", rel, store.Bare(err))
	}
	if from > 0 {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return data, nil
}

// openEnd opens a file and finds where its last limit bytes begin.
func openEnd(d *store.Dir, rel string, limit int64) (f *os.File, from int64, err error) {
	if f, err = d.Open(rel); err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("read %s: %w", rel, store.Bare(err)), f.Close())
	}
	return f, max(0, info.Size()-limit), nil
}

// Cursor is a position in a Log that is read from its end to its beginning. The zero Cursor is the
// end.
type Cursor struct {
	File uint64 // the inode: a shortened log is a different file
	At   int64  // number of bytes before the position
	Set  bool
}

// AtBeginning reports whether there is nothing before the cursor.
func (p Cursor) AtBeginning() bool { return p.Set && p.At == 0 }

// backBlock is how much of a log is read at once, in bytes.
const backBlock = 64 << 10

// Before calls each with the values before a cursor, newest first, until each returns false. It
// returns the cursor before the last value passed to each, and the number of damaged lines on the
// way. A log that was shortened since is read from its end again. A missing file is empty. If
// another program let the file grow beyond Limit, only the last Limit bytes are read, because the
// next Append keeps no more.
func (l Log[T]) Before(p Cursor, each func(T) bool) (next Cursor, damaged int, err error) {
	f, err := l.Dir.Open(l.Rel)
	if errors.Is(err, fs.ErrNotExist) {
		return Cursor{Set: true}, 0, nil
	}
	if err != nil {
		return p, 0, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return p, 0, fmt.Errorf("read %s: %w", l.Rel, store.Bare(err))
	}
	if now := inode(info); !p.Set || p.File != now || p.At > info.Size() {
		p = Cursor{File: now, At: info.Size(), Set: true}
	}
	floor := max(0, info.Size()-l.Limit)
	for p.At > floor {
		lines, err := linesBefore(f, p.At, floor)
		if err != nil {
			return p, damaged, fmt.Errorf("read %s: %w", l.Rel, store.Bare(err))
		}
		for _, line := range slices.Backward(lines) {
			p.At -= int64(len(line))
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			var v T
			if json.Unmarshal(line, &v) != nil {
				damaged++
			} else if !each(v) {
				return p, damaged, nil
			}
		}
		if len(lines) == 0 { // the rest is part of a line that begins before the floor
			break
		}
	}
	p.At = 0
	return p, damaged, nil
}

// linesBefore returns the last complete lines before an offset that fit into a block: at least one,
// unless there is none after the floor.
func linesBefore(f io.ReaderAt, end, floor int64) ([][]byte, error) {
	for size := int64(backBlock); ; size *= 8 {
		from := max(floor, end-size)
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
		if len(lines) > 1 || from == floor { // the first one may be torn
			return lines[1:], nil
		}
	}
}

// inode distinguishes a file from a later one of the same name.
func inode(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
