package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// errGone means that the directory in which the bot was started is missing or was replaced. Nothing
// is written until Look finds it again.
var errGone = errors.New("the data directory is missing: put it back (an unmounted disk, a moved folder), " +
	"and the bot continues by itself")

// LostError means that state/, or the lock in it, was removed or replaced while the bot was running. What the bot knows no
// longer matches the disk, so it writes nothing more and ends.
type LostError struct{ Dir string }

func (e *LostError) Error() string { return fmt.Sprintf(msgLost, filepath.Join(e.Dir, StateDir)) }

// Present returns errGone if this process is the bot and its directory is missing or was
// replaced, and a *LostError if that happened to its state folder. For a process without the lock it returns nil.
func (d *Dir) Present() error {
	t := d.owned.Load()
	if t == nil {
		return nil
	}
	if info, err := os.Stat(d.root); err != nil || !os.SameFile(info, t.root) {
		return errGone
	}
	if info, err := os.Lstat(d.Path(lockFile)); err != nil || !os.SameFile(info, t.lock) {
		return &LostError{Dir: d.Display()}
	}
	return nil
}

// MakeFolder creates a private folder in the directory if it is missing.
func (d *Dir) MakeFolder(rel string) error {
	if err := local(rel); err != nil {
		return err
	}
	return d.makeFolder(d.Path(rel))
}

// makeFolder creates a folder in the directory if it is missing. The bot never recreates the
// directory itself, because that would look as if all its content had been lost.
func (d *Dir) makeFolder(path string) error {
	if d.owned.Load() == nil {
		return os.MkdirAll(path, dirMode)
	}
	if err := d.Present(); err != nil {
		return err
	}
	rel, err := filepath.Rel(d.root, path)
	if err != nil || rel == "." {
		return err
	}
	at := d.root
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if err := os.Mkdir(at, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// Found is the result of Look.
type Found int

// Results of Look.
const (
	AsItWas  Found = iota
	Replaced       // another data directory has replaced it and now belongs to the bot
)

// Look checks whether the directory is unchanged. The bot that holds its lock calls it every few
// seconds. It returns errGone if the directory is missing, a *LostError if its state folder is, or a *RunningError if another
// directory, in which another bot is running, has replaced it.
func (d *Dir) Look() (Found, error) {
	t := d.owned.Load()
	if t == nil {
		return AsItWas, nil
	}
	info, err := os.Stat(d.root)
	if err != nil {
		return AsItWas, errGone
	}
	if !os.SameFile(info, t.root) {
		// The empty folder under an unmounted disk is not a data directory.
		if state, err := os.Stat(d.Path(StateDir)); err != nil || !state.IsDir() {
			return AsItWas, errGone
		}
		next, err := own(d.root)
		if err != nil {
			return AsItWas, err
		}
		d.owned.Store(next)
		return Replaced, errors.Join(t.close(), d.writePID())
	}
	return AsItWas, d.Present()
}

// Size returns the bytes of a file, or of all files below a folder. What cannot be read counts as 0.
func Size(path string) (sum int64) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // it counts as 0
		}
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
