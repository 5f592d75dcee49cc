package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// errGone says that the directory that the bot was started in is not there, or
// that another stands in its place. Nothing is written until Look finds it.
var errGone = errors.New("the data directory is gone: put it back (a disk that was unmounted, a folder that was moved), " +
	"and the bot goes on by itself")

// Present reports errGone where this process is the bot and its directory is not
// where it was. Without a lock it has nothing to say.
func (d *Dir) Present() error {
	t := d.tenant.Load()
	if t == nil {
		return nil
	}
	if info, err := os.Stat(d.root); err != nil || !os.SameFile(info, t.root) {
		return errGone
	}
	return nil
}

// makeFolder makes a folder of the directory where it is missing. The bot never
// makes the directory itself anew: what was in it would seem to be lost.
func (d *Dir) makeFolder(path string) error {
	if d.tenant.Load() == nil {
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

// Found is what Look found, and did.
type Found int

// What Look can find.
const (
	AsItWas   Found = iota
	Replaced        // another data directory stands at its place and is the bot's now
	StateLost       // the state folder, or the lock in it, was removed and is made anew
)

// Look finds out whether the directory is what it was, for the bot that holds
// its lock. It is called every now and then. errGone: it is not there. A
// *RunningError: another one stands in its place, and another bot lives in it.
func (d *Dir) Look() (Found, error) {
	t := d.tenant.Load()
	if t == nil {
		return AsItWas, nil
	}
	info, err := os.Stat(d.root)
	if err != nil {
		return AsItWas, errGone
	}
	if !os.SameFile(info, t.root) {
		// The empty folder under a disk that was unmounted is no data directory.
		if state, err := os.Stat(d.Path(StateDir)); err != nil || !state.IsDir() {
			return AsItWas, errGone
		}
		next, err := d.settle()
		if err != nil {
			return AsItWas, err
		}
		d.tenant.Store(next)
		d.memory.forgetAll()
		return Replaced, errors.Join(t.close(), d.writePID())
	}
	held, err := t.state.Stat()
	if err != nil {
		return AsItWas, fmt.Errorf("look at the lock of %s: %w", d.Display(), err)
	}
	if now, err := os.Lstat(d.Path(lockFile)); err == nil && os.SameFile(now, held) {
		d.memory.look(d)
		return AsItWas, nil
	}
	if _, err := d.recall(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return AsItWas, Advise("prepare "+d.Display(), err)
	}
	if err := d.makeFolder(d.Path(StateDir)); err != nil {
		return AsItWas, Advise("prepare "+d.Display(), err)
	}
	state, err := d.lockState()
	if err != nil {
		return AsItWas, err
	}
	d.tenant.Store(&tenancy{root: t.root, dir: t.dir, state: state})
	d.memory.look(d)
	return StateLost, errors.Join(t.state.Close(), d.writePID())
}
