package fork

import (
	"time"

	"ollimbot/core/agent"
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
	ID       string // of the run: 8 hex characters
	Kind     routines.Kind
	TaskID   string
	Title    string // what people call the task
	State    State
	Position int // in the queue while waiting, from 1
	Queued   time.Time
	Started  time.Time // zero while waiting
	Ended    time.Time // zero until final
	Timeout  time.Duration
	Late     bool
	Model    string
	Session  string // session id, once known
	Parent   string // main session id at start; empty when isolated
	Activity string // the newest tail line in a few words
	Error    string // why it failed, for people

	Tools    int // tool calls
	Pings    int // messages that reached the user, critical ones too
	Critical int // of these, critical
	Refused  int // pings that were refused
	// Tainted is what the run has read of strangers' words, "" for nothing: its tools
	// that write or run commands are off, unless it is Trusted by its file.
	Tainted string
	Trusted bool
	Reports int // updates for the main session
	Usage   agent.Usage
	Lines   uint64 // tail lines ever written
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
