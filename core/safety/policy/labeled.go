package policy

import (
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// maxLabeled is how many labeled files are distinguished. If there are more, every search and every
// command counts as reading one.
const maxLabeled = 5_000

// labeledFile is a file of the data directory with untrusted content.
type labeledFile struct {
	rel   string // "" means any file
	label label.Label
}

// labeled yields the labeled files: those in downloads, those that a labeled session wrote while
// they still have the bytes it wrote, and all other places to which these were linked, copied or
// moved. Files that are found quickly come first.
func (r *reach) labeled() iter.Seq[labeledFile] {
	return func(yield func(labeledFile) bool) {
		list := r.downloads()
		versions := r.provenance.labeled()
		for digest, o := range versions {
			if data, err := r.dir.Read(o.Path); err == nil && routines.Digest(data) == digest {
				list = append(list, labeledFile{o.Path, o.Writer.Label})
			}
		}
		for _, f := range list {
			if !yield(f) {
				return
			}
		}
		r.wandered(versions, yield)
	}
}

// wandered yields the labeled files that are neither in downloads nor where they were written.
func (r *reach) wandered(versions map[string]Origin, yield func(labeledFile) bool) {
	if len(versions) == 0 && r.arrivals.none() {
		return
	}
	looked := 0
	for at, rel := range r.files() {
		if looked++; looked > maxLooked {
			yield(labeledFile{"", label.From(labelMany)})
			return
		}
		id := identify(at)
		l := r.arrivals.label(id)
		if l == "" && len(versions) > 0 {
			if o := versions[r.digests.of(r.dir, rel, id)]; o.in(rel) {
				l = o.Writer.Label
			}
		}
		if l != "" && !yield(labeledFile{rel, l}) {
			return
		}
	}
}

// files yields the files of the data directory except the bot's own and those in downloads, each
// with its path and its path relative to the directory.
func (r *reach) files() iter.Seq2[string, string] {
	return func(yield func(at, rel string) bool) {
		_ = filepath.WalkDir(r.tree.root, func(at string, d fs.DirEntry, err error) error {
			rel, inside := r.tree.within(at)
			switch {
			case err != nil: // it was removed, or even the bot may not read it
				return nil
			case d.IsDir() && (elsewhere(rel) || isDownloads(rel)):
				return fs.SkipDir
			case inside && d.Type().IsRegular() && !yield(at, rel):
				return fs.SkipAll
			}
			return nil
		})
	}
}

// elsewhere reports whether a folder contains the bot's own files, which no session reads.
func elsewhere(rel string) bool { return rel == store.StateDir || rel == ".git" }

func isDownloads(rel string) bool { return strings.EqualFold(rel, downloadFolder) }

// downloads lists the files in the folder of downloads.
func (r *reach) downloads() []labeledFile {
	var list []labeledFile
	for _, e := range r.entries("") {
		if !isDownloads(e.Name()) {
			continue
		}
		root := r.dir.Path(e.Name())
		err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case len(list) > maxLabeled:
				return fs.SkipAll
			case !d.IsDir():
				rel, _ := r.tree.within(at)
				list = append(list, labeledFile{rel, download(rel)})
				r.arrivals.note(identify(at), download(rel))
			}
			return nil
		})
		if err != nil || len(list) > maxLabeled {
			return []labeledFile{{"", label.From(labelDownloads)}}
		}
	}
	return list
}

func download(rel string) label.Label {
	return label.From(fmt.Sprintf(labelDownload, path.Base(rel)))
}

// identity distinguishes the files of a machine independently of their names. It changes with every
// change of the file itself, but not with the names of the folders above it.
type identity struct {
	dev, ino uint64
	changed  time.Time
}

// identify returns the identity of a file, or the zero one if it has none.
func identify(at string) identity {
	var s unix.Stat_t
	if unix.Lstat(at, &s) != nil {
		return identity{}
	}
	return identity{dev: uint64(s.Dev), ino: s.Ino, changed: time.Unix(s.Ctim.Unix())} //nolint:unconvert // Dev is another type elsewhere
}

// arrivals remembers the files that have been seen in downloads, to recognize them under other
// names. The zero value is empty.
type arrivals struct {
	mu sync.Mutex
	by map[identity]label.Label
}

func (a *arrivals) none() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.by) == 0
}

func (a *arrivals) label(id identity) label.Label {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.by[id]
}

func (a *arrivals) note(id identity, l label.Label) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil || len(a.by) > 4*maxLabeled {
		a.by = map[identity]label.Label{}
	}
	if id != (identity{}) {
		a.by[id] = l
	}
}

// digests caches the digests of files that have not changed since they were read. The zero value is
// empty.
type digests struct {
	mu sync.Mutex
	by map[identity]string
}

// of returns the digest of a file, or "" if it cannot be read.
func (d *digests) of(dir *store.Dir, rel string, id identity) string {
	d.mu.Lock()
	known, ok := d.by[id]
	d.mu.Unlock()
	if ok {
		return known
	}
	data, err := dir.Read(rel)
	if err != nil {
		return ""
	}
	digest := routines.Digest(data)
	if id == (identity{}) || time.Since(id.changed) < 2*stampSlack {
		return digest // the next change may get the same time
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by == nil || len(d.by) > maxLooked {
		d.by = map[identity]string{}
	}
	d.by[id] = digest
	return digest
}
