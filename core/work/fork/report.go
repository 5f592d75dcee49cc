package fork

import (
	"context"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/tail"
	"ollimbot/core/brief/toolset"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// Report appends an update for the main session.
func (t *tools) Report(ctx context.Context, message string) agent.ToolResult {
	leave, refusal := t.enter(ctx)
	if refusal != "" {
		return toolset.Refusal(refusal)
	}
	defer leave()
	if t.job.Task.Mode == routines.Blocked {
		t.status.line(tail.Refuse, textReportRefused)
		return toolset.Refusal(answerReportBlocked)
	}
	from := t.guard.Label()
	update := message
	if from != "" {
		update = fmt.Sprintf(reportLabeled, from) + message
	}
	err := t.o.Updates.AppendFrom(t.o.now(), update, t.status.source(), from.Via(fmt.Sprintf(labelRun, t.status.id)))
	t.mu.Lock()
	t.lost = err
	t.mu.Unlock()
	if err != nil {
		t.status.line(tail.Error, fmt.Sprintf(textReportFailed, clean.Line(err.Error())))
		return toolset.Refusal(fmt.Sprintf(answerReportFailed, err))
	}
	t.reported, t.unreported = true, false
	t.status.update(func(v *View) { v.Reports++ })
	t.status.line(tail.Report, shown(message))
	return toolset.Said(answerReported)
}

// lostReport returns why the last report could not be stored, or nil.
func (t *tools) lostReport() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}

// stopRule is the Stop hook: a run that still owes a report may not end. It blocks once;
// a turn that continued because of it may end in any case.
func (t *tools) stopRule(ctx context.Context, again bool) (reason string) {
	defer fault.Rescue("the stop hook", func(f *fault.Error) {
		t.o.Log.Error("stop hook failed", "run", t.status.id, "error", f)
		reason = ""
	})
	leave, refusal := t.enter(ctx)
	if refusal != "" {
		return ""
	}
	defer leave()
	if again || t.blocked {
		return ""
	}
	switch t.job.Task.Mode {
	case routines.Always:
		if !t.reported {
			reason = stopAlways
		}
	case routines.Freely, routines.Blocked:
	default: // on_ping, and any unknown value in a file
		if t.unreported {
			reason = stopOnPing
		}
	}
	if reason != "" {
		t.blocked = true
		t.status.line(tail.Note, textMustReport)
	}
	return reason
}

// FollowUp schedules the chain's next check, once per run. It is allowed in every
// reporting mode.
func (t *tools) FollowUp(ctx context.Context, minutes int) agent.ToolResult {
	leave, refusal := t.enter(ctx)
	if refusal != "" {
		return toolset.Refusal(refusal)
	}
	defer leave()
	answer := t.chain.FollowUp(ctx, minutes)
	kind := tail.Note
	if answer.IsError {
		kind = tail.Refuse
	}
	t.status.line(kind, shown(answer.Text))
	return answer
}

// Stop pauses or ends the run's own routine. Untrusted text must not silence what the user has set
// up, so a run that has read any may not, even if its file trusts it otherwise.
func (t *tools) Stop(ctx context.Context, s toolset.Stop) agent.ToolResult {
	leave, refusal := t.enter(ctx)
	if refusal != "" {
		return toolset.Refusal(refusal)
	}
	defer leave()
	if t.job.Task.Kind != routines.KindRoutine {
		return t.notHere(toolset.StopRoutine, toolset.TextStopOutside)
	}
	if read := t.guard.Label(); read != "" {
		return t.notHere(toolset.StopRoutine, fmt.Sprintf(toolset.TextStopLabel, read))
	}
	done, err := t.o.Host.Stop(t.guard.Writer(), t.job.Task.ID, s)
	if err != nil {
		return t.notHere(toolset.StopRoutine, fmt.Sprintf(toolset.TextStopFailed, err))
	}
	t.status.update(func(v *View) { v.Stopped = done.Briefly })
	t.status.line(tail.Note, done.Said)
	if err := t.o.Updates.AppendFrom(t.o.now(), done.Said, t.status.source(), ""); err != nil {
		t.o.Log.Error("an update could not be saved", "run", t.status.id, "error", err)
	}
	return toolset.Said(done.Answer)
}

// SaveContext is refused: a background run never becomes the main session.
func (t *tools) SaveContext(context.Context) agent.ToolResult {
	return t.notHere(toolset.SaveContext, toolset.TextNoSave)
}

// EnterFork is refused: forks do not nest.
func (t *tools) EnterFork(context.Context, string, int) agent.ToolResult {
	return t.notHere(toolset.EnterFork, toolset.TextNoEnter)
}

// ExitFork is refused: a background run ends on its own.
func (t *tools) ExitFork(context.Context) agent.ToolResult {
	return t.notHere(toolset.ExitFork, toolset.TextNoExit+t.elsewhere())
}

// UpdateNames is refused: names are agreed between the user and the agent.
func (t *tools) UpdateNames(context.Context, string, string) agent.ToolResult {
	return t.notHere(toolset.UpdateNames, toolset.TextNoNames)
}

// Propose is refused: the user makes no promises in a background run.
func (t *tools) Propose(context.Context, toolset.Promise) agent.ToolResult {
	return t.notHere(toolset.ProposeReminder, toolset.TextProposeOutside)
}

func (t *tools) notHere(tool, why string) agent.ToolResult {
	t.status.refused(tool, why)
	return toolset.Refusal(why)
}

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
