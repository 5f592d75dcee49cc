package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// MaxRead is the size of the largest file that Read accepts, in bytes.
const MaxRead = 4 << 20

var errTooLarge = errors.New("the file is larger than the limit of 4 MiB; make it smaller")

var (
	errNotRegular  = errors.New("not a regular file; put a plain text file in its place")
	errNotLockable = errors.New("not a regular file; remove it, and the bot creates a new one")
	errOutside     = errors.New("the name is outside of the data directory")
)

// Read returns the content of a file. It refuses files larger than MaxRead and anything but a
// regular file, because a pipe would block the bot. A missing file returns fs.ErrNotExist.
func (d *Dir) Read(rel string) ([]byte, error) {
	if err := local(rel); err != nil {
		return nil, err
	}
	data, err := ReadFile(d.Path(rel))
	if errors.Is(err, fs.ErrNotExist) {
		// A missing directory must not look like a file that never existed.
		if gone := d.Present(); gone != nil {
			err = gone
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", rel, Bare(err))
	}
	return data, nil
}

// Open opens a regular file for reading that may be too large for Read. A missing file returns
// fs.ErrNotExist.
func (d *Dir) Open(rel string) (*os.File, error) {
	if err := local(rel); err != nil {
		return nil, err
	}
	f, _, err := openRegular(d.Path(rel))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", rel, Bare(err))
	}
	return f, nil
}

func openRegular(path string) (*os.File, fs.FileInfo, error) {
	// Without O_NONBLOCK, opening a pipe would wait for its writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, nil, errors.New(cureLoop)
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// Entries lists a folder by name. A missing one returns fs.ErrNotExist. Anything but a folder is an
// error, even a pipe, on which os.ReadDir would block.
func (d *Dir) Entries(rel string) ([]fs.DirEntry, error) {
	if err := local(rel); err != nil {
		return nil, err
	}
	entries, err := readFolder(d.Path(rel))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", rel, Bare(err))
	}
	return entries, nil
}

