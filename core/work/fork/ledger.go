package fork

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/tail"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

const (
	// ledgerName has one line for the start and one for the end of each run; the last line
	// of a run counts.
	ledgerName = "state/fork_runs.jsonl"
	// ledgerMax is the size in bytes at which the file is trimmed to its last ledgerKept
	// bytes: more than 10,000 runs.
	ledgerMax  = 20 << 20
	ledgerKept = 12 << 20
)

// Row is one line of the ledger. It leaves out what is zero. Lines of the original and of earlier versions only
// have the sum of tokens, which counts as input.
type Row struct {
	fields
	Tokens  int          `json:"tokens"`
	CostUSD float64      `json:"cost_usd"`
	Used    *agent.Usage `json:"usage,omitempty"`
}

// view returns the run of a line, cleaned.
func (e Row) view() View {
	v := View(e.fields)
	for _, text := range []*string{&v.TaskID, &v.Title, &v.Model, &v.Session, &v.Parent, &v.Error, &v.Delivery} {
		*text = clean.Line(*text)
	}
	v.Usage = agent.Usage{InputTokens: e.Tokens, CostUSD: e.CostUSD}
	if e.Used != nil && e.Used.Tokens() == e.Tokens {
		v.Usage = *e.Used
	}
	return v
}

// recorded are the states that a line may have.
var recorded = []State{Running, Done, Failed, TimedOut, Stopped, Interrupted, NoReport, NothingNew}

// Ledger returns the newest n runs of the ledger, newest first, without a running bot. A
// run without an end line counts as running, because the ledger cannot know whether its
// process is alive. Unreadable lines are skipped; a missing file is an empty ledger.
func Ledger(d *store.Dir, n int) ([]View, error) {
	p, err := pageOf(d, jsonl.Cursor{}, n, func(State) bool { return true })
	return p.Runs, err
}

// Find looks up a run by id, searching from the newest.
func Find(d *store.Dir, id string) (v View, ok bool, err error) {
	_, _, err = runLog(d).Before(jsonl.Cursor{}, func(e Row) bool {
		if ok = e.ID == id && slices.Contains(recorded, e.State); ok {
			v = e.view()
		}
		return !ok
	})
	if err != nil {
		return v, false, fmt.Errorf("read the ledger of runs: %w", err)
	}
	return v, ok, nil
}

// Page is a part of the ledger.
type Page struct {
	Runs    []View       // ended runs, newest first
	Next    jsonl.Cursor // the start of the next page
	All     bool         // there is no next page
	Damaged int          // unreadable lines on the way
}

// Past reads up to n ended runs, from a position in the ledger backwards; the zero
// position is its end. If the ledger was trimmed in the meantime, runs may be returned
// twice.
func Past(d *store.Dir, from jsonl.Cursor, n int) (Page, error) {
	return pageOf(d, from, n, func(s State) bool { return s != Running })
}

// pageOf reads up to n runs in wanted states. Reading backwards, the first line of a run
// is the one that counts.
func pageOf(d *store.Dir, from jsonl.Cursor, n int, wanted func(State) bool) (p Page, err error) {
	if n <= 0 {
		return Page{Next: from}, nil
	}
	seen := map[string]bool{}
	strange := 0
	p.Next, p.Damaged, err = runLog(d).Before(from, func(e Row) bool {
		switch {
		case !validRun(e.ID) || !slices.Contains(recorded, e.State):
			strange++
		case !seen[e.ID]:
			seen[e.ID] = true
			if wanted(e.State) {
				p.Runs = append(p.Runs, e.view())
			}
		}
		return len(p.Runs) < n
	})
	p.Damaged += strange
	p.All = p.Next.AtBeginning()
	if err != nil {
		return p, fmt.Errorf("read the ledger of runs: %w", err)
	}
	return p, nil
}

// cutOff returns the runs without an end line, oldest first, however many runs came
// later. Few lines of a ledger are start lines without an end, so the others are not
// decoded.
func cutOff(d *store.Dir) ([]View, error) {
	var open []View
	err := runLog(d).Each(func(line []byte) bool {
		begins := bytes.Contains(line, []byte(`"state":"running"`))
		if !begins && len(open) == 0 {
			return true
		}
		var e Row
		if json.Unmarshal(line, &e) != nil || !validRun(e.ID) || !slices.Contains(recorded, e.State) {
			return true
		}
		open = slices.DeleteFunc(open, func(v View) bool { return v.ID == e.ID })
		if e.State == Running {
			open = append(open, e.view())
		}
		return true
	})
	return open, err
}

