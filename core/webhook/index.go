package webhook

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"ollimbot/core/clean"
	"ollimbot/core/fault"
	"ollimbot/core/store"
	"ollimbot/routines"
	"ollimbot/routines/watch"
)

// Index knows the spec files of a data directory: what is in force, and what is
// wrong. A file that becomes invalid keeps its last good version in force. All methods may be called by several goroutines; Find and
// Set never wait for the disk.
type Index struct {
	d *store.Dir

	// look orders the looks at the disk and guards the fields below; it is held
	// over reading, so that an older look cannot replace a newer one.
	look  sync.Mutex
	why   func(*routines.Task) string // why one waits for its user; nil: none does
	files map[string]*file            // by name
	wrong []routines.Problem

	set atomic.Pointer[Set]
}

// Set is what is in force at one moment. Nobody may change it.
type Set struct {
	Specs    []Spec             // by path
	Problems []routines.Problem // errors first, then by file and place
	Waiting  []Spec             // by path: not in force until their user says so
	byID     map[string]int
}

// file is one spec file.
type file struct {
	sum      [sha256.Size]byte
	good     *Spec // the last good version; nil if there never was one
	bad      bool  // the version on disk is not the good one
	problems []routines.Problem
}

// NewIndex makes an empty index; Scan fills it.
func NewIndex(d *store.Dir) *Index {
	x := &Index{d: d, files: map[string]*file{}}
	x.set.Store(&Set{})
	return x
}

// JudgeBy makes why decide which webhooks are not in force until their user says
// so: the reason, "" for all that may be. It is set before the first Scan.
func (x *Index) JudgeBy(why func(*routines.Task) string) { x.why = why }

// Judge asks about every webhook anew.
func (x *Index) Judge() {
	x.look.Lock()
	defer x.look.Unlock()
	x.publish()
}

// Set is what is in force now. It never changes: a later look makes a new one.
func (x *Index) Set() *Set { return x.set.Load() }

// Find returns the spec with that id.
func (x *Index) Find(id string) (Spec, bool) { return x.Set().Find(id) }

// Find returns the spec with that id.
func (s *Set) Find(id string) (Spec, bool) {
	i, ok := s.byID[id]
	if !ok {
		return Spec{}, false
	}
	return s.Specs[i], true
}

// Apply looks at what a batch of the watch points at, and reports whether
// anything changed. The batch may name files of other folders.
func (x *Index) Apply(b watch.Batch) bool {
	if b.Full {
		return x.Scan()
	}
	return x.Reload(b.Names...)
}

// Scan looks at every file and reports whether anything changed.
func (x *Index) Scan() bool {
	x.look.Lock()
	defer x.look.Unlock()
	entries, err := x.d.Entries(Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		// The files may well be fine: what is in force stays so.
		wrong := []routines.Problem{{File: Folder, Severity: routines.Error, Message: clean.Line(folderUnreadable(err))}}
		same := slices.Equal(x.wrong, wrong)
		x.wrong = wrong
		return !same && x.publish()
	}
	changed := len(x.wrong) > 0
	x.wrong = nil
	here := map[string]bool{}
	for _, e := range entries {
		if routines.IsTaskFile(e.Name()) {
			here[e.Name()] = true
			changed = x.read(e.Name()) || changed
		}
	}
	for name := range x.files {
		if !here[name] {
			delete(x.files, name)
			changed = true
		}
	}
	return changed && x.publish()
}

// Reload looks at the named files only ("webhooks/a.md"); names of other
// folders are ignored. It reports whether anything changed.
func (x *Index) Reload(names ...string) bool {
	x.look.Lock()
	defer x.look.Unlock()
	changed := false
	for _, rel := range names {
		if folder, name := path.Split(rel); folder == Folder+"/" && routines.IsTaskFile(name) {
			changed = x.read(name) || changed
		}
	}
	return changed && x.publish()
}

// read takes in one file and reports whether its state changed.
func (x *Index) read(name string) bool {
	one, known := x.files[name]
	rel := Folder + "/" + name
	data, err := x.d.Read(rel)
	if errors.Is(err, fs.ErrNotExist) {
		delete(x.files, name)
		return known
	}
	if !known {
		one = &file{}
		x.files[name] = one
	}
	if err == nil && clean.Line(name) != name {
		err = errName
	}
	if err != nil {
		problems := []routines.Problem{{File: clean.Line(rel), Severity: routines.Error, Message: clean.Line(fileUnreadable(err))}}
		same := known && slices.Equal(one.problems, problems)
		one.sum, one.bad, one.problems = [sha256.Size]byte{}, true, problems
		return !same
	}
	sum := sha256.Sum256(data)
	if known && sum == one.sum {
		return false
	}
	spec, problems := understand(rel, data)
	spec.Digest = routines.Digest(data)
	one.sum, one.problems, one.bad = sum, problems, routines.HasErrors(problems)
	if !one.bad {
		one.good = &spec
	}
	return true
}

// understand parses, and turns a panic into a problem of the file: one file
// must not take the others along.
func understand(rel string, data []byte) (s Spec, problems []routines.Problem) {
	defer fault.Rescue("a webhook file", func(_ *fault.Error) {
		problems = []routines.Problem{{File: clean.Line(rel), Severity: routines.Error, Message: msgPanic}}
	})
	return Parse(rel, data)
}

// publish makes a new Set of the files and returns true.
func (x *Index) publish() bool {
	next := &Set{Problems: slices.Clone(x.wrong), byID: map[string]int{}}
	names := make([]string, 0, len(x.files))
	for name := range x.files {
		names = append(names, name)
	}
	slices.Sort(names)
	inForce := x.incumbents()
	for _, name := range names {
		one := x.files[name]
		for i, p := range one.problems {
			if i == 0 && one.bad && one.good != nil {
				p.Message += msgLastGood
			}
			next.Problems = append(next.Problems, p)
		}
		if one.good == nil {
			continue
		}
		if x.why != nil {
			if why := x.why(&one.good.Task); why != "" {
				next.Problems = append(next.Problems, routines.Problem{
					File: one.good.Path, Severity: routines.Warning, Message: clean.Line(fmt.Sprintf(msgWaits, why)), Waits: true, Version: one.good.Digest,
				})
				next.Waiting = append(next.Waiting, *one.good)
				continue
			}
		}
		if first, taken := inForce[one.good.ID]; taken && first != one.good.Path {
			next.Problems = append(next.Problems, routines.Problem{
				File: one.good.Path, Severity: routines.Error, Message: clean.Line(fmt.Sprintf(msgDouble, one.good.ID, first)),
			})
			continue
		}
		inForce[one.good.ID] = one.good.Path
		next.byID[one.good.ID] = len(next.Specs)
		next.Specs = append(next.Specs, *one.good)
	}
	slices.SortStableFunc(next.Problems, byWeight)
	x.set.Store(next)
	return true
}

// incumbents are the paths in force by id, of files that still have that id: of
// two with one id they stay, whatever their names.
func (x *Index) incumbents() map[string]string {
	list := map[string]string{}
	old := x.set.Load()
	if old == nil {
		return list
	}
	for _, s := range old.Specs {
		if one := x.files[path.Base(s.Path)]; one != nil && one.good != nil && one.good.ID == s.ID {
			list[s.ID] = s.Path
		}
	}
	return list
}

// byWeight puts errors before warnings; within them the order stays.
func byWeight(a, b routines.Problem) int {
	return strings.Compare(string(a.Severity), string(b.Severity)) // "error" < "warning"
}
