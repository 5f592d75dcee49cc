package fork

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

const (
	// maxLine is the maximum length of a tail line in bytes; longer ones are split.
	maxLine = 4000
	// maxShown is how much of a tool's answer the tail shows, in characters.
	maxShown = 200
	// lineWaits is how long an incomplete line waits for its rest.
	lineWaits = time.Second
)

// lines joins deltas into whole lines. Text without a line break becomes a line of its
// own when another event arrives or nothing more does.
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

// flush adds the text that has no line break yet.
func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.empty()
}

// flushOld is flush, if nothing has arrived for a while.
func (l *lines) flushOld(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.last) >= lineWaits {
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

// shown returns the first line of a tool's answer, with the number of further lines.
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
	// tailFolder has one file of lines for each of the newest keptTails runs.
	tailFolder = "state/forks"
	keptTails  = 200
	// flushEvery is how often a live run's new lines are written, tryAgain the pause after a
	// failed write.
	flushEvery = 200 * time.Millisecond
	tryAgain   = 5 * time.Second
	// maxTailFile bounds one file, maxTails all of them, in bytes.
	maxTailFile = 16 << 20
	maxTails    = 64 << 20
)

func tailName(run string) string { return tailFolder + "/" + run + ".jsonl" }

// DiskTail reads a run's tail from its file, without a running bot: at most 10,000 lines
// from the cursor on. If the run has no file, the error matches fs.ErrNotExist.
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
	err = jsonl.EachLine(io.LimitReader(f, maxTailFile+maxLine), func(row []byte) bool {
		var l tail.Line
		// An incomplete row is still being written.
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
func prune(d *store.Dir, log *slog.Logger) {
	files, err := d.Entries(tailFolder)
	if err != nil {
		return // nothing was written yet, or the folder is unreadable
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
		if err := d.Remove(tailFolder + "/" + f.name); err != nil {
			log.Warn("old tail was not removed", "file", f.name, "error", err)
			return
		}
	}
}
