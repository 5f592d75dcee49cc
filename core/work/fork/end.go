package fork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/routines"
)

// end decides how the run ended, tells the user where that is due, and
// writes the session's history event.
func (r *run) end(ctx context.Context, err error) {
	r.mu.Lock()
	asked := r.asked
	title, timeout := r.view.Title, r.view.Timeout
	r.mu.Unlock()
	switch {
	case err == nil && r.lostReport() != nil:
		r.remember()
		why := clean.Cut(clean.Line(fmt.Sprintf(textReportLost, r.lostReport())), 300)
		r.conclude(Failed, why)
		r.notify(fmt.Sprintf(tellFailed, title, why))
	case err == nil:
		r.remember()
		if asked == nil && r.job.Task.Mode == routines.Always && r.snapshot().Reports == 0 {
			r.conclude(NoReport, textNoReport)
			r.confess(title)
			break
		}
		r.conclude(Done, "")
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && asked == nil:
		n := words.Count(int(timeout/time.Minute), "minute")
		r.conclude(TimedOut, fmt.Sprintf(textTimedOut, n))
		r.notify(fmt.Sprintf(tellTimedOut, title, n))
	case errors.Is(asked, errUserStop):
		r.conclude(Stopped, "")
	case errors.Is(asked, errShutdown):
		r.conclude(Interrupted, textProgramEnded)
	default:
		why := clean.Cut(clean.Line(err.Error()), 300)
		r.conclude(Failed, why)
		r.notify(fmt.Sprintf(tellFailed, title, why))
	}
	r.logSession()
}

// confess queues an update in the name of a run that made none.
func (r *run) confess(title string) {
	if err := r.m.o.Updates.Append(r.m.now(), fmt.Sprintf(updateNoReport, title)); err != nil {
		r.m.log.Error("an update could not be saved", "run", r.id, "error", err)
	}
}

// conclude sets the final state and says so in the tail.
func (r *run) conclude(s State, why string) {
	kind, text := tail.Note, string(s)
	if why != "" {
		text += ": " + why
	}
	if s == Failed || s == TimedOut || s == NoReport {
		kind = tail.Error
	}
	r.line(kind, text)
	r.update(func(v *View) { v.State, v.Ended, v.Error = s, r.m.now(), why })
}

// notify informs the user of a run that did not work, ignoring the budget.
func (r *run) notify(text string) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	p := post.Post{Nonce: r.id + "-end", Text: text, Small: true, Source: r.snapshot().Title}
	if _, err := r.m.o.Host.Post(ctx, p); err != nil {
		r.m.log.Warn("user was not told about a failed run", "run", r.id, "error", err)
	}
}

// logSession writes the history event of a run that had a session.
func (r *run) logSession() {
	v := r.snapshot()
	if v.Session == "" {
		return
	}
	e := session.Event{SessionID: v.Session, Event: session.BgFork, Parent: v.Parent}
	if r.job.Task.Isolated {
		e.Event, e.Parent = session.IsolatedBg, ""
	}
	if err := r.m.o.Sessions.Log(r.m.now(), e); err != nil {
		r.m.log.Warn("session history was not written", "run", r.id, "error", err)
	}
}

// remember records the messages of a run that has succeeded: the
// session of one that failed is nothing to go on with. A message that is still
// on its way when the run ends is waited for.
func (r *run) remember() {
	if r.m.o.Messages == nil {
		return
	}
	select {
	case r.gate <- struct{}{}:
		defer func() { <-r.gate }()
	case <-time.After(grace): // then it stays unknown, and a reply quotes it
	}
	r.mu.Lock()
	ids := slices.Clone(r.messages)
	v := r.view
	r.mu.Unlock()
	if len(ids) == 0 || v.Session == "" {
		return
	}
	parent := v.Parent
	if r.job.Task.Isolated {
		parent = ""
	}
	if err := r.m.o.Messages.Record(r.m.now(), ids, v.Session, parent); err != nil {
		r.m.log.Warn("messages of a background run were not recorded: replies will quote them", "run", r.id, "error", err)
	}
}

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
