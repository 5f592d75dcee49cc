package plain

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
)

// event is one event to print.
type event struct {
	at    time.Time
	kind  string
	words string
}

// notice reports whether the event is a notice of the program.
func (e event) notice() bool {
	switch e.kind {
	case string(notice.Info), string(notice.Warn), string(notice.Alert), kindNotice:
		return true
	}
	return false
}

// snapshotDiff compares snapshots and finds new events.
type snapshotDiff struct {
	last     core.Snapshot
	heard    map[string]bool // messages, and whether they are still growing
	notice   uint64
	runs     map[string]fork.State
	updates  map[string]bool
	problems map[string]bool
	asked    map[string]bool
	numbers  numbers // of tool calls and buttons
	events   []event
	recent   map[string]event // lines of the last seconds
}

// notAgain is how long a line from another source counts as a repetition: an error in the conversation is both a
// notice and a message.
const notAgain = 10 * time.Second

// news returns the events since the last snapshot, in a logical order.
func (e *snapshotDiff) news(s *core.Snapshot) []event {
	e.events = nil
	e.state(s)
	for _, p := range fresh(&e.problems, s.Schedule.Problems, func(p routines.Problem) (string, bool) { return problemText(p), true }) {
		e.add(s.At, kindProblem, problemText(p))
	}
	for _, f := range fresh(&e.runs, s.Forks, func(f fork.View) (string, fork.State) { return f.ID, f.State }) {
		e.add(cmp.Or(f.Ended, f.Started, f.Queued), kindRun, runText(s, f))
	}
	for _, u := range fresh(&e.updates, s.Updates, updateKey) {
		e.add(u.At, kindUpdate, s.UpdateText(u))
	}
	for _, n := range s.Notices {
		if n.Seq > e.notice {
			e.notice = n.Seq
			e.add(n.At, string(n.Level), spoken(n.Text))
		}
	}
	for _, m := range fresh(&e.heard, s.Chat, func(m transcript.Entry) (string, bool) { return string(m.ID), m.Streaming }) {
		if !m.Streaming {
			e.message(m)
		}
	}
	e.approvals(s)
	e.last = *s
	return e.events
}

// fresh returns the items of a list that are new or changed. key is an item's name and the
// part of it that can change. was becomes the state of this list.
func fresh[T any, V comparable](was *map[string]V, list []T, key func(T) (string, V)) []T {
	now := make(map[string]V, len(list))
	var out []T
	for _, item := range list {
		name, state := key(item)
		if old, known := (*was)[name]; !known || old != state {
			out = append(out, item)
		}
		now[name] = state
	}
	*was = now
	return out
}

// updateKey distinguishes updates. While the list is full, each new update changes the entry that counts dropped
// ones, which is printed only once.
func updateKey(u updates.Update) (string, bool) {
	if u.Dropped > 0 {
		return "", true
	}
	return u.Key, true
}

// add adds an event. It omits a notice that repeats another event, such as an error in a file that is also an update.
// A repeated message of the conversation is a new event, because a script may wait for it.
func (e *snapshotDiff) add(at time.Time, kind, words string) {
	one, line := event{at, kind, words}, flat(words)
	maps.DeleteFunc(e.recent, func(_ string, was event) bool { return at.Sub(was.at) > notAgain })
	if was, again := e.recent[line]; again && one.notice() && (kind != kindNotice || was.kind != kindNotice) {
		return
	}
	if e.recent == nil {
		e.recent = map[string]event{}
	}
	e.recent[line] = one
	e.events = append(e.events, one)
}

// state compares connections, the budget and the fork.
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
		e.add(s.At, kindBudget, s.BudgetText())
	}
	if !s.Budget.Muted.Equal(was.Budget.Muted) {
		e.add(s.At, kindBudget, s.MutedText())
	}
	switch {
	case s.Fork != nil && was.Fork == nil:
		e.add(s.At, kindFork, fmt.Sprintf(textEntered, cmp.Or(s.Fork.Topic, "no topic yet")))
	case s.Fork == nil && was.Fork != nil:
		e.add(s.At, kindFork, textLeftFork)
	case s.Fork != nil && s.Fork.Asks && !was.Fork.Asks:
		e.add(s.At, kindFork, textForkAsks)
	}
}

// message adds a complete message, the tools it was denied and its buttons.
func (e *snapshotDiff) message(m transcript.Entry) {
	for _, tool := range m.Tools {
		if label, denied := strings.CutSuffix(tool, transcript.DeniedMark); denied {
			e.add(m.At, kindDenied, label)
		}
	}
	kind, text := string(m.Role), messageText(m)
	switch {
	case m.Role == transcript.Ping && m.Critical:
		kind = kindCritical
	case m.Role == transcript.Ping && m.Quiet:
		kind = kindQuiet
	case m.Role == transcript.Notice: // the program's own words
		text = spoken(text)
	}
	if text != "" {
		e.add(m.At, kind, text)
	}
	press := each(buttonsOf(m), func(t thing) string { return fmt.Sprintf("press %d for %s", e.numbers.of(allButtons, t.id), t.title) })
	if len(press) > 0 {
		e.add(m.At, kindButton, words.Joined(press...))
	}
}

// approvals adds new pending tool calls, and those no longer pending.
func (e *snapshotDiff) approvals(s *core.Snapshot) {
	for _, a := range fresh(&e.asked, s.Approvals, func(a policy.Approval) (string, bool) { return a.ID, true }) {
		number := e.numbers.of(allCalls, a.ID)
		e.add(a.Asked, kindApproval, fmt.Sprintf("number %d, %s", number, callThing(s, a, number).line))
	}
	for _, a := range e.last.Approvals {
		words := textCallGone
		short, _ := shortCall(a)
		if !a.Until.IsZero() && !s.At.Before(a.Until) {
			words = textCallDenied
		}
		if !e.asked[a.ID] {
			e.add(s.At, kindApproval, fmt.Sprintf(words, e.numbers.of(allCalls, a.ID), short))
		}
	}
}
