package fork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/post"
	"ollimbot/core/session"
	"ollimbot/core/tail"
	"ollimbot/core/words"
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
		if asked == nil && r.owes() {
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

// owes reports whether the task always reports and this run has not.
func (r *run) owes() bool {
	return r.job.Task.Mode == routines.Always && r.snapshot().Reports == 0
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
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case r.gate <- struct{}{}:
		defer func() { <-r.gate }()
	case <-patience.C: // then it stays unknown, and a reply quotes it
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
