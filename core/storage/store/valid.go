package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"time"
)

// validFolder holds, under the same names, the last valid version of the files that people write. A file that
// is broken while no bot runs, or over a restart, is then read in the version that was in force.
const validFolder = StateDir + "/valid"

// Valid returns the last valid version of a file and when it was kept. ok is false if there is none.
func (d *Dir) Valid(rel string) (data []byte, at time.Time, ok bool) {
	info, err := os.Stat(d.Path(path.Join(validFolder, rel)))
	if err != nil {
		return nil, at, false
	}
	data, err = d.Read(path.Join(validFolder, rel))
	return data, info.ModTime(), err == nil
}

// KeepValid keeps a version of a file. The time of a version that is kept already does not change.
func (d *Dir) KeepValid(rel string, data []byte) error {
	if old, _, ok := d.Valid(rel); ok && bytes.Equal(old, data) {
		return nil
	}
	// Not synced: it is needed only if the user's own file is broken, and is written again at the next start.
	return d.write(path.Join(validFolder, rel), data, false)
}

// PruneValid removes the kept versions of a folder ("" for the top level) whose files are not wanted: a version must not
// come back with another file of its name.
func (d *Dir) PruneValid(folder string, wanted func(rel string) bool) error {
	if err := d.Present(); err != nil {
		return err // the files are missing because all of them are
	}
	entries, err := d.Entries(path.Join(validFolder, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		rel := path.Join(folder, e.Name())
		if e.IsDir() || IsTemp(e.Name()) || wanted(rel) {
			continue // a temporary file belongs to a write at this moment, or Tidy removes it
		}
		if gone := os.Remove(d.Path(path.Join(validFolder, rel))); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
