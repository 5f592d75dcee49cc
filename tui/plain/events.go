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

// event is one thing that has happened.
type event struct {
	at    time.Time
	kind  string
	words string
}

// notice reports words of the program itself.
func (e event) notice() bool {
	switch e.kind {
	case string(notice.Info), string(notice.Warn), string(notice.Alert), kindNotice:
		return true
	}
	return false
}

// snapshotDiff remembers the last snapshot and finds what is new in the next one.
type snapshotDiff struct {
	last     core.Snapshot
	heard    map[string]bool // messages, and whether they still grow
	notice   uint64
	runs     map[string]fork.State
	updates  map[string]bool
	problems map[string]bool
	asked    map[string]bool
	numbers  numbers // of tool calls and buttons
	events   []event
	said     map[string]time.Time // what was told in a short while
}

// notAgain is how long what was said stays said: trouble in the conversation is a
// notice and a message.
const notAgain = 10 * time.Second

// hear gives what is new, in the order in which it can be told.
func (e *snapshotDiff) hear(s *core.Snapshot) []event {
	e.events = nil
	e.state(s)
	for _, p := range fresh(&e.problems, s.Schedule.Problems, func(p routines.Problem) (string, bool) { return problemText(p), true }) {
		e.add(s.At, kindProblem, problemText(p))
	}
	for _, f := range fresh(&e.runs, s.Forks, func(f fork.View) (string, fork.State) { return f.ID, f.State }) {
		e.add(cmp.Or(f.Ended, f.Started, f.Queued), kindRun, runText(f))
	}
	for _, u := range fresh(&e.updates, s.Updates, updateKey) {
		e.add(u.At, kindUpdate, updateText(s, u))
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

// fresh gives the items of a list that are new since the last look, or look
// otherwise: look is an item's name, and what of it can change. was becomes what
// there is now.
func fresh[T any, V comparable](was *map[string]V, list []T, look func(T) (string, V)) []T {
	now := make(map[string]V, len(list))
	var out []T
	for _, item := range list {
		name, state := look(item)
		if old, known := (*was)[name]; !known || old != state {
			out = append(out, item)
		}
		now[name] = state
	}
	*was = now
	return out
}

// updateKey tells updates apart. While the list is full, each one that comes
// changes the entry that counts what was left out: that is said once, until the
// updates are taken.
func updateKey(u updates.Update) (string, bool) {
	if u.Dropped > 0 {
		return "", true
	}
	return u.Key, true
}

// add notes what has happened. What is told in two ways at once, such as a file
// with a mistake that is also left as an update, is said once.
func (e *snapshotDiff) add(at time.Time, kind, words string) {
	one, line := event{at, kind, words}, flat(words)
	maps.DeleteFunc(e.said, func(_ string, was time.Time) bool { return at.Sub(was) > notAgain })
	if _, again := e.said[line]; again && one.notice() {
		return
	}
	if e.said == nil {
		e.said = map[string]time.Time{}
	}
	e.said[line] = at
	e.events = append(e.events, one)
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
		e.add(s.At, kindBudget, s.BudgetText())
	}
	if !s.Budget.Muted.Equal(was.Budget.Muted) {
		e.add(s.At, kindBudget, s.MutedText())
	}
	switch {
	case s.Fork != nil && was.Fork == nil:
		e.add(s.At, kindFork, fmt.Sprintf(textEntered, cmp.Or(s.Fork.Topic, textLead)))
	case s.Fork == nil && was.Fork != nil:
		e.add(s.At, kindFork, textLeftFork)
	case s.Fork != nil && s.Fork.Asks && !was.Fork.Asks:
		e.add(s.At, kindFork, textForkAsks)
	}
}

// message tells of a message that is whole.
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
	case m.Role == transcript.Notice: // of the program itself
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

// approvals tells of tool calls that have come to wait, and that wait no longer.
func (e *snapshotDiff) approvals(s *core.Snapshot) {
	for _, a := range fresh(&e.asked, s.Approvals, func(a policy.Approval) (string, bool) { return a.ID, true }) {
		e.add(a.Asked, kindApproval, fmt.Sprintf("number %d, %s", e.numbers.of(allCalls, a.ID), e.numbers.call(s, a).line))
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
