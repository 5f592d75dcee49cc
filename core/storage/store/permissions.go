package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/clean"
)

// Concerns returns warnings about who else can change the bot's behavior through the directory.
// Each names the cure. World-writable parents such as /tmp are fine if they are sticky.
func (d *Dir) Concerns() []string {
	var list []string
	for _, rel := range []string{".", StateDir} {
		info, err := os.Stat(d.Path(rel))
		if err != nil {
			continue
		}
		name := filepath.Join(d.Display(), rel)
		if uid, ok := foreign(info); ok {
			list = append(list, fmt.Sprintf(msgForeign, name, uid, name))
		}
		if info.Mode().Perm()&0o022 != 0 {
			list = append(list, fmt.Sprintf(msgWritable, name, info.Mode().Perm(), name))
		}
	}
	if was := d.opened.Load(); was != nil {
		list = append(list, fmt.Sprintf(msgWasWritable, d.Display(), was.Perm()))
	}
	return list
}

// Trusted returns an error unless only the user can have put commands into the directory: it must
// belong to the user, and others must not be able to write to it.
func (d *Dir) Trusted() error {
	for _, rel := range []string{".", "skills"} {
		info, err := os.Stat(d.Path(rel))
		if err != nil {
			continue
		}
		uid, ok := foreign(info)
		name := filepath.Join(d.Display(), rel)
		switch {
		case ok:
			return fmt.Errorf(msgForeign, name, uid, name)
		case info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0:
			return fmt.Errorf(msgWritable, name, info.Mode().Perm(), name)
		}
	}
	return nil
}

// tighten removes other users' write access to the user's directory, and returns the previous mode,
// or nil if nothing was changed.
func tighten(root string) (was *fs.FileMode) {
	info, err := os.Stat(root)
	if err != nil || info.Mode().Perm()&0o002 == 0 || info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	if _, ok := foreign(info); ok {
		return nil
	}
	mode := info.Mode()
	if os.Chmod(root, mode.Perm()&^0o022) != nil {
		return nil // Concerns reports it
	}
	return &mode
}

// foreign returns the owner of a file if that is another user.
func foreign(info fs.FileInfo) (uid int, ok bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(stat.Uid), int(stat.Uid) != os.Geteuid()
}

// makeRoot creates the root, or makes it private if it belongs to the bot: it already contains a
// state folder, or nothing. A shared directory (sticky, such as /tmp) and the home directory keep
// their modes.
func makeRoot(root string) error {
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(root, dirMode)
	}
	if err != nil {
		return err
	}
	if home, err := os.UserHomeDir(); err == nil && home == root || info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	entries, err := readFolder(root)
	if err != nil {
		return err
	}
	ours := len(entries) == 0
	for _, e := range entries {
		ours = ours || e.Name() == StateDir && e.IsDir()
	}
	if ours && info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(root, info.Mode().Perm()&0o700)
	}
	return nil
}

// makePrivate creates a folder, or makes it and the files in it accessible to the user
// only.
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
			continue // removed since, or private already
		}
		if err := os.Chmod(filepath.Join(path, e.Name()), info.Mode().Perm()&0o700); err != nil {
			return err
		}
	}
	return nil
}

// Usable returns an error if the path cannot be a data directory: it is a file, or not readable.
// Nothing is changed. The error names the cure.
func (d *Dir) Usable() error {
	at, info, err := nearest(d.root)
	switch {
	case err != nil:
		return Advise("open "+d.Display(), err)
	case !info.IsDir():
		return fmt.Errorf(msgIsFile, clean.Line(at))
	case at == d.root && unix.Access(at, unix.R_OK|unix.X_OK) != nil:
		return fmt.Errorf(msgUnreadableDir, d.Display())
	}
	return nil
}

// Writable returns an error if the data directory cannot be created or written to, before anything
// is written. The error names the cure.
func (d *Dir) Writable() error {
	if err := d.Usable(); err != nil {
		return err
	}
	at, _, err := nearest(d.root)
	if err == nil {
		err = unix.Access(at, unix.W_OK|unix.X_OK)
	}
	switch {
	case err == nil:
		return nil
	case at == d.root:
		return Advise("write in "+d.Display(), err)
	}
	return fmt.Errorf(msgParent, d.Display(), clean.Line(at), err)
}

// nearest returns the data directory, or the nearest existing folder above it.
func nearest(root string) (path string, info fs.FileInfo, err error) {
	for path = root; ; path = filepath.Dir(path) {
		info, err = os.Stat(path)
		if missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR); !missing || path == filepath.Dir(path) {
			return path, info, err
		}
	}
}
