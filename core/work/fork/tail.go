package fork

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/store"
)

const (
	// maxLine is the longest tail line in bytes; a longer one is broken.
	maxLine = 4000
	// maxShown is what a tail shows of a tool's answer, in characters.
	maxShown = 200
	// lineWaits is how long a line without a break waits for its rest.
	lineWaits = time.Second
)

// lines joins deltas into whole lines. What has no line break yet becomes a
// line of its own when something else happens or nothing more comes.
type lines struct {
	add func(k tail.Kind, text string) // must not block

	mu   sync.Mutex
	kind tail.Kind
	buf  []byte
	last time.Time // when buf last grew
}

func (l *lines) take(k tail.Kind, delta string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k != l.kind {
		l.empty()
		l.kind = k
	}
	l.buf = append(l.buf, delta...)
	for {
		n := bytes.IndexByte(l.buf, '\n')
		if n < 0 {
			break
		}
		l.put(l.buf[:n])
		l.buf = l.buf[n+1:]
	}
	for len(l.buf) > maxLine {
		line := clean.Whole(l.buf[:maxLine])
		l.put(line)
		l.buf = l.buf[len(line):]
	}
	if len(l.buf) == 0 {
		l.buf = nil
		return
	}
	l.last = time.Now()
}

// flush adds what has no line break yet.
func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.empty()
}

// flushOld does so when nothing has come for a while.
func (l *lines) flushOld(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.buf) > 0 && now.Sub(l.last) >= lineWaits {
		l.empty()
	}
}

func (l *lines) empty() {
	l.put(l.buf)
	l.buf = nil
}

func (l *lines) put(line []byte) {
	if len(bytes.TrimSpace(line)) > 0 {
		l.add(l.kind, string(line))
	}
}

// event writes one event into the tail and counts it; true for the Result.
func (r *run) event(ev agent.Event) bool {
	switch ev := ev.(type) {
	case agent.Text:
		r.lines.take(tail.Text, ev.Delta)
		return false
	case agent.Thinking:
		r.lines.take(tail.Think, ev.Delta)
		return false
	}
	r.lines.flush()
	switch ev := ev.(type) {
	case agent.ToolStart:
		r.update(func(v *View) { v.Tools++ })
		label := toolset.Label(ev.Name, ev.Input)
		if ev.Subagent != "" {
			label = ev.Subagent + ": " + label
		}
		r.line(tail.Tool, label)
	case agent.ToolEnd:
		r.toolEnd(ev)
	case agent.Compacting:
		r.line(tail.Note, compacting(ev))
	case agent.Retry:
		r.line(tail.Note, fmt.Sprintf(textRetry, ev.Reason, ev.Wait.Round(time.Second), ev.Attempt, ev.Of))
	case agent.RateLimit:
		if ev.Status != "allowed" {
			r.line(tail.Note, fmt.Sprintf(textRateLimit, ev.Status, ev.Resets.In(r.m.zone).Format("15:04")))
		}
	case agent.Notice:
		r.line(tail.Note, ev.Text)
	case agent.Result:
		used := r.spent(ev.Usage)
		r.update(func(v *View) {
			v.Usage = v.Usage.Add(used)
			v.Session = cmp.Or(ev.SessionID, v.Session)
		})
		return true
	}
	return false
}

func (r *run) toolEnd(ev agent.ToolEnd) {
	text := shown(ev.Text)
	switch {
	case ev.Denied:
		if isPing(ev.Name) {
			r.update(func(v *View) { v.Refused++ })
		}
		r.line(tail.Refuse, fmt.Sprintf(textDenied, toolset.Label(ev.Name, nil), text))
	case ev.IsError && !strings.HasPrefix(ev.Name, toolset.Prefix):
		r.line(tail.Error, text)
	default:
		// What the bot's own tool has told in its own line is not told again.
		if last, ok := r.ring.Last(); !ok || !strings.HasSuffix(last.Text, text) {
			r.line(tail.Result, text)
		}
	}
}

// shown is the first line of a tool's answer, and how many follow.
func shown(text string) string {
	text = strings.TrimSpace(text)
	first, rest, more := strings.Cut(text, "\n")
	first = clean.Cut(clean.Line(first), maxShown)
	first = cmp.Or(first, textNoOutput)
	if more {
		n := strings.Count(rest, "\n") + 1
		first += fmt.Sprintf(" (+%s)", words.Count(n, "line"))
	}
	return first
}

func compacting(c agent.Compacting) string {
	text := textCompacting
	if c.Done {
		text = textCompacted
	}
	if c.PreTokens > 0 {
		text += fmt.Sprintf(" · %dk tokens", (c.PreTokens+500)/1000)
	}
	return text
}

func isPing(tool string) bool {
	switch strings.TrimPrefix(tool, toolset.Prefix) {
	case toolset.PingUser, toolset.DiscordEmbed, toolset.SendFile:
		return true
	}
	return false
}

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
)

func tailName(run string) string { return tailFolder + "/" + run + ".jsonl" }

// record writes the ledger's start line, then the tail's lines to their file
// while the run lives. The ring is the buffer, so neither the engine nor a
// reader ever waits for the disk.
func (r *run) record(done <-chan struct{}) {
	v := r.snapshot()
	v.State, v.Ended, v.Error = Running, time.Time{}, ""
	if err := appendLedger(r.m.o.Dir, v); err != nil {
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
			r.lines.flushOld(now)
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
	if err := w.r.m.o.Dir.Append(tailName(w.r.id), rows...); err != nil {
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
	err = store.EachLine(io.LimitReader(f, maxTailFile+maxLine), func(row []byte) bool {
		var l tail.Line
		// A row without its end is still being written.
		if bytes.HasSuffix(row, []byte("\n")) && json.Unmarshal(row, &l) == nil {
			l.Text = clean.Line(l.Text)
			ring.Add(l)
		}
		return true
	})
	if err != nil {
		return page, fmt.Errorf("read the tail of run %s: %w", run, err)
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
