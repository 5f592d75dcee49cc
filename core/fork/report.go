package fork

import (
	"context"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/fault"
	"ollimbot/core/tail"
	"ollimbot/core/toolset"
	"ollimbot/routines"
)

// Report appends an update for the main session.
func (r *run) Report(ctx context.Context, message string) agent.ToolResult {
	leave, refusal := r.enter(ctx)
	if refusal != "" {
		return toolset.Refusal(refusal)
	}
	defer leave()
	if r.job.Task.Mode == routines.Blocked {
		r.line(tail.Refuse, textReportRefused)
		return toolset.Refusal(answerReportBlocked)
	}
	update := message
	if why := r.guard.Tainted(); why != "" {
		update = fmt.Sprintf(reportTainted, why) + message
	}
	if err := r.m.o.Updates.Append(r.m.now(), update); err != nil {
		r.mu.Lock()
		r.lost = err
		r.mu.Unlock()
		r.line(tail.Error, fmt.Sprintf(textReportFailed, clean.Line(err.Error())))
		return toolset.Refusal(fmt.Sprintf(answerReportFailed, err))
	}
	r.reported, r.unreported = true, false
	r.mu.Lock()
	r.lost = nil
	r.mu.Unlock()
	r.update(func(v *View) { v.Reports++ })
	r.line(tail.Report, shown(message))
	return toolset.Said(answerReported)
}

// lostReport is why the last report could not be stored; nil where it could.
func (r *run) lostReport() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

// FollowUp schedules the chain's next check, once in a run. It is allowed in
// every reporting mode.
func (r *run) FollowUp(ctx context.Context, minutes int) agent.ToolResult {
	leave, refusal := r.enter(ctx)
	if refusal != "" {
		return toolset.Refusal(refusal)
	}
	defer leave()
	answer := r.chain.FollowUp(ctx, minutes)
	kind := tail.Note
	if answer.IsError {
		kind = tail.Refuse
	}
	r.line(kind, shown(answer.Text))
	return answer
}

// Reminders is the book that the reminder tools write in.
func (r *run) Reminders() toolset.ReminderBook { return r.m.o.Host.Reminders(r.guard.Writer()) }

// stopRule is the Stop hook: a run that owes a report may not end
// yet. It blocks once; a turn that goes on because of it may end in any case.
func (r *run) stopRule(ctx context.Context, again bool) (reason string) {
	defer fault.Rescue("the stop hook", func(f *fault.Error) {
		r.m.log.Error("stop hook failed", "run", r.id, "error", f)
		reason = ""
	})
	leave, refusal := r.enter(ctx)
	if refusal != "" {
		return ""
	}
	defer leave()
	if again || r.blocked {
		return ""
	}
	switch r.job.Task.Mode {
	case routines.Always:
		if !r.reported {
			reason = stopAlways
		}
	case routines.Freely, routines.Blocked:
	default: // on_ping, and whatever a file may hold
		if r.unreported {
			reason = stopOnPing
		}
	}
	if reason != "" {
		r.blocked = true
		r.line(tail.Note, textMustReport)
	}
	return reason
}

// SaveContext is refused: a background run never becomes the main session.
func (r *run) SaveContext(context.Context) agent.ToolResult {
	return r.notHere(toolset.SaveContext, toolset.TextNoSave)
}

// EnterFork is refused: forks do not nest.
func (r *run) EnterFork(context.Context, string, int) agent.ToolResult {
	return r.notHere(toolset.EnterFork, toolset.TextNoEnter)
}

// ExitFork is refused: a background run ends when it has nothing more to do.
func (r *run) ExitFork(context.Context) agent.ToolResult {
	return r.notHere(toolset.ExitFork, toolset.TextNoExit+r.elsewhere())
}

// UpdateNames is refused: names are a matter between the user and the agent.
func (r *run) UpdateNames(context.Context, string, string) agent.ToolResult {
	return r.notHere(toolset.UpdateNames, toolset.TextNoNames)
}

func (r *run) notHere(tool, why string) agent.ToolResult {
	r.line(tail.Refuse, tool+" refused: "+clean.Cut(clean.Line(why), maxShown))
	return toolset.Refusal(why)
}
