package fork

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/tail"
	"ollimbot/core/brief/toolset"
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
