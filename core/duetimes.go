package core

import (
	"slices"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/fork"
	duetimes "ollimbot/routines/account"
)

// ledgerPage is the number of runs read at a time.
const ledgerPage = 500

// dueTimes returns the due times from since on, with their runs. live are the runs that
// have not ended.
func dueTimes(d *store.Dir, live []fork.View, since, now time.Time) (command.DueTimes, error) {
	past, err := duetimes.New(d).Read(now)
	if err != nil {
		return command.DueTimes{}, err
	}
	out := command.DueTimes{Report: past.Report(since, ""), Runs: map[duetimes.Key]fork.View{}}
	runs := map[string][]fork.View{}
	for _, f := range live {
		runs[f.TaskID] = append(runs[f.TaskID], f)
	}
	for page := (fork.Page{Next: jsonl.Cursor{}}); !page.All; {
		if page, err = fork.Past(d, page.Next, ledgerPage); err != nil {
			return out, err
		}
		for _, f := range page.Runs {
			runs[f.TaskID] = append(runs[f.TaskID], f)
		}
		if n := len(page.Runs); n == 0 || page.Runs[n-1].Ended.Before(since) {
			break
		}
	}
	for _, list := range runs {
		slices.SortFunc(list, func(a, b fork.View) int { return asked(a).Compare(asked(b)) })
	}
	next := map[string]time.Time{} // the task's next due time
	for _, row := range slices.Backward(out.Rows) {
		if f, ok := dueRun(row, runs[row.ID], next[row.ID]); ok {
			out.Runs[row.Key()] = f
		}
		next[row.ID] = row.Due
	}
	return out, nil
}

// asked returns when a run was requested.
func asked(f fork.View) time.Time {
	if f.Queued.IsZero() {
		return f.Started
	}
	return f.Queued
}

// dueRun finds the first run of a task that was requested at or after a due time and
// before the next one. The account and the ledger share no key, so a run started by hand
// just after a due time without a background run is mistaken for it.
func dueRun(row duetimes.Row, runs []fork.View, next time.Time) (f fork.View, ok bool) {
	switch row.Fate {
	case duetimes.Ran, duetimes.Failed, duetimes.Interrupted, duetimes.Running:
	default:
		return f, false
	}
	i, _ := slices.BinarySearchFunc(runs, row.Due, func(f fork.View, due time.Time) int { return asked(f).Compare(due) })
	if i == len(runs) || !next.IsZero() && !asked(runs[i]).Before(next) {
		return f, false
	}
	return runs[i], true
}
