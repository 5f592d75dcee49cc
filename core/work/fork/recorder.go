package fork

import (
	"encoding/json"
	"fmt"
	"time"

	"ollimbot/core/base/tail"
)

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
