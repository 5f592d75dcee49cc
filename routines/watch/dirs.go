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

// dirs keeps a watch on the folders and on every directory on the way to them,
// so that a missing folder is seen when it appears.
type dirs struct {
	root   string
	leaves map[string]string // absolute folder -> its name with forward slashes
	way    []string          // root and everything down to the folders, parents first
	src    source

	held  map[string]fs.FileInfo // what is watched, as it was when the watch began
	scout string                 // the nearest directory that exists while root does not

	links  links
	wanted func(name string) bool // Options.Match

	limited  bool // the system refused a watch: only the timer can be trusted
	dangling bool // a link on the way leads nowhere
	changed  bool // one of the two changed: the timer has to be set anew
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

// structural reports whether name is a directory whose coming or going changes
// what can be watched.
func (d *dirs) structural(name string) bool {
	if slices.Contains(d.way, name) {
		return true
	}
	return d.scout != "" && strings.HasPrefix(d.root, name+string(filepath.Separator))
}

// rel turns the path of a file in a folder into "folder/file".
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

// sync brings the watches in line with the directories that exist. Its error
// is the first refusal by the system, with which limited is set as well.
func (d *dirs) sync() error {
	if d.src.add == nil {
		return nil
	}
	before := [2]bool{d.limited, d.dangling}
	d.limited, d.dangling = false, false
	err := d.sweep()
	// A directory that appears between the look at it and the watch on its
	// parent makes no event; then the next sweep finds it.
	for tries := 0; err == nil && !d.settled() && tries < 100; tries++ {
		err = d.sweep()
	}
	d.scan()
	d.follow()
	d.limited = err != nil
	d.changed = d.changed || before != [2]bool{d.limited, d.dangling}
	return err
}

// sweep looks at every directory once, parents first.
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

// settled reports whether the watches still fit the directories: root is
// watched, or it is missing and so is the next one on the way to it.
func (d *dirs) settled() bool {
	if _, ok := d.held[d.root]; ok {
		return true
	}
	_, held := d.held[d.scout]
	return held && existing(d.root) == d.scout
}

// existing is the nearest directory at or above dir that exists.
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

// ensure watches dir if it exists. A watch is renewed when the directory is
// another one than before, or when the system has let go of it.
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
			return nil // between the look and the watch; its parent tells of the next
		}
		return err
	}
	d.held[dir] = now
	return nil
}

// drop ends the watch on a directory and forgets what is known of it.
func (d *dirs) drop(dir string) {
	if _, ok := d.held[dir]; !ok {
		return
	}
	delete(d.held, dir)
	if d.src.remove != nil {
		// The watch is gone with its directory more often than not.
		_ = d.src.remove(dir)
	}
}
