package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// tempPattern is the name of an export that is being written.
const tempPattern = ".ollim-bot-*.tmp"

// createTemp creates a private file that is locked until it is closed, so that sweep can
// distinguish it from leftovers of a killed export.
func createTemp(folder string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(folder, tempPattern)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			return f, nil //nolint:nilerr // where nothing can be locked, nothing is swept
		}
		if _, err := os.Lstat(f.Name()); !errors.Is(err, fs.ErrNotExist) {
			return f, nil
		}
		_ = f.Close() // sweep removed it before it was locked
	}
}

// sweep removes leftovers of killed exports in a folder. A running export holds the lock of its
// file, so that file stays.
func sweep(folder string) {
	entries, _ := os.ReadDir(folder) // nothing depends on it
	for _, e := range entries {
		if ours, _ := filepath.Match(tempPattern, e.Name()); !ours {
			continue
		}
		name := filepath.Join(folder, e.Name())
		f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		info, err := f.Stat()
		if err == nil && info.Mode().IsRegular() && syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.Remove(name)
		}
		_ = f.Close() // only locked
	}
}
