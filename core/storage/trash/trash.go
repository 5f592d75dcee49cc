// Package trash keeps removed files of the data directory for a day, so that they can be
// put back. It owns the names in state/trash; it must not know what the files mean.
package trash

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

	"ollimbot/core/storage/store"
)

const (
	// Kept is how long removed files are kept.
	Kept = 24 * time.Hour
	// folder contains them; the names say when, from which folder, and under which name.
	folder = store.StateDir + "/trash"
	// stamp begins a name. It is in UTC, so that names sort by time.
	stamp = "20060102T150405.000000Z"
	// most is the largest number of files; the oldest make room.
	most = 2000
)

// File is a file in the trash.
type File struct {
	Rel string    // where it was
	At  time.Time // when it was removed
	in  string    // its path in the trash
}

// Put removes a file but keeps it for a day. A missing file is fine.
func Put(d *store.Dir, now time.Time, rel string) error {
	err := d.Rename(rel, nameOf(now, "", rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.EXDEV), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return d.Remove(rel) // no room for a copy, and removing is what was asked for
	case err != nil:
		return store.Advise("remove "+rel, err)
	}
	return nil
}

// Copy keeps a text for a day that is about to be overwritten at rel. It is there to be
// read: List does not name it, because its file was not removed.
func Copy(d *store.Dir, now time.Time, rel string, data []byte) error {
	if err := d.Write(nameOf(now, "refused-", rel), data); err != nil {
		return store.Advise("keep "+rel, err)
	}
	return nil
}

// nameOf is the name in the trash of a file, whose folder gets a prefix.
func nameOf(now time.Time, prefix, rel string) string {
	from, base := filepath.Split(filepath.FromSlash(rel))
	if len(base) > 200 { // the name in the trash is longer
		base = base[:190] + filepath.Ext(base)
	}
	from = prefix + strings.ReplaceAll(filepath.Clean(from), "/", "-")
	return fmt.Sprintf("%s/%s.%s.%s", folder, now.UTC().Format(stamp), from, base)
}

// List returns what was removed from a folder and can be put back at now, the newest first.
func List(d *store.Dir, now time.Time, from string) []File {
	return slices.DeleteFunc(all(d), func(f File) bool { return filepath.Dir(f.Rel) != from || now.Sub(f.At) >= Kept })
}

// Expire deletes what has been kept long enough at now. What cannot be deleted stays.
func Expire(d *store.Dir, now time.Time) {
	for i, f := range all(d) {
		if i >= most || now.Sub(f.At) >= Kept {
			_ = os.Remove(d.Path(f.in))
		}
	}
}

// all returns the files in the trash, the newest first.
func all(d *store.Dir) []File {
	entries, _ := d.Entries(folder) // missing: nothing was removed
	var list []File
	for _, e := range entries {
		name := e.Name()
		if len(name) <= len(stamp) {
			continue
		}
		at, err := time.Parse(stamp, name[:len(stamp)])
		from, base, ok := strings.Cut(strings.TrimPrefix(name[len(stamp):], "."), ".")
		if err != nil || !ok || base == "" {
			continue
		}
		list = append(list, File{Rel: from + "/" + base, At: at, in: folder + "/" + name})
	}
	slices.Reverse(list)
	return list
}

// Read returns the content of a file in the trash.
func Read(d *store.Dir, f File) ([]byte, error) { return d.Read(f.in) }

// Restore puts a file back at rel, which must be free.
func Restore(d *store.Dir, f File, rel string) error {
	if _, err := os.Lstat(d.Path(rel)); err == nil {
		return fmt.Errorf("put %s back: another file has this name now", rel)
	}
	if err := d.Rename(f.in, rel); err != nil {
		return store.Advise("put "+rel+" back", err)
	}
	return nil
}
