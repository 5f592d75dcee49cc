package fork

import (
	"fmt"
	"math"
	"slices"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// State is the state of a run.
type State string

// The states of a run. All but Waiting and Running are final.
const (
	Waiting     State = "waiting"
	Running     State = "running"
	Done        State = "done"
	Failed      State = "failed"
	TimedOut    State = "timed out"
	Stopped     State = "stopped"     // the user stopped it
	Interrupted State = "interrupted" // the program ended during the run
	NothingNew  State = "nothing new" // its check found no reason to run; no model was asked
	NoReport    State = "no report"   // it ended without its required report
)

// View is a run as shown to dashboards and stored in the ledger: a value, never shared.
type View struct {
	ID       string        `json:"id"` // of the run: 8 hex characters
	Kind     routines.Kind `json:"kind"`
	TaskID   string        `json:"task"`
	Title    string        `json:"title"` // the task's display name
	State    State         `json:"state"`
	Position int           `json:"-"` // in the queue while waiting, from 1
	Queued   time.Time     `json:"queued,omitzero"`
	Started  time.Time     `json:"started,omitzero"` // zero while queued
	Ended    time.Time     `json:"ended,omitzero"`   // zero until final
	Timeout  time.Duration `json:"-"`
	// Due is the time of the reminder the run was for, as in its file.
	Due time.Time `json:"due,omitzero"`
	// Delivery is the delivery of a webhook that the run is for, once the model was asked.
	Delivery string `json:"delivery,omitempty"`
	Late     bool   `json:"late"`
	Model    string `json:"model"`
	Session  string `json:"session"` // session id, once known
	Parent   string `json:"parent"`  // main session id at start; empty when isolated
	Activity string `json:"-"`       // the newest tail line, shortened
	Error    string `json:"error"`   // why it failed, for the user

	Tools     int `json:"tools"`               // tool calls
	Pings     int `json:"pings"`               // messages that reached the user, including critical ones
	Critical  int `json:"critical"`            // of these, critical
	Essential int `json:"essential,omitempty"` // of the pings, how many the budget could not refuse
	Quiet     int `json:"quiet,omitempty"`     // silent messages, which are not pings
	Refused   int `json:"refused"`             // pings that were refused
	// Label is the label of what the run has read, or "". With a label, tools that write or
	// run commands are off, unless the task's file makes it Trusted.
	Label   label.Label `json:"tainted,omitempty"`
	Trusted bool        `json:"trusted,omitempty"`
	Reports int         `json:"reports"` // updates for the main session
	// Stopped is what the run has done to its own routine, such as "ended itself"; empty for nothing.
	Stopped string `json:"stopped_routine,omitempty"`
	// NoModel means that it asks none: the message is what its check printed.
	NoModel bool        `json:"no_model,omitempty"`
	Usage   agent.Usage `json:"-"`
	Lines   uint64      `json:"-"` // tail lines ever written
	// Aside means that it waits for money that is set aside for runs under way.
	Aside bool `json:"-"`
}

// fields is a View without MarshalJSON, for its tags.
type fields View

// MarshalJSON implements json.Marshaler: a run with all that is always there. A time that is not known yet is the zero time.
func (v View) MarshalJSON() ([]byte, error) {
	return store.JSONLine(struct {
		fields
		Queued  time.Time   `json:"queued"`
		Started time.Time   `json:"started"`
		Ended   time.Time   `json:"ended"`
		Tokens  int         `json:"tokens"`
		Cost    float64     `json:"cost_usd"`
		Label   label.Label `json:"tainted"`
		Trusted bool        `json:"trusted"`
	}{fields(v), v.Queued, v.Started, v.Ended, v.Usage.Tokens(), v.Usage.CostUSD, v.Label, v.Trusted})
}

// Failed reports whether a run in this state did not do its job.
func (s State) Failed() bool { return s == Failed || s == TimedOut || s == NoReport }

// ended reports whether a run in this state must not be repeated.
func (s State) ended() bool { return s != Waiting && s != Running && s != Interrupted }

// Spent returns the dollars of the run for people. It is empty if it has cost nothing, or nothing that is known.
func (v View) Spent() string {
	if v.Usage.CostUSD <= 0 {
		return ""
	}
	return words.Dollars(v.Usage.CostUSD)
}

// Live reports whether the run is queued or running.
func (v View) Live() bool { return v.State == Waiting || v.State == Running }

// Count returns how many runs are running, and how many are queued.
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

// Rate is how often the runs of a task ping the user.
type Rate struct {
	Runs  int // ended runs
	Pings int // their pings, including critical ones
	Paid  int // pings that cost a token
}

// PerRun returns the pings per run; 1 for a task that never ran.
func (r Rate) PerRun() float64 {
	if r.Runs == 0 {
		return 1
	}
	return float64(r.Pings) / float64(r.Runs)
}

// fewRuns is how many runs say something about the next one.
const fewRuns = 3

// Costs returns the probability that a run costs a token, from 0 to 1. Runs that are missing from a few count as if each
// had cost one: a single run without a ping proves nothing.
func (r Rate) Costs() float64 {
	missing := max(0, fewRuns-r.Runs)
	return min(1, float64(r.Paid+missing)/float64(r.Runs+missing))
}

// Rates counts the ended runs by task.
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
	rates[v.TaskID] = Rate{Runs: r.Runs + 1, Pings: r.Pings + v.Pings, Paid: r.Paid + v.Pings - v.Critical - v.Essential}
}

