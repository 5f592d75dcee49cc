package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// trashDir keeps removed task files; the names say when, from which folder,
	// and under which name.
	trashDir = StateDir + "/trash"
	// TrashFor is how long they are kept.
	TrashFor = 24 * time.Hour
	// trashStamp begins a name. It is in UTC, so that names sort by time.
	trashStamp = "20060102T150405.000000Z"
	// trashMost bounds the number of files; the oldest make room.
	trashMost = 2000
)

// Discarded is a file in the trash.
type Discarded struct {
	Rel string    // where it was
	At  time.Time // when it was removed
	in  string    // its path in the trash
}

// Discard removes a file but keeps it for a day, so that it can be put back. A
// file that is not there is fine.
func (d *Dir) Discard(now time.Time, rel string) error {
	if err := local(rel); err != nil {
		return err
	}
	folder, base := filepath.Split(filepath.FromSlash(rel))
	if len(base) > 200 { // the name in the trash is longer
		base = base[:190] + filepath.Ext(base)
	}
	to := fmt.Sprintf("%s/%s.%s.%s", trashDir, now.UTC().Format(trashStamp), strings.ReplaceAll(filepath.Clean(folder), "/", "-"), base)
	err := d.move(rel, to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.EXDEV), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return d.Remove(rel) // no room for a copy: removing is what was asked for
	case err != nil:
		return advise("remove "+rel, err)
	}
	return nil
}

// move renames a file to a place whose folder may have to be made.
func (d *Dir) move(from, to string) error {
	if err := d.Present(); err != nil {
		return err
	}
	if _, err := os.Lstat(d.Path(from)); err != nil {
		return err
	}
	if err := d.makeFolder(filepath.Dir(d.Path(to))); err != nil {
		return err
	}
	if err := os.Rename(d.Path(from), d.Path(to)); err != nil {
		return err
	}
	return errors.Join(syncFolder(filepath.Dir(d.Path(to))), syncFolder(filepath.Dir(d.Path(from))))
}

// Trash lists what was removed from a folder and can be put back at now, the
// newest first.
func (d *Dir) Trash(now time.Time, folder string) []Discarded {
	var list []Discarded
	for _, t := range d.trash() {
		if filepath.Dir(t.Rel) == folder && now.Sub(t.At) < TrashFor {
			list = append(list, t)
		}
	}
	return list
}

// trash is all that lies in the trash, the newest first.
func (d *Dir) trash() []Discarded {
	entries, _ := d.Entries(trashDir) // not there: nothing was removed
	var list []Discarded
	for _, e := range entries {
		name := e.Name()
		if len(name) <= len(trashStamp) {
			continue
		}
		at, err := time.Parse(trashStamp, name[:len(trashStamp)])
		folder, base, ok := strings.Cut(strings.TrimPrefix(name[len(trashStamp):], "."), ".")
		if err != nil || !ok || base == "" {
			continue
		}
		list = append(list, Discarded{Rel: folder + "/" + base, At: at, in: trashDir + "/" + name})
	}
	slices.Reverse(list)
	return list
}

// ReadDiscarded returns what a file in the trash holds.
func (d *Dir) ReadDiscarded(t Discarded) ([]byte, error) { return d.Read(t.in) }

// Restore puts a file from the trash to where rel says, which must be free.
func (d *Dir) Restore(t Discarded, rel string) error {
	if err := local(rel); err != nil {
		return err
	}
	if _, err := os.Lstat(d.Path(rel)); err == nil {
		return fmt.Errorf("put %s back: another file has this name now", rel)
	}
	if err := d.move(t.in, rel); err != nil {
		return advise("put "+rel+" back", err)
	}
	return nil
}
