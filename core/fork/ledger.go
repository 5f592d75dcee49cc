package fork

import (
	"fmt"
	"slices"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/store"
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

// entry is one line of the ledger. How the tokens were divided is not kept: read
// back, their sum stands as input.
type entry struct {
	View
	Tokens  int     `json:"tokens"`
	CostUSD float64 `json:"cost_usd"`
}

// view cleans what a file says.
func (e entry) view() View {
	v := e.View
	for _, text := range []*string{&v.TaskID, &v.Title, &v.Model, &v.Session, &v.Parent, &v.Error, &v.Tainted} {
		*text = clean.Line(*text)
	}
	v.Usage = agent.Usage{InputTokens: e.Tokens, CostUSD: e.CostUSD}
	return v
}

// recorded are the states that a line may have.
var recorded = []State{Running, Done, Failed, TimedOut, Stopped, Interrupted, NoReport}

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
		if !validRun(e.ID) || !slices.Contains(recorded, e.State) {
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
	if err := runLog(d).Append(entry{v, v.Usage.Tokens(), v.Usage.CostUSD}); err != nil {
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
