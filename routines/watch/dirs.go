package watch

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// dirs watches the folders and every directory on the way to them, so that the creation of a
// missing folder is noticed.
type dirs struct {
	root   string
	leaves map[string]string // absolute folder -> its name with forward slashes
	way    []string          // root and everything down to the folders, parents first
	src    source

	held  map[string]fs.FileInfo // watched directories, as they were when the watch began
	scout string                 // the nearest existing directory while root is missing

	links  links
	wanted func(name string) bool // Options.Match

	limited  bool // the system refused a watch, so only the timer is reliable
	dangling bool // a link on the way has no target
	changed  bool // one of the two changed, so the timer must be reset
}

func newDirs(root string, folders []string, src source) *dirs {
	d := &dirs{root: root, leaves: map[string]string{}, way: []string{root}, src: src, held: map[string]fs.FileInfo{}}
	for _, f := range folders {
		f = path.Clean(filepath.ToSlash(f))
		d.leaves[filepath.Join(root, filepath.FromSlash(f))] = f
		at := root
		for part := range strings.SplitSeq(f, "/") {
			if at = filepath.Join(at, part); !slices.Contains(d.way, at) {
				d.way = append(d.way, at)
			}
		}
	}
	d.links = links{hops: map[string][]string{}, names: map[string][]string{}, scanned: map[string]time.Time{}}
	d.wanted = func(string) bool { return true }
	d.limited = src.add == nil
	return d
}

// structural reports whether the creation or removal of the directory name changes what can
// be watched.
func (d *dirs) structural(name string) bool {
	if slices.Contains(d.way, name) {
		return true
	}
	return d.scout != "" && strings.HasPrefix(d.root, name+string(filepath.Separator))
}

// rel returns "folder/file" for the path of a file in a folder.
func (d *dirs) rel(name string) (string, bool) {
	i := strings.LastIndexByte(name, filepath.Separator)
	if i <= 0 {
		return "", false
	}
	folder, ok := d.leaves[name[:i]]
	if !ok {
		return "", false
	}
	if folder == "." {
		return name[i+1:], true
	}
	return folder + "/" + name[i+1:], true
}

// sync adapts the watches to the existing directories. Its error is the first refusal of the
// system, which also sets limited.
func (d *dirs) sync() error {
	if d.src.add == nil {
		return nil
	}
	before := [2]bool{d.limited, d.dangling}
	d.limited, d.dangling = false, false
	err := d.sweep()
	// A directory that is created between the check for it and the watch on its parent makes
	// no event; the next sweep finds it.
	for tries := 0; err == nil && !d.settled() && tries < 100; tries++ {
		err = d.sweep()
	}
	d.scan()
	d.follow()
	d.limited = err != nil
	d.changed = d.changed || before != [2]bool{d.limited, d.dangling}
	return err
}

// sweep checks every directory once, parents first.
func (d *dirs) sweep() error {
	alive := d.src.watched()
	var first error
	for _, dir := range d.way {
		if err := d.ensure(dir, alive); err != nil && first == nil {
			first = err
		}
	}
	scout := ""
	if _, ok := d.held[d.root]; !ok {
		scout = existing(filepath.Dir(d.root))
	}
	if d.scout != "" && d.scout != scout {
		d.drop(d.scout)
	}
	d.scout = scout
	if scout != "" {
		if err := d.ensure(scout, alive); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// settled reports whether the watches match the directories: root is watched, or the
// directory below the scout is still missing.
func (d *dirs) settled() bool {
	if _, ok := d.held[d.root]; ok {
		return true
	}
	_, held := d.held[d.scout]
	return held && existing(d.root) == d.scout
}

// existing returns the nearest existing directory at or above dir.
func existing(dir string) string {
	for {
		info, err := os.Stat(dir)
		parent := filepath.Dir(dir)
		if err == nil && info.IsDir() || parent == dir {
			return dir
		}
		dir = parent
	}
}

// ensure watches dir if it exists. It renews the watch if the directory was replaced or the
// system has dropped the watch.
func (d *dirs) ensure(dir string, alive []string) error {
	now, err := os.Stat(dir)
	if err != nil || !now.IsDir() {
		d.drop(dir)
		if link, lerr := os.Lstat(dir); lerr == nil && link.Mode()&fs.ModeSymlink != 0 {
			d.dangling = true
		}
		return nil
	}
	if was, ok := d.held[dir]; ok && os.SameFile(was, now) && slices.Contains(alive, dir) {
		return nil
	}
	d.drop(dir)
	if err := d.src.add(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil // removed meanwhile; its parent reports the next one
		}
		return err
	}
	d.held[dir] = now
	return nil
}

// drop ends the watch on a directory.
func (d *dirs) drop(dir string) {
	if _, ok := d.held[dir]; !ok {
		return
	}
	delete(d.held, dir)
	if d.src.remove != nil {
		// Usually the watch has ended with its directory.
		_ = d.src.remove(dir)
	}
}
