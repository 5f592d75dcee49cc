package routines

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/storage/store"
	"ollimbot/routines/watch"
)

// Folder is the index of the task files in one folder: the tasks in force and the
// problems found. It reads a file again only after it changed. A file that becomes
// invalid keeps its last good version in force, over a restart too (store.Dir.Valid). If two
// files have the same id, the one already in force stays, or else the first by name wins; a copy
// that a sync or file manager made (see isCopy) never does.
//
// All methods are safe for concurrent use. Now never waits for the disk.
type Folder[T any] struct {
	d     *store.Dir
	name  string
	parse func(rel string, data []byte) (T, []Problem)
	task  func(*T) *Task

	// look serialises scans of the disk and guards the fields up to the empty line. It is
	// held while reading, so that an older scan cannot replace the result of a newer one.
	look   sync.Mutex
	files  map[string]*file[T] // by name
	wrong  []Problem           // problems of the folder itself
	before []string            // paths that were in force before the restart, although another file has the same id
	why    func(*Task) string  // why a task needs approval, or ""; nil if none ever does
	// previous returns the version that was in force before the given one, or "". It may be
	// nil.
	previous func(version string) string

	now atomic.Pointer[Listing[T]]
}

// Listing is a snapshot of the tasks in force in a folder. It must not be modified.
type Listing[T any] struct {
	InForce   []*T      // by path
	Problems  []Problem // by file
	Versions  []string  // Task.Digest of all files, in force or not
	contested []string  // paths in force whose id also appears in another file
	byID      map[string]*T
}

// Find returns the task with that id.
func (l *Listing[T]) Find(id string) (*T, bool) {
	if l == nil {
		return nil, false
	}
	t, ok := l.byID[id]
	return t, ok
}

// file is one task file.
type file[T any] struct {
	rel      string
	info     fs.FileInfo // from the last read; nil forces a read at the next scan
	digest   string      // of the last read: a file that was only touched has not changed
	good     *T          // the last good version; nil if there has been none
	force    *T          // the version in force: good, or the text before it while good awaits approval
	bad      bool        // the version on the disk is not the good one
	kept     time.Time   // when the good version was kept beside the state; zero if it was not
	holds    string      // the id under which the file is in force
	problems []Problem
}

// NewFolder returns an empty index; call Scan to fill it. parse reads one file, task
// returns the common part of its result.
func NewFolder[T any](d *store.Dir, name string, parse func(string, []byte) (T, []Problem), task func(*T) *Task) *Folder[T] {
	f := &Folder[T]{d: d, name: name, parse: parse, task: task, files: map[string]*file[T]{}}
	f.now.Store(&Listing[T]{})
	return f
}

// JudgeBy sets the function that decides which tasks need the user's approval
// (Task.Waits). It returns the reason, or "" for a task that may fire. The index calls it
// when a file changes and from Judge, never concurrently. It may read files but must not
// call the index. Call JudgeBy before the first Scan.
func (f *Folder[T]) JudgeBy(why func(*Task) string) { f.why = why }

// KeepBy sets the function that returns the version in force before a given one. While a
// version needs approval, the previous text stays in force with the new one as its
// proposal (Task.Proposed). The rules of JudgeBy apply.
func (f *Folder[T]) KeepBy(previous func(version string) string) { f.previous = previous }

// Now returns the current listing, which is never modified: a later scan creates a new
// one.
func (f *Folder[T]) Now() *Listing[T] { return f.now.Load() }

// Change is the result of a scan.
// Change says what a look at the disk brought.
type Change struct {
	// IDs lists each task that was added, removed or changed, once.
	IDs []string
	// Problems is true if the list of problems changed.
	Problems bool
}

// Empty reports whether nothing changed.
func (c Change) Empty() bool { return !c.Problems && len(c.IDs) == 0 }

// and combines the changes of two folders.
func (c Change) and(o Change) Change {
	c.IDs = append(c.IDs, o.IDs...)
	slices.Sort(c.IDs)
	c.IDs = slices.Compact(c.IDs)
	c.Problems = c.Problems || o.Problems
	return c
}

