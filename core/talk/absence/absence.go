// Package absence records when the user was last active, across restarts, and summarizes
// what the bot did while they were away. It must not know surfaces, screens or what the
// decisions in the audit log mean.
package absence

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/fork"
)

const (
	// fileName stores when the user was active.
	fileName = store.StateDir + "/presence.json"
	// leastAway is the shortest absence.
	leastAway = 15 * time.Minute
	// writeEvery is how much activity a crash may lose.
	writeEvery = time.Minute
	// pageRuns is the number of runs read at a time, mostRuns the maximum number summarized.
	pageRuns, mostRuns = 200, 5000
	// logShown is the maximum number of decisions in a report.
	logShown = 5000
)

// Span is an absence of the user; zero if there was none.
type Span struct {
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"` // when they came back
}

// Keeper records when the user was active. Use New. Its methods are safe for concurrent
// use. Its lock also orders the writes of the file.
type Keeper struct {
	dir *store.Dir
	log *slog.Logger

	mu      sync.Mutex
	loaded  bool
	written time.Time
	state   state
}

// state is the content of the file.
type state struct {
	Last time.Time `json:"last,omitzero"` // when the user was last active
	Span           // their latest absence
}

// New returns the keeper of a data directory without reading anything.
func New(d *store.Dir, log *slog.Logger) *Keeper { return &Keeper{dir: d, log: log} }

// UserActive records that the user is active now, on any surface. If they have just
// returned, the absence that ends is the one reported from now on.
func (k *Keeper) UserActive(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	if !k.state.Last.IsZero() && now.Sub(k.state.Last) >= leastAway {
		k.state.Span = Span{From: k.state.Last, To: now}
	}
	k.state.Last = now.Round(0)
	if now.Sub(k.written) < writeEvery {
		return
	}
	k.written = now
	if err := k.dir.WriteJSON(fileName, k.state); err != nil {
		k.log.Warn("the user's presence could not be saved", "error", err)
	}
}

// Span returns the user's latest absence. It extends to now while they are away.
func (k *Keeper) Span(now time.Time) Span {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	if last := k.state.Last; !last.IsZero() && now.Sub(last) >= leastAway {
		return Span{From: last, To: now}
	}
	return k.state.Span
}

// load reads the file once; mu is held.
func (k *Keeper) load() {
	if k.loaded {
		return
	}
	k.loaded = true
	if _, err := k.dir.PeekJSON(fileName, &k.state); err != nil {
		k.log.Warn("the user's presence could not be read", "error", err)
	}
}

// Report describes a period of absence, and contains the decisions of all times.
type Report struct {
	Span
	Tasks []Task // failed ones first, then those that pinged, then by name
	Sum   Task   // of all of them
	// Notes are the bot's own reports: missed and held fires, files with errors.
	// Answers are the approvals that were answered. Both are oldest first.
	Notes, Answers []audit.Entry
	// Held are fires held because of a spending cap, Front the runs in the conversation;
	// both are oldest first.
	Held, Front []audit.Entry
	Log         []audit.Entry // newest first
	Damaged     int           // unreadable lines of the log
}

// Task sums up the runs of one task.
type Task struct {
	ID, Title                             string
	Runs, Pings, Refused, Reports, Failed int
	Quiet                                 int // silent messages, which are not pings
	Tokens                                int
	Dollars                               float64
	Run                                   string // the run to open: the newest that failed, or else the newest
	Why                                   string // why it failed
	Ended                                 time.Time
}

// Sum reports an absence from the files of a data directory.
func Sum(d *store.Dir, log *audit.Log, s Span) (Report, error) {
	r := Report{Span: s}
	entries, damaged, err := log.Read(logShown)
	if err != nil {
		return r, err
	}
	r.Damaged = damaged
	for _, e := range entries {
		if !r.covers(e.At) {
			continue
		}
		switch e.Action {
		case audit.Noted:
			r.Notes = append(r.Notes, e)
		case audit.RunHeld:
			r.Held = append(r.Held, e)
		case audit.RunInFront:
			r.Front = append(r.Front, e)
		case audit.ApprovalAnswered:
			r.Answers = append(r.Answers, e)
		}
	}
	slices.Reverse(entries)
	r.Log = entries
	if s.From.IsZero() {
		return r, nil
	}
	err = r.runs(d)
	slices.SortStableFunc(r.Tasks, byTrouble)
	return r, err
}

// covers reports whether a moment is in the span.
func (r *Report) covers(at time.Time) bool {
	return !at.Before(r.From) && !at.After(r.To)
}

// runs adds the runs that ended in the span.
func (r *Report) runs(d *store.Dir) error {
	places := map[string]int{}
	seen := map[string]bool{}
	var p fork.Page
	for n := 0; !p.All && n < mostRuns; n += pageRuns {
		var err error
		if p, err = fork.Past(d, p.Next, pageRuns); err != nil {
			return err
		}
		for i := range p.Runs {
			v := &p.Runs[i]
			if v.Ended.Before(r.From) {
				return nil
			}
			if seen[v.ID] || v.State == fork.NothingNew || !r.covers(v.Ended) {
				continue
			}
			seen[v.ID] = true
			at, known := places[v.TaskID]
			if !known {
				at = len(r.Tasks)
				places[v.TaskID] = at
				r.Tasks = append(r.Tasks, Task{ID: v.TaskID, Title: v.Title})
			}
			r.Tasks[at].add(v)
			r.Sum.add(v)
		}
	}
	return nil
}

// add counts a run. Newer runs are added first.
func (t *Task) add(v *fork.View) {
	t.Runs++
	t.Pings += v.Pings
	t.Quiet += v.Quiet
	t.Refused += v.Refused
	t.Reports += v.Reports
	t.Tokens += v.Usage.Tokens()
	t.Dollars += v.Usage.CostUSD
	failed := v.State.Failed()
	if t.Run == "" || failed && t.Failed == 0 {
		t.Run, t.Why, t.Ended = v.ID, v.Error, v.Ended
	}
	if failed {
		t.Failed++
	}
}

func byTrouble(a, b Task) int {
	return cmp.Or(cmp.Compare(min(b.Failed, 1), min(a.Failed, 1)), cmp.Compare(min(b.Pings, 1), min(a.Pings, 1)), cmp.Compare(a.Title, b.Title))
}
