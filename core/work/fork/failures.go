package fork

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
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
	read bool       // the earlier ones are in the list
	list []View     // newest first
	seen seen
}

// Failures returns the failed runs that the user has not looked at, newest first: at most
// 200, including those from before a restart.
func (f *failures) Failures() []View {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.read { // a command without a running bot, which writes nothing
		f.find(func(seen *seen) (bool, error) { return f.o.Dir.PeekJSON(seenName, seen) })
	}
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

// answers reports whether a run answers the failures of its task before it: the user need not look at what works
// again. Each delivery of a webhook is a matter of its own.
func (v View) answers() bool { return v.State == Done && v.TaskID != "" && v.Kind != routines.KindWebhook }

// add records a run if it has failed, or removes the failures that it answers.
func (f *failures) add(v View) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if v.answers() {
		f.list = slices.DeleteFunc(slices.Clone(f.list), func(o View) bool { return o.TaskID == v.TaskID })
	}
	if !v.State.Failed() {
		return
	}
	f.list = slices.Insert(slices.Clone(f.list), 0, v)
	f.list = f.list[:min(len(f.list), keptFailures)]
}

// recall finds failures from before the restart that the user has not looked at. At the
// first start, without a file, there are none.
func (f *failures) recall() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.find(func(seen *seen) (bool, error) { return f.o.Dir.LoadJSON(seenName, seen, f.o.Log) }) {
		return
	}
	f.seen = seen{Since: f.o.now()}
	if err := f.o.Dir.WriteJSON(seenName, f.seen); err != nil {
		f.o.Log.Warn("the list of seen failures could not be saved", "error", err)
	}
}

// find lists the failures that the user has not looked at. found is false if there is no file of those that they have.
func (f *failures) find(load func(*seen) (bool, error)) (found bool) {
	f.read = true
	found, err := load(&f.seen)
	if err != nil {
		f.o.Log.Warn("the list of seen failures could not be read", "error", err)
	}
	if !found {
		return false
	}
	var from jsonl.Cursor
	answered := map[string]bool{} // tasks
	for more := true; more; {
		p, err := Past(f.o.Dir, from, keptFailures)
		if err != nil {
			f.o.Log.Warn("earlier failures could not be read", "error", err)
			return true
		}
		from, more = p.Next, !p.All
		for _, v := range p.Runs {
			if !v.Ended.After(f.seen.Since) || len(f.list) == keptFailures {
				return true
			}
			known := slices.ContainsFunc(f.list, func(o View) bool { return o.ID == v.ID })
			if v.answers() {
				answered[v.TaskID] = true
			}
			if v.State.Failed() && !known && !answered[v.TaskID] && !slices.Contains(f.seen.Runs, v.ID) {
				f.list = append(f.list, inZone(v, f.o.Zone))
			}
		}
	}
	return true
}

// identify returns the identity of a message, which the run that repeats a fire gives to the
// same words again, and the ping of the earlier run that has it; a zero Ping if there is none. A
// run that has ended is not repeated, so what it sent is another message, as is what this run
// sends twice.
func (t *tools) identify(p post.Post) (id string, earlier budget.Ping) {
	for n := 0; ; n++ {
		id = identity(cmp.Or(t.job.Fire, t.status.id), p, n)
		if t.named[id] {
			continue
		}
		ping, known := t.o.Journal.Ping(id)
		switch {
		case !known:
			return id, budget.Ping{}
		case t.cutOff(ping.Run):
			return id, ping
		}
	}
}

// identity identifies the nth message of the same content for a fire. It fits into a nonce of
// Discord.
func identity(fire string, p post.Post, n int) string {
	content, err := json.Marshal(struct {
		Fire, Text string
		Embed      *post.Embed
		Files      []string
		N          int
	}{fire, p.Text, p.Embed, p.Files, n})
	if err != nil {
		panic(err) // it has only texts and numbers
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:10])
}

// cutOff reports whether the end of the program has ended a run.
func (t *tools) cutOff(run string) bool {
	v, ok, err := Find(t.o.Dir, run)
	if err != nil {
		t.o.Log.Warn("a run that may have sent a ping before could not be looked up", "run", run, "error", err)
	}
	return ok && (v.State == Interrupted || v.State == Running)
}
