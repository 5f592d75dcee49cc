package routines

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/clean"
	"ollimbot/core/fault"
	"ollimbot/core/store"
)

// folder is what the index knows of one folder. The caller holds Index.look.
type folder[T any] struct {
	name  string
	parse func(rel string, data []byte) (T, []Problem)
	task  func(*T) *Task
	seed  maphash.Seed

	files []*file[T] // by name
	dir   stamp      // of the folder when its names were last read
	young bool       // see isYoung
	wrong []Problem  // with the folder itself
	turn  int        // the tenth that is next

	claims   map[string][]*file[T] // id -> files that carry it; the first is in force, the others are by name
	live     map[string]*T         // id -> what is in force
	troubled map[*file[T]]bool     // files with problems of their own
	doubles  map[string]bool       // ids that more than one file carries
	before   []string              // paths that were in force in spite of another file of the same id
}

// file is one task file.
type file[T any] struct {
	name, rel string
	seen      stamp // when it was last read
	link      bool  // a symbolic link: what it leads to may change unseen
	young     bool  // see isYoung
	failed    bool  // it could not be read: try again at each look
	gone      bool
	sum       uint64 // of its bytes: a touched file is not a changed one

	good     *T // the last good version; nil if there never was one
	claimed  string
	holds    bool // it is in force under the id that it claims
	bad      bool // the version on disk is not the good one
	problems []Problem
}

func newFolder[T any](name string, parse func(string, []byte) (T, []Problem), task func(*T) *Task) *folder[T] {
	return &folder[T]{
		name: name, parse: parse, task: task, seed: maphash.MakeSeed(),
		claims: map[string][]*file[T]{}, live: map[string]*T{},
		troubled: map[*file[T]]bool{}, doubles: map[string]bool{},
	}
}

// isYoung reports whether something changed so shortly before it was read that
// another change could bear the same time stamp: clocks of file systems are
// coarse. What was young is read once more at the next look.
func isYoung(s stamp, now time.Time) bool {
	age := now.UnixNano() - s.mtime
	return age < int64(3*time.Second) && age > -int64(3*time.Second)
}

// effort is how many files a scan examines beyond those that call for it.
type effort int

const (
	all   effort = 1
	tenth effort = 10
)

// scan looks at the folder and returns the files whose state changed.
func (f *folder[T]) scan(d *store.Dir, e effort) []*file[T] {
	now := time.Now()
	h, err := openFolder(d.Path(f.name))
	if errors.Is(err, fs.ErrNotExist) {
		f.wrong, f.dir = nil, stamp{}
		return f.drop(func(*file[T]) bool { return true })
	}
	if err != nil {
		// The files may well be fine: what is in force stays in force.
		return f.fail(Problem{File: f.name, Severity: Error, Message: folderUnreadable(err)})
	}
	defer h.close()
	var changed []*file[T]
	if h.stamp != f.dir || f.young || len(f.wrong) > 0 {
		names, err := h.entries()
		if err != nil {
			return f.fail(Problem{File: f.name, Severity: Error, Message: folderUnreadable(err)})
		}
		if len(f.wrong) > 0 {
			f.wrong, changed = nil, append(changed, &file[T]{gone: true}) // so that the list is made anew
		}
		changed = append(changed, f.align(names)...)
		f.dir, f.young = h.stamp, isYoung(h.stamp, now)
		e = all // any of them may have been replaced
	}
	stale := f.examine(h, e)
	changed = append(changed, f.load(d, stale, now)...)
	return append(changed, f.drop(func(one *file[T]) bool { return one.gone })...)
}

// examine returns the files that have to be read, and marks those that are gone.
func (f *folder[T]) examine(h *openedFolder, e effort) (stale []*file[T]) {
	f.turn++
	for i, one := range f.files {
		if (i+f.turn)%int(e) != 0 && !one.young && !one.failed && !one.link {
			continue
		}
		s, err := h.stat(one.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			one.gone = true
		case err != nil || s != one.seen || one.young || one.failed:
			one.seen = s
			stale = append(stale, one)
		}
	}
	return stale
}

// fail notes what is wrong with the folder as a whole.
func (f *folder[T]) fail(p Problem) []*file[T] {
	if len(f.wrong) == 1 && f.wrong[0] == p {
		return nil
	}
	f.wrong = []Problem{p}
	return []*file[T]{{gone: true}}
}

