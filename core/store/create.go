package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Create writes a new file. Where something of that name is there already, a
// link that leads nowhere included, the error is fs.ErrExist and nothing is
// changed. A crash may leave a part of the file. Folders on the way are created.
func (d *Dir) Create(rel string, data []byte) error {
	if err := local(rel); err != nil {
		return err
	}
	if err := createNew(d.Path(rel), data); err != nil {
		return advise("create "+rel, err)
	}
	return nil
}

func createNew(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		if rerr := os.Remove(path); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		return err
	}
	return syncFolder(filepath.Dir(path))
}
