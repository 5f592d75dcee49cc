package tui

import (
	"time"

	"ollimbot/core/command"
	"ollimbot/core/notice"
	"ollimbot/core/policy"
	"ollimbot/tui/action"
)

// desk remembers the tool calls that wait, so that the user hears of one that
// has come while they look elsewhere, and of one that somebody else has settled.
type desk struct {
	waiting map[string]policy.Approval
	// answered are those that were answered here, until the answer has arrived.
	answered map[string]policy.Approval
	// away is the id of a tool call that gave its room on a small screen back.
	away string
}

// watch compares the tool calls of a new snapshot with those of the last one.
func (r *root) watch() {
	now := make(map[string]policy.Approval, len(r.snap.Approvals))
	rings := false
	for _, a := range r.snap.Approvals {
		now[a.ID] = a
		_, waited := r.desk.waiting[a.ID]
		rings = rings || !waited
		if _, known := r.desk.waiting[a.ID]; !known && (r.focus != action.Chat || len(r.dialogs) > 0) {
			r.hear(notice.Warn, asksText(a, r.names()))
		}
	}
	for id, a := range r.desk.waiting {
		_, waits := now[id]
		_, mine := r.desk.answered[id]
		switch {
		case waits || mine:
		case r.snap.At.Before(a.Until):
			r.hear(notice.Info, goneText(a))
		default:
			r.hear(notice.Warn, expiredText(a))
		}
	}
	r.desk.waiting = now
	r.attention(rings)
}

// hear says something that is no answer to what the user does.
func (r *root) hear(level notice.Level, text string) {
	now := time.Now()
	r.speech.add(now, now, level, text)
}

// answering notes that the user answers here.
func (r *root) answering(c command.Answer) {
	if r.desk.answered == nil {
		r.desk.answered = map[string]policy.Approval{}
	}
	if a, ok := r.desk.waiting[c.ID]; ok {
		r.desk.answered[c.ID] = a
	}
}

// answeredText is what came of an answer, with the call that it was for.
func (r *root) answeredText(c command.Answer, outcome string) string {
	a, ok := r.desk.answered[c.ID]
	delete(r.desk.answered, c.ID)
	if !ok || outcome == "" {
		return outcome
	}
	return outcome + ": " + brief(a)
}
