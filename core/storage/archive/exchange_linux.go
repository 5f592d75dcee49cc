package archive

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// swap exchanges two directories.
func swap(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// syncDisk makes everything that was written on the file system of a directory durable: thousands
// of small files at once.
func syncDisk(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}
