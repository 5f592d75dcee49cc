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

// MaxRead is the size of the largest file that Read takes, in bytes.
const MaxRead = 4 << 20

// errTooLarge says that a file is larger than MaxRead.
var errTooLarge = errors.New("the file is larger than 4 MiB, the most that is read: make it smaller")

var (
	errNotRegular   = errors.New("not an ordinary file: put a plain text file in its place")
	errNotDirectory = errors.New("not a directory")
	errNotLockable  = errors.New("not an ordinary file: remove it, the bot makes its own")
	errOutside      = errors.New("the name leads out of the data directory")
)

// Read returns a file's bytes. It refuses what is not an ordinary file (a pipe
// would hang the bot) and what is larger than MaxRead (errTooLarge). A missing
// file is fs.ErrNotExist.
func (d *Dir) Read(rel string) ([]byte, error) {
	if err := local(rel); err != nil {
		return nil, err
	}
	data, err := ReadFile(d.Path(rel))
	if errors.Is(err, fs.ErrNotExist) {
		// Nobody should take this for a file that was never there.
		if gone := d.Present(); gone != nil {
			err = gone
		} else if d.recalled(rel) {
			data, err = ReadFile(d.Path(rel))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", rel, Bare(err))
	}
	return data, nil
}

// Open opens a file for reading, for files that are too large for Read. It
// refuses what is not an ordinary file. A missing file is fs.ErrNotExist.
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
	// Without O_NONBLOCK the open of a pipe waits for its writer.
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

// Entries lists a folder by name. A missing one is fs.ErrNotExist; what is no
// folder is an error, a pipe too, which os.ReadDir would wait for.
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

// ReadFile reads an ordinary file of at most MaxRead bytes. What else has the name, such
// as a pipe, is an error.
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

// Write replaces a file as a whole: readers and a crash see the old bytes or
// the new ones, never a part. Folders on the way are created. A symbolic link
// stays, and what it points to is replaced.
func (d *Dir) Write(rel string, data []byte) error {
	if err := local(rel); err != nil {
		return err
	}
	if err := d.writeAtomic(d.Path(rel), data); err != nil {
		return Advise("write "+rel, err)
	}
	if d.owned.Load() != nil {
		d.memory.note(rel, data)
	}
	return nil
}

func (d *Dir) writeAtomic(path string, data []byte) error {
	if err := d.Present(); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	temp, err := d.writeTemp(path, data, true)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return SyncFolder(filepath.Dir(path))
}

// writeTemp writes a temporary file beside path and returns its name. It leaves
// nothing behind on an error.
func (d *Dir) writeTemp(path string, data []byte, sync bool) (name string, err error) {
	folder, base := filepath.Split(path)
	name = filepath.Join(folder, tempName(base))
	return name, d.writeNew(name, data, sync)
}

// writeNew writes a file of a name that must be free, in a folder that is made where
// it is missing. It leaves nothing behind on an error.
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
		_ = os.Remove(path) // the first error is the one to tell
	}
	return err
}

// tempName is hidden, so that no reader of *.md takes it for a file of the
// user's, and ends in .tmp as the original's temporary files do.
func tempName(base string) string {
	return "." + base[:min(len(base), 200)] + "." + NewID() + NewID() + ".tmp"
}

// IsTemp recognises the name of a temporary file of ours.
func IsTemp(name string) bool {
	if len(name) < 23 || name[0] != '.' || !strings.HasSuffix(name, ".tmp") {
		return false
	}
	id := name[len(name)-20 : len(name)-4]
	return name[len(name)-21] == '.' && strings.Trim(id, "0123456789abcdef") == ""
}

// SyncFolder makes a rename in the folder durable. Some file systems cannot
// sync a folder; there the rename is as durable as it gets.
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

// Append adds lines to a file in a single write, and syncs it. A line that a
// crash left unfinished is closed first, so that it spoils no other. The lines
// must not hold line breaks.
func (d *Dir) Append(rel string, lines ...[]byte) error {
	if err := local(rel); err != nil || len(lines) == 0 {
		return err
	}
	for _, l := range lines {
		if bytes.IndexByte(l, '\n') >= 0 {
			return fmt.Errorf("append to %s: a line holds a line break", rel)
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
		// A full disk took a part of the line: take it back if nobody has
		// written behind it. What cannot be taken back, the next Append closes.
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

// Remove removes a file. A file that is not there is fine.
func (d *Dir) Remove(rel string) error {
	if err := local(rel); err != nil {
		return err
	}
	if err := d.Present(); err != nil {
		return Advise("remove "+rel, err)
	}
	d.memory.forget(rel)
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

// Rename moves a file within the directory, durably. Folders on the way are created. A
// missing file is fs.ErrNotExist; what has the new name is replaced.
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

// local refuses names that lead out of the directory: ids and slugs come from
// files that anybody may have written.
func local(rel string) error {
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return fmt.Errorf("open %q: %w", rel, errOutside)
	}
	return nil
}

// Create writes a new file. Where something of that name is there already, a
// link that leads nowhere included, the error is fs.ErrExist and nothing is
// changed. A crash may leave a part of the file. Folders on the way are created.
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
