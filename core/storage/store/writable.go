package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/clean"
)

// Usable reports why the data directory cannot be one: a file is in its way, or it may
// not be read. Nothing is touched. The error is a sentence with the cure.
func (d *Dir) Usable() error {
	at, info, err := d.nearest()
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

// Writable reports why the data directory could not be made, or not be written in, before
// anything is. The error is a sentence with the cure.
func (d *Dir) Writable() error {
	if err := d.Usable(); err != nil {
		return err
	}
	at, _, err := d.nearest()
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

// nearest is the data directory, or the nearest folder above it that exists.
func (d *Dir) nearest() (path string, info fs.FileInfo, err error) {
	for path = d.root; ; path = filepath.Dir(path) {
		info, err = os.Stat(path)
		if missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR); !missing || path == filepath.Dir(path) {
			return path, info, err
		}
	}
}
