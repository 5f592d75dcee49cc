package archive

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"ollimbot/core/storage/store"
)

// swap exchanges two directories.
func swap(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }

// syncDisk makes a tree durable, file by file.
func syncDisk(dir string) error {
	return filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return store.SyncFolder(path)
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
