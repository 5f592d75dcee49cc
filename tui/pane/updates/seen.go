package updates

import (
	"slices"
	"time"

	"ollimbot/core"
	"ollimbot/core/updates"
)

// seen is what the pane draws of a snapshot: the updates, their age, and the runs
// that may have left them.
type seen struct {
	second      int64
	at          int // the selected update
	updates     []updates.Update
	runs, spare []run
}

// run is a run that has reported.
type run struct {
	title          string
	started, ended time.Time
}

// changed takes over what a snapshot shows and reports whether it looks different
// from the last one.
func (k *seen) changed(s *core.Snapshot, at int) bool {
	runs := k.spare[:0]
	for i := range s.Forks {
		if f := &s.Forks[i]; f.Reports > 0 {
			runs = append(runs, run{f.Title, f.Started, f.Ended})
		}
	}
	k.spare, k.runs = k.runs, runs
	if k.second == s.At.Unix() && k.at == at && slices.Equal(k.spare, runs) && slices.Equal(k.updates, s.Updates) {
		return false
	}
	k.second, k.at, k.updates = s.At.Unix(), at, s.Updates
	return true
}
