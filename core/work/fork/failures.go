package fork

import (
	"slices"
	"sync"
	"time"

	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

const (
	// seenName stores which failures the user has looked at, across restarts.
	seenName = store.StateDir + "/failures_seen.json"
	// keptFailures is the maximum number of failures kept until the user looks.
	keptFailures = 200
)

// seen is the saved state: the user has looked at every failure up to Since and at those
// in Runs.
type seen struct {
	Since time.Time `json:"since"`
	Runs  []string  `json:"runs"` // ids
}

// failures are failed runs that the user has not looked at.
type failures struct {
	o *Options

	mu   sync.Mutex // guards the fields below and serialises access to the file
	list []View     // newest first
	seen seen
}

// Failures returns the failed runs that the user has not looked at, newest first: at most
// 200, including those from before a restart.
func (f *failures) Failures() []View {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

// MarkSeen records that the user has looked at runs. Unknown ids are ignored.
func (f *failures) MarkSeen(runs ...string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.list)
	f.list = slices.DeleteFunc(slices.Clone(f.list), func(v View) bool { return slices.Contains(runs, v.ID) })
	if len(f.list) == n {
		return nil
	}
	f.seen.Runs = append(f.seen.Runs, runs...)
	if len(f.list) == 0 {
		f.seen = seen{Since: f.o.now()}
	}
	return f.o.Dir.WriteJSON(seenName, f.seen)
}

// add records a run if it has failed.
func (f *failures) add(v View) {
	if !v.State.Failed() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = slices.Insert(slices.Clone(f.list), 0, v)
	f.list = f.list[:min(len(f.list), keptFailures)]
}

// recall finds failures from before the restart that the user has not looked at. At the
// first start, without a file, there are none.
func (f *failures) recall() {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, err := f.o.Dir.LoadJSON(seenName, &f.seen, f.o.Log)
	if err != nil {
		f.o.Log.Warn("the list of seen failures could not be read", "error", err)
	}
	if !found {
		f.seen = seen{Since: f.o.now()}
		if err := f.o.Dir.WriteJSON(seenName, f.seen); err != nil {
			f.o.Log.Warn("the list of seen failures could not be saved", "error", err)
		}
		return
	}
	var from jsonl.Cursor
	for more := true; more; {
		p, err := Past(f.o.Dir, from, keptFailures)
		if err != nil {
			f.o.Log.Warn("earlier failures could not be read", "error", err)
			return
		}
		from, more = p.Next, !p.All
		for _, v := range p.Runs {
			if !v.Ended.After(f.seen.Since) || len(f.list) == keptFailures {
				return
			}
			known := slices.ContainsFunc(f.list, func(o View) bool { return o.ID == v.ID })
			if v.State.Failed() && !known && !slices.Contains(f.seen.Runs, v.ID) {
				f.list = append(f.list, inZone(v, f.o.Zone))
			}
		}
	}
}
