// Package account owns the account of due times: the outcome of every moment at which a
// routine or reminder was due. It must not know what fires tasks, or when anything is
// due.
//
// The account is one file of rows to which the schedule appends. A due time can have
// several rows, written when its run starts and ends; only one of them counts. So
// duplicate rows and journals of two bots joined by an import do no harm.
package account

import (
	"cmp"
	"slices"
	"time"

	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

// File holds the rows. It is private to this program.
const File = store.StateDir + "/due_times.jsonl"

const (
	limit = 4 << 20 // bytes of the file
	keep  = 5 << 19 // bytes kept when it is trimmed, about 15,000 rows
)

// Fate is the outcome of a due time.
type Fate string

// The fates. Only due times with one of the first four had a run.
const (
	Running     Fate = "running"
	Ran         Fate = "done"
	Failed      Fate = "failed"
	Interrupted Fate = "interrupted" // it was cut off, by the user or the end of the program
	Held        Fate = "held"        // paused, snoozed, put off, or awaiting approval
	Refused     Fate = "refused"     // out of money
	Skipped     Fate = "skipped"     // the previous run had not ended
	Missed      Fate = "missed"
	Unrecorded  Fate = "unrecorded" // it passed, and its row is lost
)

// known are the valid fates of a row.
var known = map[Fate]bool{
	Running: true, Ran: true, Failed: true, Interrupted: true, Held: true, Refused: true, Skipped: true, Missed: true, Unrecorded: true,
}

// Reasons why a due time was missed.
const (
	Off    = "the bot was off"
	Asleep = "the machine slept"
	Adrift = "the data directory was missing"
)

// ByUser is the reason for an interruption by the user, who stopped the run or went on to
// something else.
const ByUser = "by you"

// NoModel is the remark about a due time whose message was what a check printed.
const NoModel = "no model"

// Paused is the reason for a due time that was held because the user paused or snoozed
// it. A snooze has an end.
const Paused = "paused"

// Row is the outcome of one due time of a task, as known when the row was written.
type Row struct {
	Kind  string    `json:"kind"` // routine or reminder
	ID    string    `json:"id"`
	Title string    `json:"title"`
	Due   time.Time `json:"due"`
	At    time.Time `json:"at"` // when the row was written
	Fate  Fate      `json:"fate"`
	Why   string    `json:"why,omitempty"`
	Until time.Time `json:"until,omitzero"` // when the hold or refusal ends; zero if open-ended
	Late  bool      `json:"late,omitempty"` // the run started well after the due time
}

// Key identifies a due time.
type Key struct {
	Kind, ID string
	Due      int64 // in seconds since 1970
}

// Key returns the due time of the row.
func (r Row) Key() Key { return Key{r.Kind, r.ID, r.Due.Unix()} }

// guessed reports whether the row was inferred because there was no other record.
func (r Row) guessed() bool { return r.Fate == Missed || r.Fate == Unrecorded }

// replaces reports whether a row takes precedence over an earlier one of the same due
// time. A guess never replaces a record; otherwise the newer row wins.
func (r Row) replaces(old Row) bool {
	if r.guessed() != old.guessed() {
		return old.guessed()
	}
	return !r.guessed() && !r.At.Before(old.At)
}

// Account is the account of a data directory. It caches nothing. Its methods are safe for
// concurrent use by several goroutines and processes.
type Account struct{ log jsonl.Log[Row] }

// New returns the account of a data directory.
func New(d *store.Dir) Account {
	return Account{jsonl.Log[Row]{Dir: d, Rel: File, Limit: limit, Keep: keep}}
}

// Add appends rows. They are on disk when Add returns.
func (a Account) Add(rows ...Row) error {
	if len(rows) == 0 {
		return nil
	}
	return a.log.Append(rows...)
}

// Past is the account as read at one moment.
type Past struct {
	Rows    []Row // one for each due time, by due time
	Damaged int   // lines that could not be parsed
	Ahead   int   // due times in the future, written while the clock was wrong; not in Rows
}

// Read reads the account as of now. A missing file counts as empty.
func (a Account) Read(now time.Time) (Past, error) {
	list, damaged, err := a.log.Newest(limit)
	if err != nil {
		return Past{}, err
	}
	p := Past{Damaged: damaged}
	at := make(map[Key]int, len(list))
	ahead := map[Key]bool{}
	for _, r := range list {
		switch i, seen := at[r.Key()]; {
		case r.ID == "" || r.Due.IsZero() || !known[r.Fate]:
			p.Damaged++
		case r.Due.After(now):
			ahead[r.Key()] = true
		case !seen:
			at[r.Key()] = len(p.Rows)
			p.Rows = append(p.Rows, r)
		case r.replaces(p.Rows[i]):
			p.Rows[i] = r
		}
	}
	p.Ahead = len(ahead)
	slices.SortStableFunc(p.Rows, func(a, b Row) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return p, nil
}

// Since returns the rows of due times at or after from.
func (p Past) Since(from time.Time) []Row {
	i, _ := slices.BinarySearchFunc(p.Rows, from, func(r Row, at time.Time) int { return r.Due.Compare(at) })
	return p.Rows[i:]
}

// Report is the part of the account from a moment on.
type Report struct {
	Since time.Time
	Rows  []Row // by due time
	// Damaged and Ahead are as in Past.
	Damaged, Ahead int
}

// Report returns the account from a moment on, for one task or, if the id is empty, for
// all.
func (p Past) Report(from time.Time, task string) Report {
	rows := p.Since(from)
	if task != "" {
		rows = slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.ID != task })
	}
	return Report{Since: from, Rows: rows, Damaged: p.Damaged, Ahead: p.Ahead}
}

// Summary returns the report in one sentence. Every view that sums up due times uses it.
func (r Report) Summary() string { return Summary(r.Rows) }
