// Package trash keeps removed files of the data directory for a day, so that they can be restored.
// It owns the names in state/trash. It must not know what the files mean.
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
	// folder contains them. Their names encode the time, the folder and the original name.
	folder = store.StateDir + "/trash"
	// stamp begins a name. It is in UTC, so that names sort by time.
	stamp = "20060102T150405.000000Z"
	// most is the maximum number of files; the oldest are deleted first.
	most = 2000
)

// File is a file in the trash.
type File struct {
	Rel string    // the original location
	At  time.Time // the time of removal
	in  string    // its path in the trash
}

// Put removes a file but keeps it for a day. A missing file is fine.
func Put(d *store.Dir, now time.Time, rel string) error {
	err := d.Rename(rel, nameOf(now, "", rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.EXDEV), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return d.Remove(rel) // there is no space for a copy, but the caller wants the file removed
	case err != nil:
		return store.Advise("remove "+rel, err)
	}
	return nil
}

// Copy keeps a text that is about to be overwritten at rel for a day, to be read. List does not
// include it, because its file was not removed.
func Copy(d *store.Dir, now time.Time, rel string, data []byte) error {
	if err := d.Write(nameOf(now, "refused-", rel), data); err != nil {
		return store.Advise("keep "+rel, err)
	}
	return nil
}

// nameOf returns the name in the trash of a file, whose folder gets a prefix.
func nameOf(now time.Time, prefix, rel string) string {
	from, base := filepath.Split(filepath.FromSlash(rel))
	if len(base) > 200 { // the name in the trash is longer
		base = base[:190] + filepath.Ext(base)
	}
	from = prefix + strings.ReplaceAll(filepath.Clean(from), "/", "-")
	return fmt.Sprintf("%s/%s.%s.%s", folder, now.UTC().Format(stamp), from, base)
}

// List returns the files that were removed from a folder and can be restored at now, newest first.
func List(d *store.Dir, now time.Time, from string) []File {
	return slices.DeleteFunc(all(d), func(f File) bool { return filepath.Dir(f.Rel) != from || now.Sub(f.At) >= Kept })
}

// Expire deletes files whose time has passed at now. Those that cannot be deleted stay.
func Expire(d *store.Dir, now time.Time) {
	for i, f := range all(d) {
		if i >= most || now.Sub(f.At) >= Kept {
			_ = os.Remove(d.Path(f.in))
		}
	}
}

// all returns the files in the trash, newest first.
func all(d *store.Dir) []File {
	entries, _ := d.Entries(folder) // a missing folder means that nothing was removed
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

// Restore moves a file back to rel, which must be free.
func Restore(d *store.Dir, f File, rel string) error {
	if _, err := os.Lstat(d.Path(rel)); err == nil {
		return fmt.Errorf("restore %s: another file has this name now", rel)
	}
	if err := d.Rename(f.in, rel); err != nil {
		return store.Advise("put "+rel+" back", err)
	}
	return nil
}
