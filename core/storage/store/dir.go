// Package store owns the data directory: its paths, atomic files, front
// matter, the locks and the git commits. It is the only package that writes
// there, and it knows nothing of what the files mean.
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/base/clean"
)

// Modes of what we create: nobody but the user reads a personal assistant's files.
const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// StateDir is the folder of files that only code reads and writes.
const StateDir = "state"

// Dir is a data directory. Use At. All methods are safe for use by several
// goroutines, and beside other processes of ours. Names are relative to the
// directory and use forward slashes.
type Dir struct {
	root string

	mu sync.Mutex
	// turns holds one lock per name given to WithLock.
	turns map[string]*sync.Mutex

	// tenant is set while this process is the bot of the directory.
	tenant atomic.Pointer[tenancy]
	memory memory
	opened atomic.Pointer[fs.FileMode] // the mode that Prepare has taken back
}

// At names the data directory at root. A leading ~ is the user's home; a
// relative path counts from the working directory. Nothing is touched.
func At(root string) (*Dir, error) {
	if strings.TrimSpace(root) == "" {
		return nil, errors.New(msgNoRoot)
	}
	if root == "~" || strings.HasPrefix(root, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("find the home directory for %s: %w; set HOME or give --data-dir", root, err)
		}
		root = filepath.Join(home, root[1:])
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("make %s absolute: %w", root, err)
	}
	return &Dir{root: abs, turns: map[string]*sync.Mutex{}}, nil
}

// Root is the directory's absolute path.
func (d *Dir) Root() string { return d.root }

// Display is the path as people read it, cleaned: ~ stands for the home directory.
func (d *Dir) Display() string { return clean.Line(d.display()) }

func (d *Dir) display() string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" || home == string(filepath.Separator) {
		return d.root
	}
	if rel, err := filepath.Rel(home, d.root); err == nil && filepath.IsLocal(rel) {
		if rel == "." {
			return "~"
		}
		return filepath.Join("~", rel)
	}
	return d.root
}

// Path is the absolute path of a name. It does not check the name: what comes
// from outside goes through Read and Write, which do.
func (d *Dir) Path(rel string) string {
	return filepath.Join(d.root, filepath.FromSlash(rel))
}

// Exists reports whether the directory is there.
func (d *Dir) Exists() bool {
	info, err := os.Stat(d.root)
	return err == nil && info.IsDir()
}

// Prepare creates the directory and its state folder, makes both private,
// removes temporary files that a crash left behind, and makes sure that files
// can be written. An error says what to do.
func (d *Dir) Prepare() error {
	if err := d.Writable(); err != nil {
		return err
	}
	d.tighten()
	if err := d.makeRoot(); err != nil {
		return Advise("prepare "+d.Display(), err)
	}
	if err := makePrivate(d.Path(StateDir)); err != nil {
		return Advise("prepare "+d.Display(), err)
	}
	d.Tidy(time.Now())
	for _, folder := range []string{".", StateDir} {
		probe := folder + "/probe"
		name, err := d.writeTemp(d.Path(probe), []byte("x"), false)
		if err != nil {
			return Advise("write in "+d.Display(), err)
		}
		_ = os.Remove(name) // a leftover is removed by a later Prepare
	}
	return nil
}

// makeRoot creates the root, or makes it private when it is ours: it holds a
// state folder already, or nothing at all. A shared directory (sticky, such as
// /tmp) and the home directory keep their modes.
func (d *Dir) makeRoot() error {
	info, err := os.Stat(d.root)
	if errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(d.root, dirMode)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: d.root, Err: errNotDirectory}
	}
	if home, err := os.UserHomeDir(); err == nil && home == d.root || info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	entries, err := readFolder(d.root)
	if err != nil {
		return err
	}
	ours := len(entries) == 0
	for _, e := range entries {
		ours = ours || e.Name() == StateDir && e.IsDir()
	}
	if ours && info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(d.root, info.Mode().Perm()&0o700)
	}
	return nil
}

// makePrivate creates a folder of ours, or takes it and the files in it away
// from everybody else.
func makePrivate(path string) error {
	if err := os.MkdirAll(path, dirMode); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, dirMode); err != nil {
			return err
		}
	}
	entries, err := readFolder(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil || info.Mode().Perm()&0o077 == 0 {
			continue // gone since, or private already
		}
		if err := os.Chmod(filepath.Join(path, e.Name()), info.Mode().Perm()&0o700); err != nil {
			return err
		}
	}
	return nil
}

// leftoverAge is how old a temporary file must be before it counts as left
// behind; another process of ours may be writing the younger ones.
const leftoverAge = 10 * time.Minute

const (
	// asideFor is how long files that could not be read are kept.
	asideFor = 30 * 24 * time.Hour
	// asideMark is in their names.
	asideMark = ".corrupt-"
)

// Tidy removes what was kept for long enough at now: files that could not be read, after
// thirty days, and temporary files that a crash left behind. What cannot be removed stays.
func (d *Dir) Tidy(now time.Time) {
	if d.Present() != nil {
		return
	}
	folders := []string{".", "routines", "reminders", "webhooks", StateDir}
	entries, _ := d.Entries(StateDir) // not there: nothing to remove
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, StateDir+"/"+e.Name())
		}
	}
	for _, folder := range folders {
		d.sweep(folder, now.Add(-leftoverAge), IsTemp)
	}
	d.sweep(StateDir, now.Add(-asideFor), func(name string) bool { return strings.Contains(name, asideMark) })
}

// sweep removes what lies in a folder, is older, and has a name of ours.
func (d *Dir) sweep(folder string, before time.Time, ours func(name string) bool) {
	entries, _ := d.Entries(folder) // not there: nothing to remove
	for _, e := range entries {
		if info, err := e.Info(); err == nil && ours(e.Name()) && !info.ModTime().After(before) {
			_ = os.RemoveAll(filepath.Join(d.Path(folder), e.Name()))
		}
	}
}