// IsTaskFile reports whether a name ("routines/a.md" or "a.md") is that of a task file:
// markdown, and not an editor's private file. ".md" counts: the original program gives
// that name to a text without ASCII letters.
func IsTaskFile(name string) bool {
	base := path.Base(name)
	return base == ".md" || strings.HasSuffix(base, ".md") && !strings.ContainsAny(base[:1], ".#~")
}

// Scan checks every file and reads those that changed since the last scan.
func (f *Folder[T]) Scan() Change {
	f.look.Lock()
	defer f.look.Unlock()
	entries, err := f.d.Entries(f.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		// The files may be fine, so the tasks in force stay in force.
		f.wrong = []Problem{{File: f.name, Severity: Error, Message: clean.Line(fmt.Sprintf(msgFolderUnreadable, err))}}
		return f.publish(nil)
	}
	f.wrong = f.ignored(entries)
	there := map[string]bool{}
	var files []*file[T]
	for _, e := range entries {
		if name := e.Name(); IsTaskFile(name) {
			there[name] = true
			files = append(files, f.file(name))
		}
	}
	maps.DeleteFunc(f.files, func(name string, _ *file[T]) bool { return !there[name] })
	return f.publish(files)
}

// Refresh checks only the named files ("routines/a.md"). It ignores names in other
// folders and names that are not task files.
func (f *Folder[T]) Refresh(names []string) Change {
	f.look.Lock()
	defer f.look.Unlock()
	var files []*file[T]
	ours := func(rel string) bool { return strings.HasPrefix(rel, f.name+"/") }
	if !slices.ContainsFunc(names, ours) {
		return Change{}
	}
	if entries, err := f.d.Entries(f.name); err == nil {
		f.wrong = f.ignored(entries)
	}
	for _, rel := range names {
		if folder, name := path.Split(rel); folder == f.name+"/" && IsTaskFile(name) {
			one := f.file(name)
			one.info = nil
			files = append(files, one)
		}
	}
	return f.publish(files)
}

// ignored returns a warning for each file of which somebody may think that it is read: with another ending, or in a folder of
// its own.
func (f *Folder[T]) ignored(entries []fs.DirEntry) (list []Problem) {
	for _, e := range entries {
		name, rel := e.Name(), f.name+"/"+e.Name()
		text := ""
		switch {
		case strings.ContainsAny(name[:1], ".#~"):
		case e.IsDir():
			inside, err := f.d.Entries(rel)
			if err == nil && slices.ContainsFunc(inside, func(e fs.DirEntry) bool { return IsTaskFile(e.Name()) || otherMarkdown(e.Name()) }) {
				text = fmt.Sprintf(msgSubFolder, f.name)
			}
		case otherMarkdown(name):
			text = fmt.Sprintf(msgOtherEnding, strings.TrimSuffix(name, path.Ext(name)))
		}
		if text != "" {
			list = append(list, Problem{File: clean.Line(rel), Severity: Warning, Message: clean.Line(text)})
		}
	}
	return list
}

// otherMarkdown reports whether a name ends as Markdown files do elsewhere.
func otherMarkdown(name string) bool {
	end := path.Ext(name)
	return end != ".md" && (strings.EqualFold(end, ".md") || strings.EqualFold(end, ".markdown"))
}

// Apply checks the files named in a batch from the watcher.
func (f *Folder[T]) Apply(b watch.Batch) Change {
	if b.Full {
		return f.Scan()
	}
	return f.Refresh(b.Names)
}

// Judge decides again for every task whether it needs approval.
func (f *Folder[T]) Judge() Change {
	f.look.Lock()
	defer f.look.Unlock()
	for _, one := range f.files {
		f.settle(one)
	}
	return f.publish(nil)
}

// settle decides which version of a file is in force: the last good one or, while that
// needs approval, the text before it.
func (f *Folder[T]) settle(one *file[T]) {
	if one.good == nil && one.bad {
		if one.good = f.textBefore(one, one.digest); one.good == nil {
			one.good = f.lastValid(one)
		}
	}
	if one.good == nil || f.why == nil {
		one.force = one.good
		return
	}
	next := *one.good // a copy, because listings share the old one
	t := f.task(&next)
	if t.Waits = f.why(t); t.Waits != "" && t.Script == "" {
		if before := f.textBefore(one, t.Digest); before != nil {
			f.task(before).Proposed = f.proposal(one, t, f.task(before))
			next = *before
		}
	}
	if one.force == nil || !sameState(f.task(one.force), f.task(&next)) {
		one.force = &next
	}
}