// Rate returns the rate of a task, over all its runs in the ledger.
func (m *Manager) Rate(task string) Rate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rates[task]
}

// Past returns the newest n ended runs of a task, oldest first.
func (m *Manager) Past(task string, n int) ([]View, error) {
	all, err := Ledger(m.o.Dir, math.MaxInt)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(v View) bool { return v.TaskID != task || v.Live() })
	all = all[:min(n, len(all))]
	slices.Reverse(all)
	for i := range all {
		all[i] = inZone(all[i], m.o.Zone)
	}
	return all, nil
}

// Stop ends a queued or running run. The error is a sentence for the user.
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
			return fmt.Errorf(textAlreadyEnded, r.status.snapshot().Title)
		}
	}
	for _, v := range m.past {
		if v.ID == id {
			return fmt.Errorf(textAlreadyEnded, v.Title)
		}
	}
	return fmt.Errorf(textNoRun, id)
}

// Place returns the queue position of the next job; 0 if it would start at once.
func (m *Manager) Place() int {
	limit := m.limit()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waiting) == 0 && len(m.running) < limit {
		return 0
	}
	return len(m.waiting) + 1
}

// Views returns every run that a dashboard shows: running ones by start, queued ones with
// their position, then the newest 20 finished.
func (m *Manager) Views() []View {
	m.mu.Lock()
	running, waiting, finished := slices.Clone(m.running), slices.Clone(m.waiting), slices.Clone(m.finished)
	past := m.past
	m.mu.Unlock()
	list := make([]View, 0, len(running)+len(waiting)+keptRuns)
	for _, v := range past { // live runs of another process, if this one does not serve the queue
		if v.Live() {
			list = append(list, v)
		}
	}
	for _, r := range running {
		list = append(list, r.status.snapshot())
	}
	for i, r := range waiting {
		v := r.status.snapshot()
		v.Position = i + 1
		list = append(list, v)
	}
	live := len(list)
	for _, r := range finished {
		list = append(list, r.status.snapshot())
	}
	for _, v := range past {
		if !v.Live() {
			list = append(list, v)
		}
	}
	return list[:min(len(list), live+keptRuns)]
}

// Tail reads a run's lines from a cursor: from memory while it is live and for the newest
// 20 finished runs, otherwise from its tail file. It returns false for an unknown run.
func (m *Manager) Tail(id string, from tail.Cursor) (tail.Page, bool) {
	m.mu.Lock()
	var ring *tail.Ring
	for _, r := range slices.Concat(m.running, m.waiting, m.finished) {
		if r.id == id {
			ring = r.status.ring
		}
	}
	m.mu.Unlock()
	if ring != nil {
		return ring.Read(from), true
	}
	page, err := DiskTail(m.o.Dir, id, from)
	return page, err == nil
}

// oneDay is how far back Ended goes.
const oneDay = 24 * time.Hour

// Ended returns the runs that have ended since a moment of the last day, by end. Callers
// must not modify them.
func (m *Manager) Ended(since time.Time) []View {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.day, func(v View) bool { return !v.Ended.Before(since) })
	if i < 0 {
		return nil
	}
	return m.day[i:len(m.day):len(m.day)]
}
