package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	// mostHops is how many links in a row are followed.
	mostHops = 8
	// mostLinkDirs is how many directories are watched for what links lead to; what
	// lies beyond is found by the next rescan.
	mostLinkDirs = 200
)

// links are the files of the folders that are symbolic links, and what they lead
// to: a save there makes no event in the folder.
type links struct {
	hops    map[string][]string  // a link's path in its folder -> what it leads to, one after the other
	names   map[string][]string  // a path that is led to -> names of links, with forward slashes
	dirs    []string             // directories that are watched for them
	scanned map[string]time.Time // folder -> its time stamp when it was looked through
}

// scan looks through the folders that have changed for links.
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

// hops are the paths that a link leads to, the last of them no link or not there.
func hops(path string) (list []string) {
	for len(list) < mostHops {
		to, err := os.Readlink(path)
		if err != nil {
			break // no link
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

// relink looks at one path of a folder again and reports whether it leads, or has
// led, elsewhere.
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

// follow watches the directories of what links lead to, and no others.
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
			_ = d.ensure(dir, alive) // refused: the next rescan finds what changes there
		}
	}
	d.links.dirs = want
}
