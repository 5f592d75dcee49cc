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

// ledgerPage is how many runs are read at once.
const ledgerPage = 500

// dueTimes are the due times from a moment on with their runs. live are the runs that have not
// ended.
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
	next := map[string]time.Time{} // the due time after, of each task
	for _, row := range slices.Backward(out.Rows) {
		if f, ok := dueRun(row, runs[row.ID], next[row.ID]); ok {
			out.Runs[row.Key()] = f
		}
		next[row.ID] = row.Due
	}
	return out, nil
}

// asked is when a run was asked for.
func asked(f fork.View) time.Time {
	if f.Queued.IsZero() {
		return f.Started
	}
	return f.Queued
}

// dueRun is the first run of a task that was asked for at a due time or later, and before the
// next one. The account and the ledger do not name each other: what was fired by hand right after a
// due time without a background run cannot be told apart.
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
