// Package absence knows when the user was here last, over restarts, and sums up what the
// bot did while they were away. It must not know surfaces, screens or what the
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
	// fileName keeps when the user was here.
	fileName = store.StateDir + "/presence.json"
	// leastAway is how long nobody has to be here for it to count as having been away.
	leastAway = 15 * time.Minute
	// writeEvery is how much of the present may be forgotten by a crash.
	writeEvery = time.Minute
	// pageRuns is how many runs are read at once, mostRuns how many are summed up.
	pageRuns, mostRuns = 200, 5000
	// logShown is how many decisions a report has.
	logShown = 5000
)

// Span is a time in which the user was away; zero where they never were.
type Span struct {
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"` // when they came back
}

// Keeper knows when the user was here. Use New; its methods may be called from
// anywhere. Its lock orders the file, too.
type Keeper struct {
	dir *store.Dir
	log *slog.Logger

	mu      sync.Mutex
	loaded  bool
	written time.Time
	state   state
}

type state struct {
	Last time.Time `json:"last,omitzero"` // when the user was here
	Span
}

// New is the keeper of a data directory. Nothing is read yet.
func New(d *store.Dir, log *slog.Logger) *Keeper { return &Keeper{dir: d, log: log} }

// Here notes that the user does something now, wherever that is. Where they come back
// the span since they were here last is the one that is told of from now on.
func (k *Keeper) Here(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	back := !k.state.Last.IsZero() && now.Sub(k.state.Last) >= leastAway
	if back {
		k.state.Span = Span{From: k.state.Last, To: now}
	}
	k.state.Last = now.Round(0)
	if !back && now.Sub(k.written) < writeEvery {
		return
	}
	k.written = now
	if err := k.dir.WriteJSON(fileName, k.state); err != nil {
		k.log.Warn("when the user was here is not kept", "error", err)
	}
}

// Span is when the user was away last: up to now while nobody has come back for long.
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
		k.log.Warn("when the user was here is not known", "error", err)
		k.state = state{}
	}
}

// Report is what happened in a span, and the decisions of all times.
type Report struct {
	Span
	Tasks []Task // those that failed first, then those that pinged, then by name
	Sum   Task   // of all of them
	// Notes is what the bot had to tell by itself: missed and held fires, files with
	// errors. Answers are the approvals that were answered. Both are the oldest first.
	Notes, Answers []audit.Entry
	// Held are fires that were held for money, Front the runs in the conversation; both
	// are the oldest first.
	Held, Front []audit.Entry
	Log         []audit.Entry // newest first
	Damaged     int           // lines of the log that cannot be read
}

// Task is what the runs of one task did.
type Task struct {
	ID, Title                             string
	Runs, Pings, Refused, Reports, Failed int
	Tokens                                int
	Dollars                               float64
	Run                                   string // the run to look at: the newest that failed, else the newest
	Why                                   string // why that one failed
	Ended                                 time.Time
}

// Sum looks a span up in the files of a data directory.
func Sum(d *store.Dir, log *audit.Log, s Span) (Report, error) {
	r := Report{Span: s}
	entries, damaged, err := log.Read(logShown)
	if err != nil {
		return r, err
	}
	r.Damaged = damaged
	for _, e := range entries {
		if !r.holds(e.At) {
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
	return r, r.runs(d)
}

func (r *Report) holds(at time.Time) bool {
	return !r.From.IsZero() && !at.Before(r.From) && !at.After(r.To)
}

// runs adds the runs that have ended in the span.
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
				return r.order()
			}
			if seen[v.ID] || !r.holds(v.Ended) {
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
	return r.order()
}

// add counts a run that is older than those before it.
func (t *Task) add(v *fork.View) {
	t.Runs++
	t.Pings += v.Pings
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

func (r *Report) order() error {
	slices.SortStableFunc(r.Tasks, func(a, b Task) int {
		return cmp.Or(cmp.Compare(min(b.Failed, 1), min(a.Failed, 1)), cmp.Compare(min(b.Pings, 1), min(a.Pings, 1)), cmp.Compare(a.Title, b.Title))
	})
	return nil
}
