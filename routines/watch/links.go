package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	// mostHops is the maximum length of a chain of links.
	mostHops = 8
	// mostLinkDirs is how many directories of link targets are watched; changes in others are
	// found by the next rescan.
	mostLinkDirs = 200
)

// links are the symbolic links in the folders and their targets: saving a target makes no
// event in the folder.
type links struct {
	hops    map[string][]string  // path of a link -> its chain of targets
	names   map[string][]string  // target -> names of links, with forward slashes
	dirs    []string             // directories watched for them
	scanned map[string]time.Time // folder -> its modification time at the last scan
}

// scan searches changed folders for links.
func (d *dirs) scan() {
	for leaf := range d.leaves {
		info, err := os.Stat(leaf)
		if err != nil {
			delete(d.links.scanned, leaf)
			continue
		}
		if seen, ok := d.links.scanned[leaf]; ok && seen.Equal(info.ModTime()) && time.Since(seen) > 3*time.Second {
			continue
		}
		d.links.scanned[leaf] = info.ModTime()
		entries, err := os.ReadDir(leaf)
		if err != nil {
			continue
		}
		for path := range d.links.hops {
			if filepath.Dir(path) == leaf {
				delete(d.links.hops, path)
			}
		}
		for _, e := range entries {
			if path := filepath.Join(leaf, e.Name()); e.Type()&fs.ModeSymlink != 0 && d.match(path) {
				d.links.hops[path] = hops(path)
			}
		}
	}
}

// match reports whether a path in a folder is of interest.
func (d *dirs) match(path string) bool {
	name, ok := d.rel(path)
	return ok && d.wanted(name)
}

// hops returns the chain of targets of a link; the last is not a link, or missing.
func hops(path string) (list []string) {
	for len(list) < mostHops {
		to, err := os.Readlink(path)
		if err != nil {
			break // not a link
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				break
			}
			to = filepath.Join(dir, to)
		}
		path = filepath.Clean(to)
		if slices.Contains(list, path) {
			break
		}
		list = append(list, path)
	}
	return list
}

// relink updates one path of a folder, and reports whether its targets have changed.
func (d *dirs) relink(path string) bool {
	old, was := d.links.hops[path]
	now := hops(path)
	if len(now) == 0 || !d.match(path) {
		delete(d.links.hops, path)
		return was
	}
	d.links.hops[path] = now
	return !slices.Equal(old, now)
}

// follow watches the directories of link targets, and ends other such watches.
func (d *dirs) follow() {
	d.links.names = map[string][]string{}
	var want []string
	for path, list := range d.links.hops {
		name, ok := d.rel(path)
		if !ok {
			continue
		}
		for _, to := range list {
			d.links.names[to] = append(d.links.names[to], name)
			if dir := filepath.Dir(to); !slices.Contains(d.way, dir) && dir != d.scout && !slices.Contains(want, dir) {
				want = append(want, dir)
			}
		}
	}
	slices.Sort(want)
	want = want[:min(len(want), mostLinkDirs)]
	for _, dir := range d.links.dirs {
		if !slices.Contains(want, dir) && !slices.Contains(d.way, dir) && dir != d.scout {
			d.drop(dir)
		}
	}
	if len(want) > 0 {
		alive := d.src.watched()
		for _, dir := range want {
			_ = d.ensure(dir, alive) // if refused, the next rescan finds changes
		}
	}
	d.links.dirs = want
}
