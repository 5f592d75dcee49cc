package fork

import (
	"fmt"
	"slices"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/store"
	"ollimbot/routines"
)

const (
	// ledgerName holds a line when a run starts and one when it ends; the last
	// line of a run counts.
	ledgerName = "state/fork_runs.jsonl"
	// ledgerRead is how much of its end is read, in bytes, and ledgerMax the size
	// at which the file is cut down to that.
	ledgerRead = 1 << 20
	ledgerMax  = 4 << 20
)

// entry is one line of the ledger.
type entry struct {
	ID       string        `json:"id"`
	Task     string        `json:"task"`
	Kind     routines.Kind `json:"kind"`
	Title    string        `json:"title"`
	State    State         `json:"state"`
	Queued   time.Time     `json:"queued,omitzero"`
	Started  time.Time     `json:"started,omitzero"`
	Ended    time.Time     `json:"ended,omitzero"`
	Late     bool          `json:"late"`
	Model    string        `json:"model"`
	Session  string        `json:"session"`
	Parent   string        `json:"parent"`
	Tools    int           `json:"tools"`
	Pings    int           `json:"pings"`
	Critical int           `json:"critical"`
	Refused  int           `json:"refused"`
	Reports  int           `json:"reports"`
	Tokens   int           `json:"tokens"`
	CostUSD  float64       `json:"cost_usd"`
	Error    string        `json:"error"`
	Tainted  string        `json:"tainted,omitempty"`
	Trusted  bool          `json:"trusted,omitempty"`
}

func entryOf(v View) entry {
	return entry{
		ID: v.ID, Task: v.TaskID, Kind: v.Kind, Title: v.Title, State: v.State, Queued: v.Queued, Started: v.Started,
		Ended: v.Ended, Late: v.Late, Model: v.Model, Session: v.Session, Parent: v.Parent, Tools: v.Tools,
		Pings: v.Pings, Critical: v.Critical, Refused: v.Refused, Reports: v.Reports,
		Tokens: v.Usage.Tokens(), CostUSD: v.Usage.CostUSD, Error: v.Error, Tainted: v.Tainted, Trusted: v.Trusted,
	}
}

// view cleans what a file says. How the tokens were divided is not kept, so
// their sum stands as input.
func (e entry) view() View {
	return View{
		ID: e.ID, Kind: e.Kind, TaskID: clean.Line(e.Task), Title: clean.Line(e.Title), State: e.State, Queued: e.Queued,
		Started: e.Started, Ended: e.Ended, Late: e.Late, Model: clean.Line(e.Model), Session: clean.Line(e.Session),
		Parent: clean.Line(e.Parent), Tools: e.Tools, Pings: e.Pings, Critical: e.Critical, Refused: e.Refused,
		Reports: e.Reports, Usage: agent.Usage{InputTokens: e.Tokens, CostUSD: e.CostUSD}, Error: clean.Line(e.Error),
		Tainted: clean.Line(e.Tainted), Trusted: e.Trusted,
	}
}

// Ledger is the newest n runs of the ledger, newest first, without a running
// bot. A run that has no end line stands as running: whether its program still
// lives is not the ledger's to know. Lines that cannot be read are skipped; a
// missing file is an empty ledger.
func Ledger(d *store.Dir, n int) ([]View, error) {
	lines, _, err := runLog(d).Newest(ledgerRead)
	if err != nil {
		return nil, fmt.Errorf("read the ledger of runs: %w", err)
	}
	list := newest(lines)
	slices.Reverse(list)
	views := make([]View, 0, min(n, len(list)))
	for _, e := range list[:min(max(0, n), len(list))] {
		views = append(views, e.view())
	}
	return views, nil
}

func runLog(d *store.Dir) store.Log[entry] {
	return store.Log[entry]{Dir: d, Rel: ledgerName, Limit: ledgerMax, Keep: ledgerRead}
}

// newest is the last state of each run, in order of their last lines.
func newest(lines []entry) []entry {
	last := map[string]int{}
	var list []entry
	for _, e := range lines {
		if !validRun(e.ID) || !known(e.State) {
			continue
		}
		if i, again := last[e.ID]; again {
			list[i].ID = "" // superseded
		}
		last[e.ID] = len(list)
		list = append(list, e)
	}
	return slices.DeleteFunc(list, func(e entry) bool { return e.ID == "" })
}

func known(s State) bool {
	switch s {
	case Running, Done, Failed, TimedOut, Stopped, Interrupted, NoReport:
		return true
	}
	return false
}

// validRun reports whether s has the form of a run id, so that it can be part
// of a file name.
func validRun(s string) bool {
	if len(s) != 8 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func appendLedger(d *store.Dir, v View) error {
	if err := runLog(d).Append(entryOf(v)); err != nil {
		return fmt.Errorf("write the ledger of runs: %w", err)
	}
	return nil
}

func inZone(v View, zone *time.Location) View {
	for _, t := range []*time.Time{&v.Queued, &v.Started, &v.Ended} {
		if !t.IsZero() {
			*t = t.In(zone)
		}
	}
	return v
}
