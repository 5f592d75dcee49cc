package fork

import (
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/safety/label"
	"ollimbot/routines"
)

// State is how far a run has got.
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
	NothingNew  State = "nothing new" // its check found nothing to run for: no model was asked
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
	// Due is the time of the reminder that the run was for, as its file had it.
	Due      time.Time `json:"due,omitzero"`
	Late     bool      `json:"late"`
	Model    string    `json:"model"`
	Session  string    `json:"session"` // session id, once known
	Parent   string    `json:"parent"`  // main session id at start; empty when isolated
	Activity string    `json:"-"`       // the newest tail line in a few words
	Error    string    `json:"error"`   // why it failed, for people

	Tools     int `json:"tools"`               // tool calls
	Pings     int `json:"pings"`               // messages that reached the user, critical ones too
	Critical  int `json:"critical"`            // of these, critical
	Essential int `json:"essential,omitempty"` // of the pings, those that the budget could not refuse
	Quiet     int `json:"quiet,omitempty"`     // messages without a sound, which are no pings
	Refused   int `json:"refused"`             // pings that were refused
	// Label is the label of what the run has read, or "": with one, its tools that write
	// or run commands are off, unless it is Trusted by its file.
	Label   label.Label `json:"tainted,omitempty"`
	Trusted bool        `json:"trusted,omitempty"`
	Reports int         `json:"reports"` // updates for the main session
	Usage   agent.Usage `json:"-"`
	Lines   uint64      `json:"-"` // tail lines ever written
}

// Failed reports whether a run in this state did not do its work.
func (s State) Failed() bool { return s == Failed || s == TimedOut || s == NoReport }

// ended reports whether a run in this state is not to be repeated.
func (s State) ended() bool { return s != Waiting && s != Running && s != Interrupted }

// Live reports whether the run still waits or runs.
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
	rates[v.TaskID] = Rate{Runs: r.Runs + 1, Pings: r.Pings + v.Pings, Paid: r.Paid + v.Pings - v.Critical - v.Essential}
}
