package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/storage/store"
)

const (
	// ProvenanceFile is ours alone; the original program does not know it.
	ProvenanceFile = store.StateDir + "/provenance.json"
	provenanceTurn = "provenance"
	// keepOrigin is how long the origin of a version is kept that is no longer
	// there: a removed file can be put back.
	keepOrigin = 48 * time.Hour
	// manyOrigins is how many are kept without asking which are still needed.
	manyOrigins = 500
)

// Origin is who has written one version of a file, where it was an agent.
type Origin struct {
	Path   string // of the file when it was written, in the data directory
	Writer Writer
	At     time.Time
	// Excess is what it granted beyond its writer's rights, for people.
	Excess []string
	// Approved is when the user has allowed this version all that it says.
	Approved time.Time
}

// Provenance is state/provenance.json: which versions of task files, skills and
// webhooks an agent has written, with which rights. A version is known by its
// bytes, wherever they lie, so that neither a move nor a link nor another spelling
// of the path makes an agent's words somebody else's. What is not in it is the
// user's.
//
// All methods may be called concurrently; those that look never wait for the disk.
type Provenance struct {
	dir *store.Dir
	// order makes changes follow each other; it is held over the file's writing,
	// because that is what it orders.
	order sync.Mutex
	now   atomic.Pointer[origins]
}

// origins is the file at one moment; nobody may change it.
type origins struct {
	by map[string]Origin // by digest
	// lost is when the file could not be read and was set aside: what is older than
	// that has no known writer.
	lost time.Time
}

// newProvenance names the file of a data directory. It reads nothing yet.
func newProvenance(d *store.Dir) *Provenance {
	p := &Provenance{dir: d}
	p.now.Store(&origins{})
	return p
}

// Find is the origin of a version; false for one that no agent has written.
func (p *Provenance) Find(digest string) (Origin, bool) {
	o, ok := p.now.Load().by[digest]
	return o, ok && digest != ""
}

// Lost is when the file was lost; zero where it never was.
func (p *Provenance) Lost() time.Time { return p.now.Load().lost }

// Load reads the file and says whether it says something else than before. One that
// cannot be understood leaves what is known as it is.
func (p *Provenance) Load() (changed bool, err error) {
	p.order.Lock()
	defer p.order.Unlock()
	var f provenanceFile
	found, err := p.dir.PeekJSON(ProvenanceFile, &f)
	if err != nil {
		return false, fmt.Errorf("read who has written the tasks: %w", err)
	}
	if !found {
		f = provenanceFile{}
	}
	next := f.origins()
	old := p.now.Load()
	if old.lost.Equal(next.lost) && maps.EqualFunc(old.by, next.by, func(a, b Origin) bool { return a.At.Equal(b.At) && a.Approved.Equal(b.Approved) }) {
		return false, nil
	}
	p.now.Store(next)
	return true, nil
}

// record notes that an agent writes a version, before it is there. A version that
// is known already keeps its origin, unless the new writer may have all of it.
func (p *Provenance) record(digest string, o Origin) error {
	if old, known := p.Find(digest); known && (len(old.Excess) == 0 || len(o.Excess) > 0) {
		return nil
	}
	return p.change(func(next *origins) { next.by[digest] = o })
}

// Approve lets a version have all that it says. One without an origin is noted as
// approved too.
func (p *Provenance) Approve(digest, path string, now time.Time) error {
	return p.change(func(next *origins) {
		o := next.by[digest]
		if o.At.IsZero() {
			o.At, o.Path = now, path
		}
		o.Approved = now
		next.by[digest] = o
	})
}

// Withdraw takes an approval back: the version waits again.
func (p *Provenance) Withdraw(digest string) error {
	return p.change(func(next *origins) {
		if o, ok := next.by[digest]; ok {
			o.Approved = time.Time{}
			next.by[digest] = o
		}
	})
}

// Prune forgets versions that have not been there for days, where there are many.
// live reports whether a version is still there.
func (p *Provenance) Prune(now time.Time, live func(digest string) bool) error {
	gone := func(digest string, o Origin) bool { return now.Sub(o.At) > keepOrigin && !live(digest) }
	by := p.now.Load().by
	if len(by) < manyOrigins {
		return nil
	}
	return p.change(func(next *origins) { maps.DeleteFunc(next.by, gone) })
}

// change reads the file again, because a command beside the bot may have written
// it, and replaces it.
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
			// What this program still knows is better than nothing.
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
		p.now.Store(next)
		return nil
	})
	if err != nil {
		return fmt.Errorf("note who has written a task: %w", err)
	}
	return nil
}

// Repair sets a file aside that cannot be understood, and notes that what was known
// is lost; it returns what was wrong, or nil. For the program that owns the
// directory, at its start.
func (p *Provenance) Repair() error {
	var f provenanceFile
	_, err := p.dir.PeekJSON(ProvenanceFile, &f)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, p.change(func(*origins) {}))
}

// provenanceFile is the file. Writers stand in it once: their lists are long.
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
}

func (f provenanceFile) origins() *origins {
	o := &origins{by: make(map[string]Origin, len(f.Written)), lost: f.Lost}
	for digest, e := range f.Written {
		o.by[digest] = Origin{Path: e.Path, Writer: f.Writers[e.Writer], At: e.At, Excess: e.Excess, Approved: e.Approved}
	}
	return o
}

func fileOf(o *origins) provenanceFile {
	f := provenanceFile{Lost: o.lost, Writers: map[string]Writer{}, Written: make(map[string]writtenEntry, len(o.by))}
	for digest, one := range o.by {
		name := one.Writer.name()
		f.Writers[name] = one.Writer
		f.Written[digest] = writtenEntry{Path: one.Path, Writer: name, At: one.At.Round(0), Excess: one.Excess, Approved: one.Approved.Round(0)}
	}
	return f
}

// name is short and the same for the same writer.
func (w Writer) name() string {
	data, err := json.Marshal(w)
	if err != nil { // texts alone: it cannot
		data = []byte(w.Session)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// clone is a writer whose lists are its own.
func (w Writer) clone() Writer {
	w.Allowed, w.Disallowed = slices.Clone(w.Allowed), slices.Clone(w.Disallowed)
	return w
}