func readFolder(path string) ([]fs.DirEntry, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// ReadFile reads a regular file of at most MaxRead bytes.
func ReadFile(path string) ([]byte, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	if info.Size() > MaxRead {
		return nil, errTooLarge
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if n, err := data.ReadFrom(io.LimitReader(f, MaxRead+1)); err != nil || n > MaxRead {
		return nil, cmp.Or(err, errTooLarge)
	}
	return data.Bytes(), nil
}

// Write replaces a file atomically. Missing folders are created. The target of a symbolic
// link is replaced, not the link.
func (d *Dir) Write(rel string, data []byte) error { return d.write(rel, data, true) }

func (d *Dir) write(rel string, data []byte, sync bool) error {
	if err := local(rel); err != nil {
		return err
	}
	if err := d.writeAtomic(d.Path(rel), data, sync); err != nil {
		return Advise("write "+rel, err)
	}
	return nil
}

func (d *Dir) writeAtomic(path string, data []byte, sync bool) error {
	if err := d.Present(); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	temp, err := d.writeTemp(path, data, sync)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if !sync {
		return nil
	}
	return SyncFolder(filepath.Dir(path))
}

// writeTemp writes a temporary file next to path and returns its name. After an error no file is
// left.
func (d *Dir) writeTemp(path string, data []byte, sync bool) (name string, err error) {
	folder, base := filepath.Split(path)
	name = filepath.Join(folder, tempName(base))
	return name, d.writeNew(name, data, sync)
}

// writeNew writes a file that must not exist yet, and creates its folder if necessary. After an
// error no file is left.
func (d *Dir) writeNew(path string, data []byte, sync bool) error {
	open := func() (*os.File, error) {
		return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	}
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.makeFolder(filepath.Dir(path)); err != nil {
			return err
		}
		f, err = open()
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // report the first error
	}
	return err
}

// tempName returns a hidden name that does not match *.md, and ends in .tmp like those of
// the original program.
func tempName(base string) string {
	return "." + base[:min(len(base), 200)] + "." + NewID() + NewID() + ".tmp"
}

// IsTemp recognizes the names of the bot's temporary files.
func IsTemp(name string) bool {
	if len(name) < 23 || name[0] != '.' || !strings.HasSuffix(name, ".tmp") {
		return false
	}
	id := name[len(name)-20 : len(name)-4]
	return name[len(name)-21] == '.' && strings.Trim(id, "0123456789abcdef") == ""
}

// SyncFolder makes a rename in the folder durable, if the file system can sync folders.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// Append adds lines to a file in a single write, and syncs it. It first ends a line that a
// crash left unfinished. The lines must not contain line breaks.
func (d *Dir) Append(rel string, lines ...[]byte) error {
	if err := local(rel); err != nil || len(lines) == 0 {
		return err
	}
	for _, l := range lines {
		if bytes.IndexByte(l, '\n') >= 0 {
			return fmt.Errorf("append to %s: a line contains a line break", rel)
		}
	}
	if err := d.appendLine(d.Path(rel), bytes.Join(lines, []byte("\n"))); err != nil {
		return Advise("append to "+rel, err)
	}
	return nil
}

func (d *Dir) appendLine(path string, line []byte) (err error) {
	if err := d.Present(); err != nil {
		return err
	}
	const flags = os.O_RDWR | os.O_APPEND | syscall.O_NONBLOCK
	f, err := os.OpenFile(path, flags, fileMode)
	fresh := errors.Is(err, fs.ErrNotExist)
	if fresh {
		if err := d.makeFolder(filepath.Dir(path)); err != nil {
			return err
		}
		f, err = os.OpenFile(path, flags|os.O_CREATE, fileMode)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errNotRegular
	}
	out := make([]byte, 0, len(line)+2)
	if size := info.Size(); size > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			out = append(out, '\n')
		}
	}
	out = append(append(out, line...), '\n')
	if n, err := f.Write(out); err != nil {
		// A full disk accepted only part of the line. Remove it, unless another process has
		// appended since, in which case the next Append ends it.
		if now, serr := f.Stat(); serr == nil && n > 0 && now.Size() == info.Size()+int64(n) {
			_ = f.Truncate(info.Size())
		}
		return err
	}
	if err := f.Sync(); err != nil || !fresh {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// Remove removes a file. A missing file is not an error.
func (d *Dir) Remove(rel string) error {
	if err := local(rel); err != nil {
		return err
	}
	if err := d.Present(); err != nil {
		return Advise("remove "+rel, err)
	}
	err := os.Remove(d.Path(rel))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = SyncFolder(filepath.Dir(d.Path(rel)))
	}
	if err != nil {
		return Advise("remove "+rel, err)
	}
	return nil
}

// Rename moves a file within the directory, durably. It creates missing folders and replaces an
// existing file. A missing file returns fs.ErrNotExist.
func (d *Dir) Rename(from, to string) error {
	if err := errors.Join(local(from), local(to)); err != nil {
		return err
	}
	if err := d.Present(); err != nil {
		return err
	}
	if _, err := os.Lstat(d.Path(from)); err != nil {
		return err
	}
	if err := d.makeFolder(filepath.Dir(d.Path(to))); err != nil {
		return err
	}
	if err := os.Rename(d.Path(from), d.Path(to)); err != nil {
		return err
	}
	return errors.Join(SyncFolder(filepath.Dir(d.Path(to))), SyncFolder(filepath.Dir(d.Path(from))))
}

// local refuses names outside of the directory, because IDs and slugs come from files that anyone
// may have written.
func local(rel string) error {
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return fmt.Errorf("open %q: %w", rel, errOutside)
	}
	return nil
}

// Create writes a new file. If the name exists, even as a dangling link, it returns fs.ErrExist and
// changes nothing. A crash may leave a partial file. Missing folders are created.
func (d *Dir) Create(rel string, data []byte) error {
	if err := local(rel); err != nil {
		return err
	}
	err := d.Present()
	if err == nil {
		err = d.writeNew(d.Path(rel), data, true)
	}
	if err == nil {
		err = SyncFolder(filepath.Dir(d.Path(rel)))
	}
	if err != nil {
		return Advise("create "+rel, err)
	}
	return nil
}
