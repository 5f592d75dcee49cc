package tui

import (
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/view"
)

// approvals tracks pending tool calls, so that the user notices a new one while looking elsewhere, and one that was
// answered elsewhere.
type approvals struct {
	waiting map[string]policy.Approval
	// answered are the calls answered here, until the answer is executed.
	answered map[string]policy.Approval
	// hidden is the id of a call whose card the user has hidden on a small screen.
	hidden string
	// gone is when the last call was no longer pending.
	gone time.Time
	// forkAsks means that the agent is asking whether to save the fork.
	forkAsks bool
}

// follow compares a snapshot with the previous one. visible means that the user sees the calls and the keys to answer
// them. It reports news, and returns the reason to ring, or empty.
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
	if len(now) == 0 && len(a.waiting) > 0 {
		a.gone = time.Now()
	}
	asks := s.Fork != nil && s.Fork.Asks
	if asks && !a.forkAsks {
		ring = textForkAsks
	}
	a.waiting, a.forkAsks = now, asks
	return ring
}

// answer records that the user answers a call here.
func (a *approvals) answer(c command.Answer) {
	if call, ok := a.waiting[c.ID]; ok {
		if a.answered == nil {
			a.answered = map[string]policy.Approval{}
		}
		a.answered[c.ID] = call
	}
}

// answerDone removes the answer, and returns its outcome with the call.
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