func sameState(a, b *Task) bool {
	return a.Digest == b.Digest && a.Waits == b.Waits && a.Script == b.Script && a.Proposed == b.Proposed
}

// textBefore returns the text that was in force before a version of a file, or nil if it
// is unknown or needs approval too.
func (f *Folder[T]) textBefore(one *file[T], version string) *T {
	if f.previous == nil || f.why == nil {
		return nil
	}
	data, err := keptText(f.d, f.previous(version))
	if err != nil {
		return nil
	}
	t, problems := f.understand(one.rel, data)
	if f.task(&t).Digest = Digest(data); HasErrors(problems) || f.why(f.task(&t)) != "" {
		return nil
	}
	return &t
}

// lastValid returns the version of a file that was in force before the restart, or nil.
func (f *Folder[T]) lastValid(one *file[T]) *T {
	data, at, ok := f.d.Valid(one.rel)
	if !ok {
		return nil
	}
	t, problems := f.understand(one.rel, data)
	if f.task(&t).Digest = Digest(data); HasErrors(problems) {
		return nil
	}
	one.kept = at
	return &t
}

// proposal describes the version of a file that awaits approval.
func (f *Folder[T]) proposal(one *file[T], waits, before *Task) Proposal {
	p := Proposal{Version: waits.Digest, Why: waits.Waits}
	now, err := f.d.Read(one.rel)
	if err != nil || Digest(now) != waits.Digest {
		return p // changed since; the next scan picks it up
	}
	if old, err := keptText(f.d, before.Digest); err == nil {
		p.Diff = Diff(old, now)
	}
	return p
}

func (f *Folder[T]) file(name string) *file[T] {
	one, known := f.files[name]
	if !known {
		one = &file[T]{rel: f.name + "/" + name}
		f.files[name] = one
	}
	return one
}

// stale reports whether a file may have changed since it was read, and records its
// current state on disk.
func (f *Folder[T]) stale(one *file[T]) bool {
	was := one.info
	now, err := os.Stat(f.d.Path(one.rel)) // through links, whose targets may change
	one.info = now
	return err != nil || was == nil || !os.SameFile(was, now) || was.Size() != now.Size() || !was.ModTime().Equal(now.ModTime())
}

// racy is how long after a change another change could get the same time stamp: file
// system clocks are coarse. A file read that soon is read once more.
const racy = 3 * time.Second

// publish checks files, two at a time, reads those that may have changed and puts the
// result in force.
func (f *Folder[T]) publish(files []*file[T]) Change {
	changed := make([]bool, len(files))
	var next atomic.Int64
	read := func() error {
		for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
			changed[i] = f.stale(files[i]) && f.read(files[i])
		}
		return nil // there are no errors: each file keeps its own
	}
	var g errgroup.Group
	g.Go(read)
	_ = read()
	_ = g.Wait()
	for i, one := range files {
		if changed[i] {
			f.settle(one)
		}
	}
	old, now := f.now.Load(), f.list()
	c := Change{Problems: !slices.Equal(old.Problems, now.Problems)}
	for id, t := range now.byID {
		if old.byID[id] != t {
			c.IDs = append(c.IDs, id)
		}
	}
	for id := range old.byID {
		if now.byID[id] == nil {
			c.IDs = append(c.IDs, id)
		}
	}
	slices.Sort(c.IDs)
	if !c.Empty() || !slices.Equal(old.Versions, now.Versions) {
		f.now.Store(now)
	}
	return c
}

