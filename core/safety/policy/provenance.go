package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/storage/store"
)

const (
	// ProvenanceFile records which agents wrote which files.
	ProvenanceFile = store.StateDir + "/provenance.json"
	provenanceTurn = "provenance"
	// keepOrigin is how long the origin of a removed version is kept, because the file can be
	// restored.
	keepOrigin = 48 * time.Hour
	// manyOrigins is the number of origins below which none is pruned.
	manyOrigins = 500
)

// Origin is the agent that wrote one version of a file.
type Origin struct {
	Path   string // of the file when it was written, in the data directory
	Writer Writer
	At     time.Time
	// Excess describes what it granted beyond its writer's rights.
	Excess []string
	// Approved is when the user approved everything that this version grants, in the file For. It
	// ends when that file goes, or changes, or is written again (Provenance.EndApprovals, record).
	Approved time.Time
	For      string
	// anywhere means that an earlier version of the program stored the approval, for any file.
	anywhere bool
	// Before is the version that it replaced, whose text stays in force while this one waits.
	Before string
	// Own are the files that had the same bytes when the agent wrote them: there the version is not
	// the agent's, until that file goes or changes.
	Own []string
	// guessed means that the version was found in the file, or that its grants were not compared with the writer's rights: the
	// record replaces no known origin, because another session may have recorded the version in the meantime.
	guessed bool
}

// in reports whether the version is the agent's in a file.
func (o Origin) in(rel string) bool {
	return !slices.ContainsFunc(o.Own, func(own string) bool { return strings.EqualFold(own, rel) })
}

// approvedIn reports whether the user has approved the version in this file.
func (o Origin) approvedIn(rel string) bool {
	return !o.Approved.IsZero() && strings.EqualFold(o.For, rel)
}

// Provenance is state/provenance.json: which versions of task files, skills and webhooks an agent
// wrote, and with which rights. A version is identified by its bytes, so that moving, linking or
// respelling a path does not change its author; the files that had these bytes before keep theirs
// (Origin.Own). All other versions are the user's.
//
// All methods may be called concurrently; reads never wait for the disk.
type Provenance struct {
	// Scripts are those that the checks of routines run.
	Scripts *Scripts

	dir *store.Dir
	// order serializes changes. It is held while the file is written, because it orders those
	// writes.
	order sync.Mutex
	now   atomic.Pointer[origins]
}

// origins is an immutable snapshot of the file.
type origins struct {
	by map[string]Origin // by digest
	// labeled are the entries of by whose writers had a label and which the user has not approved.
	labeled map[string]Origin
	// lost is when an unreadable file was set aside. Older versions have no known writer.
	lost time.Time
}

// index finds the labeled versions.
func (o *origins) index() *origins {
	o.labeled = map[string]Origin{}
	for digest, one := range o.by {
		if one.Writer.Label != "" && one.Approved.IsZero() {
			o.labeled[digest] = one
		}
	}
	return o
}

// newProvenance returns the record of a data directory without reading it.
func newProvenance(d *store.Dir) *Provenance {
	p := &Provenance{dir: d, Scripts: &Scripts{dir: d}}
	p.now.Store(&origins{})
	return p
}

// Find returns the origin of a version in a file. ok is false if no agent wrote it there.
func (p *Provenance) Find(rel, digest string) (Origin, bool) {
	o, ok := p.now.Load().by[digest]
	if !ok || digest == "" || !o.in(rel) {
		return Origin{}, false
	}
	return o, true
}

// Known reports whether an agent has written a version in any file.
func (p *Provenance) Known(digest string) bool {
	_, ok := p.now.Load().by[digest]
	return ok
}

// labeled returns the versions that a session with a label wrote, by digest.
func (p *Provenance) labeled() map[string]Origin { return p.now.Load().labeled }

// Lost returns when the file was lost; zero if never.
func (p *Provenance) Lost() time.Time { return p.now.Load().lost }

// Load reads the file and reports whether it has changed. An invalid file changes nothing.
func (p *Provenance) Load() (changed bool, err error) {
	p.order.Lock()
	defer p.order.Unlock()
	var f provenanceFile
	found, err := p.dir.PeekJSON(ProvenanceFile, &f)
	if err != nil {
		return false, fmt.Errorf("read the writers of tasks: %w", err)
	}
	if !found {
		f = provenanceFile{}
	}
	next := f.origins()
	old := p.now.Load()
	if old.lost.Equal(next.lost) && maps.EqualFunc(old.by, next.by, func(a, b Origin) bool {
		return a.At.Equal(b.At) && a.Approved.Equal(b.Approved) && a.For == b.For && a.Before == b.Before && slices.Equal(a.Own, b.Own)
	}) {
		return false, nil
	}
	p.now.Store(next.index())
	return true, nil
}