// refresh looks at the named files.
func (f *folder[T]) refresh(d *store.Dir, names []string) []*file[T] {
	now := time.Now()
	var stale []*file[T]
	var lost bool
	for _, name := range names {
		i, known := slices.BinarySearchFunc(f.files, name, byName)
		s, err := statFile(d.Path(f.name + "/" + name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if known {
				f.files[i].gone, lost = true, true
			}
		case !known:
			f.files = slices.Insert(f.files, i, f.newFile(name, s))
			stale = append(stale, f.files[i])
		default:
			f.files[i].seen = s
			stale = append(stale, f.files[i])
		}
	}
	changed := f.load(d, stale, now)
	for _, one := range stale {
		lost = lost || one.gone
	}
	if !lost { // a walk through 10,000 files is most of what one of them costs
		return changed
	}
	return append(changed, f.drop(func(one *file[T]) bool { return one.gone })...)
}

func byName[T any](a *file[T], name string) int { return strings.Compare(a.name, name) }

func (f *folder[T]) newFile(name string, s stamp) *file[T] {
	return &file[T]{name: name, rel: f.name + "/" + name, seen: s, failed: true}
}

// align brings files in line with the names that the folder holds now, and
// returns those that are gone.
func (f *folder[T]) align(entries []fs.DirEntry) []*file[T] {
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !IsTaskFile(e.Name()) })
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	files := make([]*file[T], 0, len(entries))
	old := f.files
	for _, e := range entries {
		name := e.Name()
		for len(old) > 0 && old[0].name < name {
			old[0].gone = true
			old = old[1:]
		}
		if len(old) > 0 && old[0].name == name {
			files = append(files, old[0])
			old = old[1:]
		} else {
			files = append(files, f.newFile(name, stamp{}))
		}
		files[len(files)-1].link = e.Type()&fs.ModeSymlink != 0
	}
	for _, one := range old {
		one.gone = true
	}
	gone := f.drop(func(one *file[T]) bool { return one.gone })
	f.files = files
	return gone
}

// drop removes files and returns them, marked as gone.
func (f *folder[T]) drop(when func(*file[T]) bool) []*file[T] {
	var out []*file[T]
	f.files = slices.DeleteFunc(f.files, func(one *file[T]) bool {
		if !when(one) {
			return false
		}
		one.gone = true
		out = append(out, one)
		return true
	})
	return out
}

// load reads files, by two workers where there are many, and returns those
// whose state changed.
func (f *folder[T]) load(d *store.Dir, stale []*file[T], now time.Time) []*file[T] {
	changed := make([]bool, len(stale))
	var next atomic.Int64
	work := func() error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(stale) {
				return nil
			}
			changed[i] = f.read(d, stale[i])
			stale[i].young = isYoung(stale[i].seen, now)
		}
	}
	var g errgroup.Group
	if len(stale) > 32 {
		g.Go(work)
	}
	_ = work()   // it has no errors: each file keeps its own
	_ = g.Wait() // nor has its twin
	var out []*file[T]
	for i, one := range stale {
		if changed[i] && !one.gone {
			out = append(out, one)
		}
	}
	return out
}

// read takes a file's bytes in and reports whether its state changed.
func (f *folder[T]) read(d *store.Dir, one *file[T]) (changed bool) {
	if clean.Line(one.name) != one.name {
		return f.reject(one, Problem{File: f.name + "/" + clean.Line(one.name), Severity: Error, Message: msgBadName})
	}
	data, err := d.Read(one.rel)
	if errors.Is(err, fs.ErrNotExist) {
		one.gone = true
		return false
	}
	if err != nil {
		return f.reject(one, Problem{File: one.rel, Severity: Error, Message: clean.Line(fileUnreadable(err))})
	}
	sum := maphash.Bytes(f.seed, data)
	if sum == one.sum && !one.failed {
		return false
	}
	one.sum, one.failed = sum, false
	task, problems := f.understand(one.rel, data)
	f.task(&task).Digest = Digest(data)
	one.problems, one.bad = problems, HasErrors(problems)
	if !one.bad {
		one.good = &task
	}
	return true
}

// understand parses, and turns a panic of the parser into a problem of the file:
// one file must not take the others along.
func (f *folder[T]) understand(rel string, data []byte) (task T, problems []Problem) {
	defer fault.Rescue("a task file", func(f *fault.Error) {
		problems = []Problem{{File: rel, Severity: Error, Message: clean.Line(fmt.Sprintf(msgPanic, f.Value))}}
	})
	return f.parse(rel, data)
}

// reject notes that a file could not be read at all.
func (f *folder[T]) reject(one *file[T], p Problem) bool {
	same := one.failed && len(one.problems) == 1 && one.problems[0] == p
	one.failed, one.bad, one.problems = true, true, []Problem{p}
	return !same
}
