package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"ollimbot/core/base/clean"
)

// Modes of created files: only the user may read them.
const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// StateDir is the folder of files that only programs read and write.
const StateDir = "state"

// Dir is a data directory. Use At. Its methods are safe for concurrent use by goroutines and
// processes. Names are relative to the directory and use forward slashes.
type Dir struct {
	root string

	turns  turns
	owned  atomic.Pointer[ownership]   // set while this process is the bot of the directory
	opened atomic.Pointer[fs.FileMode] // the directory's mode before Prepare restricted it
}

// At returns the data directory at root, which need not exist. A leading ~ means the user's home; a
// relative path starts at the working directory.
func At(root string) (*Dir, error) {
	if strings.TrimSpace(root) == "" {
		return nil, errors.New(msgNoRoot)
	}
	if root == "~" || strings.HasPrefix(root, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("find the home directory for %s: %w; set HOME or use --data-dir", root, err)
		}
		root = filepath.Join(home, root[1:])
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("make %s absolute: %w", root, err)
	}
	return &Dir{root: abs}, nil
}

// Root returns the directory's absolute path.
func (d *Dir) Root() string { return d.root }

// Display formats the path for the user: cleaned, with ~ for the home directory.
func (d *Dir) Display() string { return display(d.root) }

func display(root string) string {
	home, err := os.UserHomeDir()
	if err == nil && home != "" && home != string(filepath.Separator) {
		if rel, err := filepath.Rel(home, root); err == nil && filepath.IsLocal(rel) {
			root = filepath.Join("~", rel)
		}
	}
	return clean.Line(root)
}

// Path returns the absolute path of a name. It does not check the name; Read and Write do.
func (d *Dir) Path(rel string) string {
	return filepath.Join(d.root, filepath.FromSlash(rel))
}

// Exists reports whether the directory exists.
func (d *Dir) Exists() bool {
	info, err := os.Stat(d.root)
	return err == nil && info.IsDir()
}

// Prepare creates the directory and its state folder, makes both private,
// removes temporary files of a crash, and checks that files can be written. An error says
// what to do.
func (d *Dir) Prepare() error {
	if err := d.Writable(); err != nil {
		return err
	}
	if was := tighten(d.root); was != nil {
		d.opened.Store(was)
	}
	if err := makeRoot(d.root); err != nil {
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
		_ = os.Remove(name) // a later Prepare removes it
	}
	return nil
}

// leftoverAge is the age above which a temporary file counts as left behind; another process may
// still be writing younger ones.
const leftoverAge = 10 * time.Minute

const (
	// asideFor is how long unreadable files are kept.
	asideFor = 30 * 24 * time.Hour
	// asideMark is in their names.
	asideMark = ".corrupt-"
)

// Tidy removes unreadable files that were set aside thirty days before now, and temporary
// files of a crash, as far as possible.
func (d *Dir) Tidy(now time.Time) {
	if d.Present() != nil {
		return
	}
	folders := []string{".", "routines", "reminders", "webhooks", StateDir}
	for _, parent := range []string{StateDir, validFolder} {
		entries, _ := d.Entries(parent) // missing: nothing to remove
		for _, e := range entries {
			if e.IsDir() {
				folders = append(folders, parent+"/"+e.Name())
			}
		}
	}
	for _, folder := range folders {
		sweep(d.Path(folder), now.Add(-leftoverAge), IsTemp)
	}
	sweep(d.Path(StateDir), now.Add(-asideFor), func(name string) bool { return strings.Contains(name, asideMark) })
}

// sweep removes the old entries of a folder with such names.
func sweep(folder string, before time.Time, ours func(name string) bool) {
	entries, _ := readFolder(folder) // missing: nothing to remove
	for _, e := range entries {
		if !ours(e.Name()) {
			continue // asking for its age is too slow: this runs before the first screen
		}
		if info, err := e.Info(); err == nil && !info.ModTime().After(before) {
			_ = os.RemoveAll(filepath.Join(folder, e.Name()))
		}
	}
}