// record stores that an agent is about to write a version. A known version keeps its origin, unless
// the new writer has all the rights that it grants, or something that the old writer had kept of
// the user's is gone. The version that it replaces is always updated. The approval of that file ends,
// because the user approved what was there before, unless the same version is in force anyway.
func (p *Provenance) record(digest string, o Origin) (ended bool, err error) {
	if o.Before == digest {
		return false, nil
	}
	old, known := p.now.Load().by[digest]
	if _, _, changes := o.over(old, known); !changes {
		return false, nil
	}
	// Another session may record the same version at this moment.
	err = p.change(func(next *origins) {
		old, known := next.by[digest]
		next.by[digest], ended, _ = o.over(old, known)
	})
	return ended, err
}

// over is what becomes of the origin of a version when o is recorded, whether an approval ends with that, and whether
// anything changes.
func (o Origin) over(old Origin, known bool) (next Origin, ended, changes bool) {
	if !known {
		return o, false, true
	}
	// A file that got the bytes later, or was written again, is not one of those that had them before.
	own := slices.DeleteFunc(slices.Clone(old.Own), func(rel string) bool { return o.in(rel) })
	lapsed := len(old.Writer.Kept) > 0 && old.Approved.IsZero() && len(o.Excess) > 0
	ended, changes = old.approvedIn(o.Path), true
	if o.guessed || !lapsed && (len(old.Excess) == 0 || len(o.Excess) > 0) {
		changes = ended || o.Before != "" && o.Before != old.Before || len(own) != len(old.Own)
		if old.Before = cmp.Or(o.Before, old.Before); ended {
			old.Approved, old.For = time.Time{}, ""
		}
		o = old
	}
	o.Own = own
	return o, ended, changes
}

// inherit stores that the program is about to write a version that follows another, and has its origin
// and its approval.
func (p *Provenance) inherit(digest string, o Origin) error {
	return p.change(func(next *origins) { next.by[digest] = o })
}

// Approve approves everything that a version grants in the file at a path. A version without an origin
// is recorded as approved, too.
func (p *Provenance) Approve(digest, path string, now time.Time) error {
	return p.change(func(next *origins) {
		o := next.by[digest]
		if o.At.IsZero() {
			o.At, o.Path = now, path
		}
		o.Approved, o.For = now, path
		next.by[digest] = o
	})
}

// Withdraw revokes an approval: the version waits again.
func (p *Provenance) Withdraw(digest string) error {
	return p.change(func(next *origins) {
		if o, ok := next.by[digest]; ok {
			o.Approved, o.For = time.Time{}, ""
			next.by[digest] = o
		}
	})
}

// Adopt binds the approvals that an earlier version of the program stored to the files that are there now
// with those bytes. files are their paths by digest.
func (p *Provenance) Adopt(files map[string]string) error {
	adopts := func(digest string, o Origin) bool { return o.anywhere && files[digest] != "" }
	for digest, o := range p.now.Load().by {
		if adopts(digest, o) {
			return p.change(func(next *origins) {
				for digest, o := range next.by {
					if adopts(digest, o) {
						o.For, o.anywhere = files[digest], false
						next.by[digest] = o
					}
				}
			})
		}
	}
	return nil
}

// fresh is how long an approval waits for its file, which is written after it.
const fresh = time.Minute

// Ended is an approval that has ended.
type Ended struct{ File, Digest string }

// EndApprovals ends the approvals of versions that are no longer in their files, and returns them; such
// files have also stopped being the user's own (Origin.Own). has
// reports whether a file has a version, or is broken and its last valid version is in force. again is
// when the youngest approvals have to be checked; zero if there are none.
func (p *Provenance) EndApprovals(now time.Time, has func(file, digest string) bool) (ended []Ended, again time.Time, err error) {
	var left []Ended // files that were the user's own
	for digest, o := range p.now.Load().by {
		for _, own := range o.Own {
			if !has(own, digest) {
				left = append(left, Ended{own, digest})
			}
		}
		switch {
		case o.Approved.IsZero() || has(o.For, digest):
		case now.Sub(o.Approved) < fresh:
			if next := o.Approved.Add(fresh); again.IsZero() || next.Before(again) {
				again = next
			}
		default:
			ended = append(ended, Ended{o.For, digest})
		}
	}
	if ended == nil && left == nil {
		return nil, again, nil
	}
	return ended, again, p.change(func(next *origins) {
		for _, one := range ended {
			if o := next.by[one.Digest]; o.For == one.File {
				o.Approved, o.For = time.Time{}, ""
				next.by[one.Digest] = o
			}
		}
		for _, one := range left {
			o := next.by[one.Digest]
			o.Own = slices.DeleteFunc(slices.Clone(o.Own), func(own string) bool { return own == one.File })
			next.by[one.Digest] = o
		}
	})
}

// unlabel removes the label of a version that the user has approved.
func (p *Provenance) unlabel(digest string) error {
	if p.now.Load().by[digest].Writer.Label == "" {
		return nil
	}
	return p.change(func(next *origins) {
		o := next.by[digest]
		o.Writer.Label = ""
		next.by[digest] = o
	})
}

