package budget

import (
	"slices"
	"time"

	"ollimbot/core"
	"ollimbot/routines/schedule"
)

// seen is what the pane draws of a snapshot, in the steps that can be seen: the
// bucket refills by less than that from one snapshot to the next.
type seen struct {
	shown  shown
	levels []level
}

type shown struct {
	second            int64
	zone              *time.Location
	capacity, rate    int
	used, critical    int
	reserved          int
	available         int64
	next, full        time.Time
	quiet, muted, dry time.Time
	hours             [24]int
	dryTasks          *schedule.Entry // where the task that finds no token is looked for
	tasks             int
}

// level is a point of the forecast behind the first, which is always now.
type level struct {
	at   time.Time
	left int64
}

// thousandths is a number of tokens as fine as it is shown, and finer.
func thousandths(tokens float64) int64 { return int64(tokens*1000 + 1e-7) }

// changed takes over what a snapshot shows and reports whether it looks different
// from the last one.
func (k *seen) changed(s *core.Snapshot) bool {
	b := &s.Budget
	now := shown{
		second: s.At.Unix(), zone: s.Zone, capacity: b.State.Capacity, rate: b.State.RefillRateMinutes,
		used: b.State.DailyUsed, critical: b.State.CriticalUsed, reserved: b.Reserved,
		available: thousandths(b.State.Available), next: b.NextAt.Truncate(time.Second), full: b.FullAt.Truncate(time.Second),
		quiet: b.Quiet, muted: b.Muted, dry: b.Dry, hours: b.Hours, tasks: len(s.Schedule.Entries),
	}
	if now.tasks > 0 {
		now.dryTasks = &s.Schedule.Entries[0]
	}
	levels := k.levels[:0:0]
	for _, p := range b.Forecast[min(1, len(b.Forecast)):] {
		levels = append(levels, level{p.At, thousandths(p.Left)})
	}
	if now == k.shown && slices.Equal(levels, k.levels) {
		return false
	}
	k.shown, k.levels = now, levels
	return true
}
