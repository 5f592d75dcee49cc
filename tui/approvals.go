package tui

import (
	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/view"
)

// approvals follows the tool calls that wait, so that the user learns of a new one while
// looking elsewhere, and of one that was settled elsewhere.
type approvals struct {
	waiting map[string]policy.Approval
	// answered are those that were answered here, until the answer is carried out.
	answered map[string]policy.Approval
	// hidden is the id of a call whose card the user has hidden on a small screen.
	hidden string
	// forkAsks says that the agent is waiting to hear whether to save the fork.
	forkAsks bool
}

// follow compares a snapshot with the one before. visible says that the user sees the
// calls and the keys that answer them. It reports what is new, and returns what to ring for; empty for nothing.
func (a *approvals) follow(s *core.Snapshot, visible bool, keys action.Names, tell func(level notice.Level, text string)) (ring string) {
	now := make(map[string]policy.Approval, len(s.Approvals))
	for _, call := range s.Approvals {
		now[call.ID] = call
		if _, known := a.waiting[call.ID]; known {
			continue
		}
		ring = view.Brief(call)
		if !visible {
			tell(notice.Warn, asksText(call, keys))
		}
	}
	for id, call := range a.waiting {
		_, waits := now[id]
		_, answered := a.answered[id]
		switch {
		case waits || answered:
		case s.At.Before(call.Until):
			tell(notice.Info, textAnsweredElsewhere+view.Brief(call))
		default:
			tell(notice.Warn, textExpired+view.Brief(call))
		}
	}
	asks := s.Fork != nil && s.Fork.Asks
	if asks && !a.forkAsks {
		ring = textForkAsks
	}
	a.waiting, a.forkAsks = now, asks
	return ring
}

// answer notes that the user answers a call here.
func (a *approvals) answer(c command.Answer) {
	if call, ok := a.waiting[c.ID]; ok {
		if a.answered == nil {
			a.answered = map[string]policy.Approval{}
		}
		a.answered[c.ID] = call
	}
}

// answerDone forgets the answer, and returns its outcome with the call that it was for.
func (a *approvals) answerDone(c command.Answer, outcome string) string {
	call, ok := a.answered[c.ID]
	delete(a.answered, c.ID)
	if !ok || outcome == "" {
		return outcome
	}
	if c.Verdict == policy.Always && call.Scope() != "" { // more than this call
		return outcome + ": " + call.Grant() + " until the bot ends"
	}
	return outcome + ": " + view.Brief(call)
}