func runLog(d *store.Dir) jsonl.Log[Row] {
	return jsonl.Log[Row]{Dir: d, Rel: ledgerName, Limit: ledgerMax, Keep: ledgerKept}
}

// validRun reports whether s has the form of a run id and so is safe in a file name.
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

// Row returns the line for a run.
func (v View) Row() Row {
	line := Row{fields: fields(v), Tokens: v.Usage.Tokens(), CostUSD: v.Usage.CostUSD}
	if line.Tokens > 0 {
		line.Used = &v.Usage
	}
	return line
}

func appendLedger(d *store.Dir, v View) error {
	if err := runLog(d).Append(v.Row()); err != nil {
		return fmt.Errorf("write the ledger of runs: %w", err)
	}
	return nil
}

// appendStart writes the start of a run.
func appendStart(d *store.Dir, v View) error {
	v.State, v.Ended, v.Error = Running, time.Time{}, ""
	return appendLedger(d, v)
}

// Deliveries returns the state of each run for a delivery that has begun, by Job.Delivery.
// Without an end it is Running.
func Deliveries(d *store.Dir) (map[string]State, error) {
	runs := map[string]State{}
	err := runLog(d).Each(func(line []byte) bool {
		var e Row
		if bytes.Contains(line, []byte(`"delivery":`)) && json.Unmarshal(line, &e) == nil && e.Delivery != "" && slices.Contains(recorded, e.State) {
			runs[e.Delivery] = e.State
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("read the ledger of runs: %w", err)
	}
	return runs, nil
}

func inZone(v View, zone *time.Location) View {
	for _, t := range []*time.Time{&v.Due, &v.Queued, &v.Started, &v.Ended} {
		if !t.IsZero() {
			*t = t.In(zone)
		}
	}
	return v
}

// record writes the ledger's start line, unless the run writes it itself, then appends the tail to its file while the run
// is live. The ring is the buffer, so neither the engine nor a reader ever waits for the
// disk.
func record(o *Options, s *status, begins bool, done <-chan struct{}) {
	if begins {
		if err := appendStart(o.Dir, s.snapshot()); err != nil {
			o.Log.Warn("ledger line was not written", "run", s.id, "error", err)
		}
	}
	w := tailWriter{o: o, status: s}
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			w.retry = time.Time{}
			w.flush()
			return
		case now := <-ticker.C:
			s.lines.flushOld(now)
			w.flush()
		}
	}
}

// tailWriter writes a tail to its file. It is used by one goroutine.
type tailWriter struct {
	o      *Options
	status *status
	next   tail.Cursor
	size   int
	full   bool // the file has reached its limit
	noted  bool // an error was reported
	retry  time.Time
}

// flush appends new lines. A full disk is reported once. The ring continues, and its
// contents are written when there is space again.
func (w *tailWriter) flush() {
	ring := w.status.ring
	if w.full || uint64(w.next) == ring.Len() || time.Now().Before(w.retry) {
		return
	}
	page := ring.Read(w.next)
	size := w.size
	var rows [][]byte
	add := func(l tail.Line) {
		if row, err := json.Marshal(l); err == nil {
			rows = append(rows, row)
			size += len(row) + 1
		}
	}
	if page.Lost > 0 {
		add(tail.Line{At: w.o.now(), Kind: tail.Note, Text: fmt.Sprintf(textLinesLost, page.Lost)})
	}
	full := false
	for _, l := range page.Lines {
		add(l)
		if full = size > maxTailFile; full {
			add(tail.Line{At: w.o.now(), Kind: tail.Note, Text: textTailFull})
			break
		}
	}
	if err := w.o.Dir.Append(tailName(w.status.id), rows...); err != nil {
		w.retry = time.Now().Add(tryAgain)
		if !w.noted {
			w.noted = true
			w.o.Log.Warn("tail is not saved: make room on the disk or check the folder's permissions", "run", w.status.id, "error", err)
			w.status.line(tail.Note, textTailNotSaved)
		}
		return
	}
	w.next, w.size, w.full = page.Next, size, full
}