// read loads a file and reports whether its bytes changed.
func (f *Folder[T]) read(one *file[T]) (changed bool) {
	begun := time.Now()
	data, err := f.d.Read(one.rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		one.bad, one.info = true, nil
		one.good, one.force, one.problems = nil, nil, nil
		return false
	case clean.Line(one.rel) != one.rel:
		err = errBadName
	case err != nil:
		err = fmt.Errorf("cannot be read: %w", err)
	}
	if err != nil {
		one.info, one.digest, one.bad = nil, "", true
		one.problems = []Problem{{File: clean.Line(one.rel), Severity: Error, Message: clean.Line(err.Error())}}
		return true
	}
	if one.info != nil && begun.Sub(one.info.ModTime()).Abs() < racy {
		one.info = nil
	}
	digest := Digest(data)
	if digest == one.digest {
		return false
	}
	t, problems := f.understand(one.rel, data)
	f.task(&t).Digest = digest
	one.digest, one.problems, one.bad = digest, problems, HasErrors(problems)
	switch {
	case !one.bad:
		one.good = &t
	case one.good != nil:
		_, one.kept, _ = f.d.Valid(one.rel)
	}
	return true
}

// understand parses a file and turns a panic of the parser into a problem of that file:
// one file must not affect the others.
func (f *Folder[T]) understand(rel string, data []byte) (task T, problems []Problem) {
	defer fault.Rescue("a task file", func(f *fault.Error) {
		problems = []Problem{{File: rel, Severity: Error, Message: clean.Line(fmt.Sprintf(msgPanic, f.Value))}}
	})
	return f.parse(rel, data)
}

// list computes the tasks in force.
func (f *Folder[T]) list() *Listing[T] {
	files := make([]*file[T], 0, len(f.files))
	for name, one := range f.files {
		if one.force == nil && one.problems == nil {
			delete(f.files, name) // gone
			continue
		}
		files = append(files, one)
	}
	slices.SortFunc(files, func(a, b *file[T]) int { return strings.Compare(a.rel, b.rel) })
	next := &Listing[T]{Problems: slices.Clone(f.wrong), byID: make(map[string]*T, len(files))}
	first := make(map[string]*file[T], len(files)) // by id
	for _, one := range files {
		if one.force == nil {
			continue
		}
		id := f.task(one.force).ID
		if there := first[id]; there == nil || f.rank(one, id) < f.rank(there, id) {
			first[id] = one
		}
	}
	for _, one := range files {
		for i, p := range one.problems {
			switch {
			case i > 0 || !one.bad || one.force == nil:
			case one.kept.IsZero():
				p.Message += msgLastGood
			default:
				p = p.Keeping(one.kept)
			}
			next.Problems = append(next.Problems, p)
		}
		one.holds = ""
		next.Versions = append(next.Versions, one.digest)
		if one.force == nil {
			continue
		}
		next.Versions = append(next.Versions, f.task(one.good).Digest, f.task(one.force).Digest)
		id := f.task(one.force).ID
		if there := first[id]; there != one {
			next.Problems = append(next.Problems, Problem{
				File: one.rel, Severity: Error, Message: clean.Line(fmt.Sprintf(msgDouble, one.rel, id, there.rel)),
			})
			next.contested = append(next.contested, there.rel)
			continue
		}
		one.holds, next.byID[id] = id, one.force
		next.InForce = append(next.InForce, one.force)
	}
	return next
}

// rank orders files that share an id by priority: the one in force, then the one in force
// before the restart, then those that need no approval, and copies last.
func (f *Folder[T]) rank(one *file[T], id string) int {
	switch {
	case isCopy(path.Base(one.rel)):
		return 4
	case one.holds == id:
		return 0
	case slices.Contains(f.before, one.rel):
		return 1
	case f.task(one.force).Waits == "":
		return 2
	}
	return 3
}

// copyName matches the names that sync programs and file managers give to a copy of a file.
var copyName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^copy( \(\d+\))? of |( copy( \d+)?|[ _]\(\d+\)| \d+| - copy( \(\d+\))?` +
		`|\([^()]*conflict[^()]*\)|[.-]sync-conflict-[\w-]+|[._-]conflict[\w.-]*)\.md$`)
})

// isCopy reports whether a name is that of a copy: "meds (conflicted copy).md", "meds 2.md", "meds - Copy.md", "Copy of meds.md".
func isCopy(name string) bool { return copyName().MatchString(name) }

// ByWeight orders problems: errors before warnings, then by file and position.
func ByWeight(a, b Problem) int {
	return cmp.Or(cmp.Compare(a.Severity, b.Severity), // "error" < "warning"
		strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Message, b.Message))
}
