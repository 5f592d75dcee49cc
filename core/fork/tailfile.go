package fork

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/store"
	"ollimbot/core/tail"
)

const (
	// tailFolder holds one file of lines for each of the newest keptTails runs.
	tailFolder = "state/forks"
	keptTails  = 200
	// flushEvery is how often a live run's new lines are written, tryAgain the
	// pause after a write has failed.
	flushEvery = 200 * time.Millisecond
	tryAgain   = 5 * time.Second
	// maxTailFile bounds one file, maxTails all of them, in bytes.
	maxTailFile = 16 << 20
	maxTails    = 64 << 20
	// maxTailRow is the longest line that is read back.
	maxTailRow = 64 << 10
)

func tailName(run string) string { return tailFolder + "/" + run + ".jsonl" }

// record writes the ledger's start line, then the tail's lines to their file
// while the run lives. The ring is the buffer, so neither the engine nor a
// reader ever waits for the disk.
func (r *run) record(done <-chan struct{}) {
	if err := appendLedger(r.m.o.Dir, r.started()); err != nil {
		r.m.log.Warn("ledger line was not written", "run", r.id, "error", err)
	}
	w := tailWriter{r: r}
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			w.retry = time.Time{}
			w.flush()
			return
		case now := <-ticker.C:
			r.lines.settle(now)
			w.flush()
		}
	}
}

// tailWriter is the file's side of a tail. It is used by one goroutine.
type tailWriter struct {
	r     *run
	next  tail.Cursor
	size  int
	full  bool // the file has reached its limit
	noted bool // a fault was told
	retry time.Time
}

// flush appends what is new. A full disk is noted once; the ring goes on, and
// what it still holds is written when there is room again.
func (w *tailWriter) flush() {
	if w.full || uint64(w.next) == w.r.ring.Len() || time.Now().Before(w.retry) {
		return
	}
	page := w.r.ring.Read(w.next)
	size := w.size
	var rows [][]byte
	add := func(l tail.Line) {
		if row, err := json.Marshal(l); err == nil {
			rows = append(rows, row)
			size += len(row) + 1
		}
	}
	if page.Lost > 0 {
		add(tail.Line{At: w.r.m.now(), Kind: tail.Note, Text: fmt.Sprintf(textLinesLost, page.Lost)})
	}
	full := false
	for _, l := range page.Lines {
		add(l)
		if full = size > maxTailFile; full {
			add(tail.Line{At: w.r.m.now(), Kind: tail.Note, Text: textTailFull})
			break
		}
	}
	if err := w.r.m.o.Dir.AppendLines(tailName(w.r.id), rows); err != nil {
		w.retry = time.Now().Add(tryAgain)
		if !w.noted {
			w.noted = true
			w.r.m.log.Warn("tail is not saved: make room on the disk or check the folder's permissions", "run", w.r.id, "error", err)
			w.r.line(tail.Note, textTailNotSaved)
		}
		return
	}
	w.next, w.size, w.full = page.Next, size, full
}

// DiskTail reads a run's tail from its file, without a running bot: the lines
// from the cursor on, at most 10,000 of them. A run without a file gives an
// error that matches fs.ErrNotExist.
func DiskTail(d *store.Dir, run string, from tail.Cursor) (page tail.Page, err error) {
	if !validRun(run) {
		return page, fmt.Errorf(textNoRun+": %w", clean.Cut(clean.Line(run), 40), fs.ErrNotExist)
	}
	f, err := d.Open(tailName(run))
	if err != nil {
		return page, fmt.Errorf("read the tail of run %s: %w", run, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	ring := tail.New(ringLines)
	in := bufio.NewReaderSize(io.LimitReader(f, maxTailFile+maxTailRow), maxTailRow)
	for {
		row, err := in.ReadSlice('\n')
		if err == io.EOF { // a row without its end is still being written
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return page, fmt.Errorf("read the tail of run %s: %w", run, err)
		}
		var l tail.Line
		if json.Unmarshal(row, &l) == nil {
			l.Text = clean.Line(l.Text)
			ring.Add(l)
		}
	}
	return ring.Read(from), nil
}

// prune removes the oldest tail files beyond the newest 200, or beyond 64 MB.
func (m *Manager) prune() {
	files, err := m.o.Dir.Entries(tailFolder)
	if err != nil {
		return // nothing was written yet, or nothing can be read
	}
	type old struct {
		name string
		at   time.Time
		size int64
	}
	var list []old
	for _, f := range files {
		run, ok := strings.CutSuffix(f.Name(), ".jsonl")
		if !ok || !validRun(run) {
			continue
		}
		if info, err := f.Info(); err == nil {
			list = append(list, old{f.Name(), info.ModTime(), info.Size()})
		}
	}
	slices.SortFunc(list, func(a, b old) int { return b.at.Compare(a.at) })
	sum := int64(0)
	for i, f := range list {
		if sum += f.size; i < keptTails && sum <= maxTails {
			continue
		}
		if err := m.o.Dir.Remove(tailFolder + "/" + f.name); err != nil {
			m.log.Warn("old tail was not removed", "file", f.name, "error", err)
			return
		}
	}
}
