package fork

import (
	"fmt"
	"math"
	"slices"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/tail"
	"ollimbot/routines"
)

// State is where a run stands.
type State string

// The states of a run. All but Waiting and Running are final.
const (
	Waiting     State = "waiting"
	Running     State = "running"
	Done        State = "done"
	Failed      State = "failed"
	TimedOut    State = "timed out"
	Stopped     State = "stopped"     // the user stopped it
	Interrupted State = "interrupted" // the program ended under it
	NoReport    State = "no report"   // it ended and still owed its report
)

// View is one run as dashboards and the ledger see it: a value, never shared.
type View struct {
	ID       string        `json:"id"` // of the run: 8 hex characters
	Kind     routines.Kind `json:"kind"`
	TaskID   string        `json:"task"`
	Title    string        `json:"title"` // what people call the task
	State    State         `json:"state"`
	Position int           `json:"-"` // in the queue while waiting, from 1
	Queued   time.Time     `json:"queued,omitzero"`
	Started  time.Time     `json:"started,omitzero"` // zero while waiting
	Ended    time.Time     `json:"ended,omitzero"`   // zero until final
	Timeout  time.Duration `json:"-"`
	Late     bool          `json:"late"`
	Model    string        `json:"model"`
	Session  string        `json:"session"` // session id, once known
	Parent   string        `json:"parent"`  // main session id at start; empty when isolated
	Activity string        `json:"-"`       // the newest tail line in a few words
	Error    string        `json:"error"`   // why it failed, for people

	Tools    int `json:"tools"`    // tool calls
	Pings    int `json:"pings"`    // messages that reached the user, critical ones too
	Critical int `json:"critical"` // of these, critical
	Refused  int `json:"refused"`  // pings that were refused
	// Tainted is what the run has read of strangers' words, "" for nothing: its tools
	// that write or run commands are off, unless it is Trusted by its file.
	Tainted string      `json:"tainted,omitempty"`
	Trusted bool        `json:"trusted,omitempty"`
	Reports int         `json:"reports"` // updates for the main session
	Usage   agent.Usage `json:"-"`
	Lines   uint64      `json:"-"` // tail lines ever written
}

// Live reports whether the run still waits or runs.
func (v View) Live() bool { return v.State == Waiting || v.State == Running }

// Count is how many runs go on, and how many wait for that.
func Count(runs []View) (running, waiting int) {
	for i := range runs {
		switch runs[i].State {
		case Running:
			running++
		case Waiting:
			waiting++
		}
	}
	return running, waiting
}

// Rate is how often the runs of a task reach the user.
type Rate struct {
	Runs  int // that have ended
	Pings int // of these, critical ones too
	Paid  int // pings that cost a token
}

// PerRun is how many pings a run sends; of a task that never ran, one.
func (r Rate) PerRun() float64 {
	if r.Runs == 0 {
		return 1
	}
	return float64(r.Pings) / float64(r.Runs)
}

// Costs is how likely a run costs a token, from 0 to 1; of a task that never ran, 1.
func (r Rate) Costs() float64 {
	if r.Runs == 0 {
		return 1
	}
	return min(1, float64(r.Paid)/float64(r.Runs))
}

// Rates counts the runs that have ended, by task.
func Rates(runs []View) map[string]Rate {
	rates := map[string]Rate{}
	for _, v := range runs {
		count(rates, v)
	}
	return rates
}

func count(rates map[string]Rate, v View) {
	if v.Live() || v.Started.IsZero() {
		return
	}
	r := rates[v.TaskID]
	rates[v.TaskID] = Rate{Runs: r.Runs + 1, Pings: r.Pings + v.Pings, Paid: r.Paid + v.Pings - v.Critical}
}

// Rate is that of a task, over all runs that the ledger still has.
func (m *Manager) Rate(task string) Rate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rates[task]
}

// Past are the newest n runs of a task that have ended, the oldest first.
func (m *Manager) Past(task string, n int) ([]View, error) {
	all, err := Ledger(m.o.Dir, math.MaxInt)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(v View) bool { return v.TaskID != task || v.Live() })
	all = all[:min(n, len(all))]
	slices.Reverse(all)
	for i := range all {
		all[i] = inZone(all[i], m.zone)
	}
	return all, nil
}

// Stop ends a waiting or running run. The error is a sentence for people.
func (m *Manager) Stop(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range slices.Concat(m.waiting, m.running) {
		if r.id == id {
			r.stopOnce.Do(func() { close(r.stopped) })
			return nil
		}
	}
	for _, r := range m.finished {
		if r.id == id {
			return fmt.Errorf(textAlreadyEnded, r.snapshot().Title)
		}
	}
	for _, v := range m.past {
		if v.ID == id {
			return fmt.Errorf(textAlreadyEnded, v.Title)
		}
	}
	return fmt.Errorf(textNoRun, id)
}

// Views is every run that a dashboard shows: running ones in order of start,
// waiting ones with their position, then the newest 20 finished.
func (m *Manager) Views() []View {
	m.mu.Lock()
	running, waiting, finished := slices.Clone(m.running), slices.Clone(m.waiting), slices.Clone(m.finished)
	past := m.past
	m.mu.Unlock()
	list := make([]View, 0, len(running)+len(waiting)+keptRuns)
	for _, v := range past { // another program's live runs, when this one does not serve
		if v.Live() {
			list = append(list, v)
		}
	}
	for _, r := range running {
		list = append(list, r.snapshot())
	}
	for i, r := range waiting {
		v := r.snapshot()
		v.Position = i + 1
		list = append(list, v)
	}
	live := len(list)
	for _, r := range finished {
		list = append(list, r.snapshot())
	}
	for _, v := range past {
		if !v.Live() {
			list = append(list, v)
		}
	}
	return list[:min(len(list), live+keptRuns)]
}

// Tail reads a run's lines from a cursor: from memory while it lives and for
// the newest 20 finished, otherwise from the file of its tail. False means
// that nothing is known of the run.
func (m *Manager) Tail(id string, from tail.Cursor) (tail.Page, bool) {
	m.mu.Lock()
	var ring *tail.Ring
	for _, r := range slices.Concat(m.running, m.waiting, m.finished) {
		if r.id == id {
			ring = r.ring
		}
	}
	m.mu.Unlock()
	if ring != nil {
		return ring.Read(from), true
	}
	page, err := DiskTail(m.o.Dir, id, from)
	return page, err == nil
}