// Before returns the version that was in force before an agent wrote a version of a task or
// a webhook; "" if none was, or if it is not known.
func (p *Provenance) Before(version string) string { return p.now.Load().by[version].Before }

// Replaced returns a test for the versions that are needed while the versions that replaced them
// wait. Those are live, or were written recently and can be restored.
func (p *Provenance) Replaced(now time.Time, live func(digest string) bool) func(version string) bool {
	by := p.now.Load().by
	return func(version string) bool {
		for digest, o := range by {
			// live may have to read all files.
			if version != "" && o.Before == version && (now.Sub(o.At) <= keepOrigin || live(digest)) {
				return true
			}
		}
		return false
	}
}

// Prune forgets versions that were removed days ago, if there are many. live reports
// whether a version still exists.
func (p *Provenance) Prune(now time.Time, live func(digest string) bool) error {
	gone := func(digest string, o Origin) bool { return now.Sub(o.At) > keepOrigin && !live(digest) }
	by := p.now.Load().by
	if len(by) < manyOrigins {
		return nil
	}
	return p.change(func(next *origins) { maps.DeleteFunc(next.by, gone) })
}

// change reads the file again, because another process may have written it, and replaces it.
func (p *Provenance) change(do func(*origins)) error {
	p.order.Lock()
	defer p.order.Unlock()
	err := p.dir.WithLock(provenanceTurn, func() error {
		var f provenanceFile
		_, err := p.dir.ReadJSON(ProvenanceFile, &f)
		next := f.origins()
		var corrupt *store.CorruptError
		switch {
		case errors.As(err, &corrupt):
			// Keep the entries in memory.
			next = &origins{by: maps.Clone(p.now.Load().by), lost: time.Now()}
			if info, err := os.Stat(p.dir.Path(corrupt.Kept)); err == nil && info.ModTime().After(next.lost) {
				next.lost = info.ModTime() // the clock was set back
			}
			if next.by == nil {
				next.by = map[string]Origin{}
			}
		case err != nil:
			return err
		}
		do(next)
		if err := p.dir.WriteJSON(ProvenanceFile, fileOf(next)); err != nil {
			return err
		}
		p.now.Store(next.index())
		return nil
	})
	if err != nil {
		return fmt.Errorf("record the writer of a task: %w", err)
	}
	return nil
}

// Repair sets an invalid file aside and records the loss. It returns the error in the file, or nil.
// Call it at the start of the program that owns the directory.
func (p *Provenance) Repair() error {
	var f provenanceFile
	_, err := p.dir.PeekJSON(ProvenanceFile, &f)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, p.change(func(*origins) {}))
}

// provenanceFile is the file. Each writer is stored once, because their lists are long.
type provenanceFile struct {
	Lost    time.Time               `json:"lost,omitzero"`
	Writers map[string]Writer       `json:"writers,omitempty"`
	Written map[string]writtenEntry `json:"written,omitempty"` // by digest
}

type writtenEntry struct {
	Path     string    `json:"path"`
	Writer   string    `json:"writer,omitempty"`
	At       time.Time `json:"at"`
	Excess   []string  `json:"excess,omitempty"`
	Approved time.Time `json:"approved,omitzero"`
	For      string    `json:"for,omitempty"` // earlier versions of the program left it out, and meant any file
	Before   string    `json:"before,omitempty"`
	Own      []string  `json:"own,omitempty"`
}

func (f provenanceFile) origins() *origins {
	o := &origins{by: make(map[string]Origin, len(f.Written)), lost: f.Lost}
	for digest, e := range f.Written {
		o.by[digest] = Origin{Path: e.Path, Writer: f.Writers[e.Writer], At: e.At, Excess: e.Excess, Approved: e.Approved, For: e.For, Before: e.Before, Own: e.Own}
		if one := o.by[digest]; !e.Approved.IsZero() && e.For == "" {
			one.For, one.anywhere = e.Path, true
			o.by[digest] = one
		}
	}
	return o
}

func fileOf(o *origins) provenanceFile {
	f := provenanceFile{Lost: o.lost, Writers: map[string]Writer{}, Written: make(map[string]writtenEntry, len(o.by))}
	for digest, one := range o.by {
		name := one.Writer.name()
		f.Writers[name] = one.Writer
		f.Written[digest] = writtenEntry{
			Path: one.Path, Writer: name, At: one.At.Round(0), Excess: one.Excess, Approved: one.Approved.Round(0), For: one.For, Before: one.Before, Own: one.Own,
		}
	}
	return f
}

// name identifies a writer by its content.
func (w Writer) name() string {
	data, err := json.Marshal(w)
	if err != nil { // strings always marshal
		data = []byte(w.Session)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// clone also copies the lists.
func (w Writer) clone() Writer {
	w.Allowed, w.Disallowed = slices.Clone(w.Allowed), slices.Clone(w.Disallowed)
	return w
}
