package forks

import (
	"slices"

	"ollimbot/core"
	"ollimbot/core/fork"
)

// seen is what the list of runs draws of a snapshot. While a run speaks snapshots
// come thirty times a second; how many lines it has said is the tail's to know.
type seen struct {
	runs     []fork.View
	maxForks int
	ticks    int64 // seconds that the running ones have taken, in all
}

// changed takes over what a snapshot shows and reports whether it looks different
// from the last one.
func (k *seen) changed(s *core.Snapshot) bool {
	ticks := int64(0)
	for i := range s.Forks {
		if f := &s.Forks[i]; f.Ended.IsZero() && !f.Started.IsZero() {
			ticks += int64(elapsed(*f, s.At).Seconds())
		}
	}
	same := slices.EqualFunc(k.runs, s.Forks, func(a, b fork.View) bool {
		a.Lines = b.Lines
		return a == b
	})
	if same && k.maxForks == s.MaxForks && k.ticks == ticks {
		return false
	}
	k.runs, k.maxForks, k.ticks = s.Forks, s.MaxForks, ticks
	return true
}
