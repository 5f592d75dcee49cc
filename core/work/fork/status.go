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
	"ollimbot/core/work/updates"
)

// status is the visible state of a run: its view and its tail. Its methods are safe for
// concurrent use and never wait for a reader or the disk.
type status struct {
	id      string
	zone    *time.Location
	changed func()
	ring    *tail.Ring
	lines   *lines

	mu   sync.Mutex
	view View
	// found has the names of running calls made through the tool search: the end event of
	// such a call only names the wrapping tool.
	found map[string]string
}

func newStatus(o *Options, v View) *status {
	s := &status{id: v.ID, zone: o.Zone, changed: o.Changed, ring: tail.New(ringLines), view: v, found: map[string]string{}}
	s.lines = &lines{add: s.add}
	return s
}

func (s *status) now() time.Time { return time.Now().In(s.zone) }

// update changes the view.
func (s *status) update(change func(*View)) {
	s.mu.Lock()
	change(&s.view)
	s.mu.Unlock()
	s.changed()
}

// noteSession records the id of the run's session. Compaction may change it; the newest
// is the one to continue.
func (s *status) noteSession(id string) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" || id == s.view.Session {
		return false
	}
	s.view.Session = id
	return true
}

// snapshot returns the current view.
func (s *status) snapshot() View {
	s.mu.Lock()
	v := s.view
	s.mu.Unlock()
	v.Lines = s.ring.Len()
	if last, ok := s.ring.Last(); ok {
		v.Activity = clean.Cut(last.Text, 80)
	}
	return v
}

// source is the run as the source of an update.
func (s *status) source() updates.Source {
	return updates.Source{Run: s.id, From: clean.Line(s.snapshot().Title)}
}

// line adds one line to the tail, after the agent's output so far.
func (s *status) line(k tail.Kind, text string) {
	s.lines.flush()
	s.add(k, text)
}

func (s *status) add(k tail.Kind, text string) {
	s.ring.Add(tail.Line{At: s.now(), Kind: k, Text: clean.Line(text)})
	s.changed()
}

// refused adds a line about a refused tool.
func (s *status) refused(tool, why string) {
	s.line(tail.Refuse, tool+" refused: "+clean.Cut(clean.Line(why), maxShown))
}

// event adds an event to the tail and counts it.
func (s *status) event(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.Text:
		s.lines.take(tail.Text, ev.Delta)
		return
	case agent.Thinking:
		s.lines.take(tail.Think, ev.Delta)
		return
	}
	s.lines.flush()
	switch ev := ev.(type) {
	case agent.ToolStart:
		s.update(func(v *View) { v.Tools++ })
		s.begins(ev)
		label := toolset.Label(ev.Name, ev.Input)
		if ev.Subagent != "" {
			label = ev.Subagent + ": " + label
		}
		s.line(tail.Tool, label)
	case agent.ToolEnd:
		s.toolEnd(ev)
	case agent.Compacting:
		s.line(tail.Note, compacting(ev))
	case agent.Retry:
		s.line(tail.Note, fmt.Sprintf(textRetry, ev.Reason, ev.Wait.Round(time.Second), ev.Attempt, ev.Of))
	case agent.RateLimit:
		if ev.Status != "allowed" {
			s.line(tail.Note, fmt.Sprintf(textRateLimit, ev.Status, ev.Resets.In(s.zone).Format("15:04")))
		}
	case agent.Notice:
		s.line(tail.Note, ev.Text)
	}
}

// begins records a call made through the tool search.
func (s *status) begins(ev agent.ToolStart) {
	inner := toolset.Unwrap(agent.ToolUse{Name: ev.Name, Input: ev.Input}).Name
	if inner == ev.Name {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found[ev.ID] = inner
}

// ends returns the name of the tool whose call has ended.
func (s *status) ends(ev agent.ToolEnd) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	inner := s.found[ev.ID]
	delete(s.found, ev.ID)
	return cmp.Or(inner, ev.Name)
}

func (s *status) toolEnd(ev agent.ToolEnd) {
	text := shown(ev.Text)
	ev.Name = s.ends(ev)
	switch {
	case ev.Denied:
		if isPing(ev.Name) {
			s.update(func(v *View) { v.Refused++ })
		}
		s.line(tail.Refuse, fmt.Sprintf(textDenied, toolset.Label(ev.Name, nil), text))
	case ev.IsError && !strings.HasPrefix(ev.Name, toolset.Prefix):
		s.line(tail.Error, text)
	default:
		// The bot's own tools add their own line; do not repeat it.
		if last, ok := s.ring.Last(); !ok || !strings.HasSuffix(last.Text, text) {
			s.line(tail.Result, text)
		}
	}
}

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
