package plain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/core/notice"
	"ollimbot/core/post"
	"ollimbot/core/transcript"
	"ollimbot/core/updates"
	"ollimbot/routines"
)

// event is one thing that has happened.
type event struct {
	at    time.Time
	kind  string
	words string
}

// snapshotDiff remembers the last snapshot and finds what is new in the next one.
type snapshotDiff struct {
	zone *time.Location
	last core.Snapshot

	heard    map[post.MessageID]bool // messages that were said
	notice   uint64
	runs     map[string]fork.State
	updates  map[string]bool
	problems map[string]bool
	calls    map[string]call // tool calls that wait, by id
	numbers  int             // given to tool calls so far
	buttons  []button        // that have a number, which is the index and one
	// flood says that the list of updates is full, and that this was said.
	flood  bool
	events []event
	said   map[string]time.Time // notices, of a short while
}

// notAgain is how long what was said stays said: trouble in the conversation is a
// notice and a message.
const notAgain = 10 * time.Second

// begin takes a first snapshot: what stands in it is past, save for what waits
// for the user and what is wrong.
func (e *snapshotDiff) begin(s *core.Snapshot) {
	e.heard, e.runs = map[post.MessageID]bool{}, map[string]fork.State{}
	e.updates, e.problems, e.calls = map[string]bool{}, map[string]bool{}, map[string]call{}
	e.said = map[string]time.Time{}
	e.zone = time.Local
	if s.Zone != nil {
		e.zone = s.Zone
	}
	e.last = *s
	for _, m := range s.Chat {
		e.heard[m.ID] = !m.Streaming
	}
	for _, n := range s.Notices {
		e.notice = max(e.notice, n.Seq)
	}
	for _, f := range s.Forks {
		e.runs[f.ID] = f.State
	}
	for _, u := range s.Updates {
		e.updates[u.Key] = true
		e.flood = e.flood || u.Dropped > 0
	}
}

// hear gives what is new, in the order in which it can be told.
func (e *snapshotDiff) hear(s *core.Snapshot) []event {
	e.events = nil
	if s.Zone != nil {
		e.zone = s.Zone
	}
	e.state(s)
	e.trouble(s.Schedule.Problems, s.At)
	e.forks(s.Forks)
	e.pending(s)
	e.chat(s.Chat)
	e.approvals(s)
	for _, n := range s.Notices {
		if n.Seq > e.notice {
			e.notice = n.Seq
			e.add(n.At, string(n.Level), spoken(n.Text))
		}
	}
	e.last = *s
	return e.events
}

// add notes what has happened. What is told in two ways at once, such as a file
// with a mistake that is also left as an update, is said once.
func (e *snapshotDiff) add(at time.Time, kind, words string) {
	switch kind {
	case string(notice.Info), string(notice.Warn), string(notice.Alert), kindNotice:
		maps.DeleteFunc(e.said, func(_ string, was time.Time) bool { return at.Sub(was) > notAgain })
		heard := func(said event) bool { return flat(said.words) == flat(words) }
		if _, again := e.said[flat(words)]; again || slices.ContainsFunc(e.events, heard) {
			return
		}
		e.said[flat(words)] = at
	}
	e.events = append(e.events, event{at, kind, words})
}

// state tells of what is up or down, and of the budget's numbers.
func (e *snapshotDiff) state(s *core.Snapshot) {
	was := &e.last
	if s.Engine.OK != was.Engine.OK || s.Engine.Model != was.Engine.Model {
		e.add(s.At, kindEngine, flat(s.Engine.Name+" "+s.Engine.Model)+", "+upDown(s.Engine.OK, s.Engine.State))
	}
	if s.Surface.OK != was.Surface.OK {
		e.add(s.At, kindSurface, s.Surface.Name+" "+upDown(s.Surface.OK, s.Surface.State))
	}
	a, b := was.Budget.State, s.Budget.State
	if a.Capacity != b.Capacity || a.RefillRateMinutes != b.RefillRateMinutes {
		e.add(s.At, kindBudget, budgetText(s, e.zone))
	}
	if !s.Budget.Muted.Equal(was.Budget.Muted) {
		e.add(s.At, kindBudget, mutedText(s.Budget.Muted, s.At, e.zone))
	}
	switch {
	case s.Fork != nil && was.Fork == nil:
		e.add(s.At, kindFork, enteredText(s.Fork))
	case s.Fork == nil && was.Fork != nil:
		e.add(s.At, kindFork, textLeftFork)
	case s.Fork != nil && s.Fork.Asks && !was.Fork.Asks:
		e.add(s.At, kindFork, textForkAsks)
	}
}

// trouble tells of files that have become wrong.
func (e *snapshotDiff) trouble(problems []routines.Problem, at time.Time) {
	now := map[string]bool{}
	for _, p := range problems {
		words := problemText(p)
		if now[words] = true; !e.problems[words] {
			e.add(at, kindProblem, words)
		}
	}
	e.problems = now
}

// forks tells of runs that have come, begun or ended.
func (e *snapshotDiff) forks(list []fork.View) {
	now := make(map[string]fork.State, len(list))
	for _, f := range list {
		now[f.ID] = f.State
		was, known := e.runs[f.ID]
		if known && was == f.State {
			continue
		}
		at := f.Queued
		switch {
		case f.State == fork.Running:
			at = f.Started
		case !f.Live():
			at = f.Ended
		}
		e.add(at, kindRun, runText(f))
	}
	e.runs = now
}

// pending tells of updates that have come. While the list is full, each one
// changes the entry that counts what was left out: that is said once, until the
// updates are taken.
func (e *snapshotDiff) pending(s *core.Snapshot) {
	list := s.Updates
	now, flood := make(map[string]bool, len(list)), false
	for _, u := range list {
		now[u.Key] = true
		switch {
		case u.Dropped > 0:
			if flood = true; !e.flood {
				e.add(u.At, kindUpdate, fmt.Sprintf(textFlood, updates.MaxPending))
			}
		case !e.updates[u.Key]:
			e.add(u.At, kindUpdate, s.Sourced(u))
		}
	}
	e.updates, e.flood = now, flood
}

// chat tells of messages that are whole.
func (e *snapshotDiff) chat(entries []transcript.Entry) {
	now := make(map[post.MessageID]bool, len(entries))
	for _, m := range entries {
		if now[m.ID] = !m.Streaming; m.Streaming || e.heard[m.ID] {
			continue
		}
		kind := string(m.Role)
		if m.Role == transcript.Ping && m.Critical {
			kind = kindCritical
		}
		for _, tool := range m.Tools {
			if label, denied := strings.CutSuffix(tool, transcript.DeniedMark); denied {
				e.add(m.At, kindDenied, label)
			}
		}
		words := messageText(m)
		if m.Role == transcript.Notice { // of the program itself
			words = spoken(words)
		}
		if words != "" {
			e.add(m.At, kind, words)
		}
		if words := e.buttonsText(m); words != "" {
			e.add(m.At, kindButton, words)
		}
	}
	e.heard = now
}
