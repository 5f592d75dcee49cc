package plain

import (
	"time"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/core/policy"
	"ollimbot/core/post"
	"ollimbot/core/transcript"
	"ollimbot/routines"
)

// event is one thing that has happened.
type event struct {
	at    time.Time
	kind  string
	words string
}

// ear remembers the last snapshot and finds what is new in the next one.
type ear struct {
	zone *time.Location
	last core.Snapshot

	heard    map[post.MessageID]bool // messages that were said
	notice   uint64
	runs     map[string]fork.State
	updates  map[string]bool
	problems map[string]bool
	calls    map[string]call // tool calls that wait, by id
	numbers  int             // given to tool calls so far
	events   []event
}

// call is a tool call that waits, with the number that people answer to.
type call struct {
	policy.Approval
	number int
}

// begin takes a first snapshot: what stands in it is past, save for what waits
// for the user and what is wrong.
func (e *ear) begin(s *core.Snapshot) {
	e.heard, e.runs = map[post.MessageID]bool{}, map[string]fork.State{}
	e.updates, e.problems, e.calls = map[string]bool{}, map[string]bool{}, map[string]call{}
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
	}
}

// hear gives what is new, in the order in which it can be told.
func (e *ear) hear(s *core.Snapshot) []event {
	e.events = nil
	if s.Zone != nil {
		e.zone = s.Zone
	}
	e.state(s)
	e.trouble(s.Schedule.Problems, s.At)
	e.forks(s.Forks)
	for _, u := range s.Updates {
		if !e.updates[u.Key] {
			e.add(u.At, kindUpdate, u.Message)
		}
	}
	e.updates = map[string]bool{}
	for _, u := range s.Updates {
		e.updates[u.Key] = true
	}
	e.chat(s.Chat)
	e.approvals(s)
	for _, n := range s.Notices {
		if n.Seq > e.notice {
			e.notice = n.Seq
			e.add(n.At, string(n.Level), n.Text)
		}
	}
	e.last = *s
	return e.events
}

func (e *ear) add(at time.Time, kind, words string) {
	e.events = append(e.events, event{at, kind, words})
}

// state tells of what is up or down, and of the budget's numbers.
func (e *ear) state(s *core.Snapshot) {
	was := &e.last
	if s.Engine.OK != was.Engine.OK || s.Engine.Model != was.Engine.Model {
		e.add(s.At, kindEngine, s.Engine.Name+" "+s.Engine.Model+" "+upDown(s.Engine.OK, s.Engine.State))
	}
	if s.Surface.OK != was.Surface.OK {
		e.add(s.At, kindSurface, s.Surface.Name+" "+upDown(s.Surface.OK, s.Surface.State))
	}
	a, b := was.Budget.State, s.Budget.State
	if a.Capacity != b.Capacity || a.RefillRateMinutes != b.RefillRateMinutes {
		e.add(s.At, kindBudget, s.Budget.Status)
	}
	if !s.Budget.Muted.Equal(was.Budget.Muted) {
		e.add(s.At, kindBudget, mutedText(s.Budget.Muted, e.zone))
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
func (e *ear) trouble(problems []routines.Problem, at time.Time) {
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
func (e *ear) forks(list []fork.View) {
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

// chat tells of messages that are whole.
func (e *ear) chat(entries []transcript.Entry) {
	now := make(map[post.MessageID]bool, len(entries))
	for _, m := range entries {
		if now[m.ID] = !m.Streaming; m.Streaming || e.heard[m.ID] {
			continue
		}
		kind := string(m.Role)
		if m.Role == transcript.Ping && m.Critical {
			kind = kindCritical
		}
		if words := messageText(m); words != "" {
			e.add(m.At, kind, words)
		}
	}
	e.heard = now
}

// approvals tells of tool calls that have come to wait, and that wait no longer.
func (e *ear) approvals(s *core.Snapshot) {
	now := make(map[string]call, len(s.Approvals))
	for _, a := range s.Approvals {
		c, known := e.calls[a.ID]
		if !known {
			e.numbers++
			c = call{a, e.numbers}
			e.add(a.Asked, kindApproval, askText(c, e.zone))
		}
		now[a.ID] = c
	}
	for id, c := range e.calls {
		if _, waits := now[id]; !waits {
			e.add(s.At, kindApproval, settledText(c, s.At))
		}
	}
	e.calls = now
}
