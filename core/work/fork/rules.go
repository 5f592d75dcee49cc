package fork

import (
	"fmt"

	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// may returns why a message may not be sent, worded for the agent, and briefly. Both are
// empty if it may be sent.
func (t *tools) may(m *outgoing) (why, briefly string) {
	insists := t.isEssential(m) || m.post.Critical && !m.post.Quiet
	switch {
	case !t.job.Task.AllowPing:
		return answerDisabled + t.elsewhere(), briefDisabled
	case insists:
		return "", ""
	case t.pings > 0:
		return answerLimit + t.elsewhere(), briefLimit
	case m.post.Quiet:
		return t.mayLeave()
	}
	return t.mayPing()
}

// isEssential reports whether the budget cannot refuse a message: the first one of a fire
// of an essential task. Messages of a run that has read untrusted text do not count,
// because they may be somebody else's words. It is silent in quiet hours and during a
// mute, as the user wished.
func (t *tools) isEssential(m *outgoing) bool {
	clean := m.own || t.guard.Label() == "" || t.job.Trusted
	m.essential = t.job.Task.Essential && t.pings == 0 && clean && !m.post.Critical && !m.post.Quiet
	if m.essential {
		_, until := t.o.Host.Busy()
		m.post.Quiet = !until.IsZero()
	}
	return m.essential
}

// mayPing makes the remaining checks of a ping before the budget, in order.
func (t *tools) mayPing() (why, briefly string) {
	busy, quiet := t.o.Host.Busy()
	if busy {
		return answerBusy + t.elsewhere() + answerOrCritical, briefBusy
	}
	if !quiet.IsZero() && quiet.After(t.o.now()) {
		quiet = quiet.In(t.o.Zone)
		return fmt.Sprintf(answerQuiet, cron.Clock(quiet)) + t.elsewhere() + answerOrCritical, fmt.Sprintf(briefQuiet, quiet.Format("15:04"))
	}
	return "", ""
}

// mayLeave is mayPing for a silent message. Quiet hours are about sounds, so it is sent
// then. A mute, a capacity of 0 and a conversation are about messages, so they block it.
func (t *tools) mayLeave() (why, briefly string) {
	if busy, _ := t.o.Host.Busy(); busy {
		return answerBusy + t.elsewhere(), briefBusy
	}
	if muted := t.o.Host.Muted(); !muted.IsZero() {
		muted = muted.In(t.o.Zone)
		return fmt.Sprintf(answerMutedUntil, cron.Clock(muted)) + t.elsewhere(), fmt.Sprintf(briefMutedUntil, muted.Format("15:04"))
	}
	if state, _ := t.o.Budget.State(t.o.now()); state.Capacity == 0 {
		return answerMuted + t.elsewhere(), briefMuted
	}
	if t.o.Host.Limits().QuietMessages <= 0 {
		return answerNoQuiet + t.elsewhere(), briefNoQuiet
	}
	return "", ""
}

// elsewhere tells the agent where its findings can go instead, if anywhere.
func (t *tools) elsewhere() string {
	if t.job.Task.Mode == routines.Blocked {
		return ""
	}
	return answerReport
}
