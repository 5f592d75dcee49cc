package fork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/routines"
)

// Reasons why a run was ended from outside.
var (
	errUserStop = errors.New("stopped by the user")
	errShutdown = errors.New("the program ends")
)

// run is the life of one background run, from the queue to its end.
type run struct {
	o      *Options
	job    Job
	id     string
	status *status
	guard  *policy.Session
	tools  *tools
	talk   *talk
	// start is closed when it is the run's turn, stopped when the user stops it, stop when
	// the program ends.
	start, stopped chan struct{}
	stop           <-chan struct{}
	stopOnce       sync.Once

	mu    sync.Mutex
	asked error // why it was asked to end; nil if it was not
	// unrecorded is set if the run's end could not be written to the ledger. It belongs to
	// the goroutine that performs the run.
	unrecorded bool
	// told means that the text of an essential task was sent; same owner.
	told bool
}

func newRun(o *Options, j Job, stop <-chan struct{}) *run {
	r := &run{o: o, job: j, id: store.NewID(), start: make(chan struct{}), stopped: make(chan struct{}), stop: stop}
	r.status = newStatus(o, View{
		ID: r.id, Kind: j.Task.Kind, TaskID: j.Task.ID, Title: clean.Line(j.Task.Title()), State: Waiting,
		Queued: o.now(), Late: j.Late, Model: j.Task.Model, NoModel: j.Said != nil,
	})
	switch {
	case j.Reminder != nil:
		r.status.view.Due = j.Reminder.RunAt
	case j.early():
		r.status.view.Due = j.At
	}
	r.guard = r.newGuard()
	r.tools = newTools(o, j, r.status, r.guard)
	r.talk = &talk{o: o, job: j, status: r.status, started: r.keepLabel}
	return r
}

// newGuard creates the run's guard, which tracks what the run has read.
func (r *run) newGuard() *policy.Session {
	taint := &policy.Taint{Trusted: r.job.Trusted, Changed: r.labeled}
	taint.Read(r.job.Label)
	return r.o.Guard.Session(policy.Scope{
		Kind: policy.Background, Session: r.id, Taint: taint,
		Rules: policy.Rules{Allowed: r.job.Allowed, Disallowed: r.job.Disallowed},
	})
}

// execute runs the job to its end and leaves nothing running.
func (r *run) execute(ctx context.Context) {
	limits := r.o.Host.Limits()
	if limits.Timeout <= 0 {
		limits.Timeout = defaultTimeout
	}
	r.begin(limits)
	// The end of the caller's context is a shutdown, which the watcher turns into an
	// interrupt and a grace period instead of an immediate end.
	base, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	runCtx, release := context.WithTimeout(base, limits.Timeout)
	defer release()

	var group errgroup.Group
	done := make(chan struct{})
	defer func() {
		close(done)
		if err := group.Wait(); err != nil {
			r.o.Log.Error("background run's helper failed", "run", r.id, "error", err)
		}
	}()
	group.Go(fault.Guard("a run's ledger", func() error { record(r.o, r.status, r.job.Delivery == "", done); return nil }))
	group.Go(fault.Guard("a run's watch", func() error { r.watch(ctx, runCtx, cancel, done); return nil }))
	var err error
	switch {
	case r.job.Said != nil:
		err = r.tools.say(runCtx, *r.job.Said)
	case r.job.asks():
		err = r.talk.converse(runCtx, r.options(limits))
	}
	r.insist(runCtx, err)
	r.tools.close()
	r.guard.End()
	r.end(runCtx, err)
}

// insist sends the text of an essential task if its run did not ping.
func (r *run) insist(ctx context.Context, err error) {
	why := r.unsaid(ctx, err)
	if why == "" {
		return
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	r.tools.plain(within, why)
	r.told = true
}

// unsaid returns why an essential task has not reached the user although it should have:
// no model was available, it failed, or its ping was refused. It is empty if nothing is
// missing: the run chose not to ping, or was asked to end.
func (r *run) unsaid(ctx context.Context, err error) string {
	r.mu.Lock()
	asked := r.asked
	r.mu.Unlock()
	select {
	case <-r.stop:
		return "" // it runs again after the next start
	default:
	}
	switch v := r.status.snapshot(); {
	case !r.job.Task.Essential || r.job.early() || v.Pings > 0 || asked != nil:
		return ""
	case err != nil && overdue(ctx):
		return fmt.Sprintf(textTimedOut, minutes(v.Timeout))
	case err != nil:
		return err.Error()
	}
	return cmp.Or(r.job.Plain, r.tools.lastRefusal())
}

func (r *run) begin(l Limits) {
	r.status.update(func(v *View) {
		v.State, v.Started, v.Timeout = Running, r.o.now(), l.Timeout
		if !v.NoModel {
			v.Model = cmp.Or(v.Model, l.Model)
		}
	})
	if r.job.Said != nil {
		r.status.line(tail.Note, textNoModel)
	}
	if r.job.Note != "" {
		r.status.line(tail.Note, r.job.Note)
	}
	if r.job.Label != "" {
		r.note(r.job.Label)
	}
	if r.job.Late {
		r.status.line(tail.Note, fmt.Sprintf(textLate, r.job.At.In(r.o.Zone).Format("Mon 15:04")))
	}
}

// labeled records that the run is about to read untrusted text.
func (r *run) labeled(l label.Label) {
	r.status.update(func(v *View) { v.Label, v.Trusted = l, r.job.Trusted })
	r.o.Audit.Record(r.o.now(), audit.Entry{
		Actor: audit.Bot, From: r.step(), Action: audit.InputRead, Subject: r.job.Task.ID, Detail: string(l.Via(audit.ThisRun)),
	})
	r.keepLabel()
	if r.status.snapshot().State == Running {
		r.note(l)
	}
}

// note notes in the tail that the run handles untrusted input.
func (r *run) note(l label.Label) {
	text := textLabeled
	switch {
	case r.job.Said != nil:
		text = textLabeledSaid
	case r.job.Trusted:
		text = textTrusted
	}
	r.status.line(tail.Note, fmt.Sprintf(text, l))
}

// keepLabel records the label of the run's session as soon as both are known.
func (r *run) keepLabel() {
	v := r.status.snapshot()
	if v.Label == "" || v.Session == "" {
		return
	}
	// The whole run counts as labelled, including its prompt.
	if err := r.o.Sessions.Labels().Read(v.Queued, v.Session, v.Label.Via(r.step())); err != nil {
		r.o.Log.Error("the label of a run's session was not recorded", "run", r.id, "error", err)
	}
}

// step returns the run as a step of a label.
func (r *run) step() string { return fmt.Sprintf(labelRun, r.id) }

// options returns the options of the run's session.
func (r *run) options(l Limits) agent.SessionOptions {
	t := r.job.Task
	o := agent.SessionOptions{
		Dir: r.o.Dir.Root(), SystemPrompt: r.o.Host.SystemPrompt(), BriefPrompt: r.o.Host.BriefPrompt(),
		Settings: agent.Settings{Model: cmp.Or(t.Model, l.Model), Thinking: "off", Mode: "default"},
		Hooks:    r.guard.Hooks(r.o.Commit), Permission: r.guard.Permission, Command: r.guard.Command(r.o.Commands),
		Tools:   toolset.Tools(r.tools),
		Allowed: slices.Clone(r.job.Allowed), Disallowed: slices.Clone(r.job.Disallowed),
	}
	if r.o.Tools != nil {
		o.Tools = append(o.Tools, r.o.Tools()...)
	}
	o.Hooks.Stop, o.Hooks.Afford, o.Hooks.Charge = r.tools.stopRule, r.talk.afford(l.TurnCap), r.talk.book
	if main := r.o.Sessions.Main(); main != "" && !t.Isolated {
		o.Resume, o.Fork = main, true
		r.guard.Reads(r.o.Sessions.Labels().Of(main).Via(labelMain))
	}
	if t.Thinking {
		o.Settings.Thinking = cmp.Or(l.Alone, "adaptive")
		if o.Fork {
			o.Settings.Thinking = cmp.Or(l.Thinking, "adaptive")
		}
	}
	return o
}

// watch ends the session after a stop, a shutdown or the timeout.
func (r *run) watch(caller, runCtx context.Context, cancel context.CancelCauseFunc, done <-chan struct{}) {
	cause, limit := errShutdown, partingGrace
	select {
	case <-done:
		return
	case <-runCtx.Done():
		r.talk.close()
		return
	case <-r.stopped:
		cause, limit = errUserStop, grace
		r.status.line(tail.Note, textStopping)
	case <-r.stop:
	case <-caller.Done():
	}
	r.mu.Lock()
	r.asked = cause
	r.mu.Unlock()
	s := r.talk.session()
	if s == nil {
		cancel(cause)
		return
	}
	patience, release := context.WithTimeout(runCtx, limit)
	defer release()
	// Repeat every second: an interrupt between opening and sending has no effect.
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		if err := s.Interrupt(patience); err != nil && patience.Err() == nil {
			r.o.Log.Warn("background run could not be interrupted", "run", r.id, "error", err)
		}
		select {
		case <-done:
			return
		case <-patience.Done():
			cancel(cause)
			r.talk.close()
			return
		case <-again.C:
		}
	}
}

// end determines how the run ended, tells the user if it failed, and writes the session's
// history event.
func (r *run) end(ctx context.Context, err error) {
	r.mu.Lock()
	asked := r.asked
	r.mu.Unlock()
	select {
	case <-r.stop:
		if err != nil && asked == nil { // the watcher was slower
			asked = errShutdown
		}
	default:
	}
	v := r.status.snapshot()
	switch lost := r.tools.lostReport(); {
	case err == nil && lost != nil:
		r.remember()
		r.fail(fmt.Sprintf(textReportLost, lost))
	case err == nil && asked == nil && r.job.Task.Mode == routines.Always && v.Reports == 0 && r.job.asks():
		r.remember()
		r.conclude(NoReport, textNoReport)
		if err := r.o.Updates.AppendFrom(r.o.now(), fmt.Sprintf(updateNoReport, v.Title), r.status.source(), ""); err != nil {
			r.o.Log.Error("an update could not be saved", "run", r.id, "error", err)
		}
	case err == nil:
		r.remember()
		r.conclude(Done, "")
	case overdue(ctx) && asked == nil:
		n := minutes(v.Timeout)
		r.conclude(TimedOut, fmt.Sprintf(textTimedOut, n))
		r.notify(fmt.Sprintf(tellTimedOut, v.Title, n))
	case errors.Is(asked, errUserStop):
		r.conclude(Stopped, "")
	case errors.Is(asked, errShutdown):
		r.conclude(Interrupted, textProgramEnded)
	default:
		r.fail(err.Error())
	}
	r.logSession()
}

// overdue reports whether a run has used its time. Its error does not say so: it depends on which of its parts ends first.
func overdue(ctx context.Context) bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) }

func minutes(d time.Duration) string { return words.Count(int(d/time.Minute), "minute") }

// fail marks a run as failed and tells the user.
func (r *run) fail(why string) {
	why = clean.Cut(clean.Line(why), 300)
	r.conclude(Failed, why)
	r.notify(fmt.Sprintf(tellFailed, r.status.snapshot().Title, why))
}

// conclude sets the final state and adds it to the tail.
func (r *run) conclude(s State, why string) {
	kind, text := tail.Note, string(s)
	if why != "" {
		text += ": " + why
	}
	if s.Failed() {
		kind = tail.Error
	}
	r.status.line(kind, text)
	r.status.update(func(v *View) { v.State, v.Ended, v.Error = s, r.o.now(), why })
}

// notify tells the user about a failed run, ignoring the budget. The text of an essential
// task has already done so.
func (r *run) notify(text string) {
	if r.told {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	v := r.status.snapshot()
	p := post.Post{Nonce: r.id + "-end", Text: text, Small: true, Source: v.Title, Kind: post.KindNews, Cause: v.Title}
	if _, err := r.o.Host.Post(ctx, p); err != nil {
		r.o.Log.Warn("the user was not informed of a failed run", "run", r.id, "error", err)
	}
}

// logSession writes the history event of a run that had a session.
func (r *run) logSession() {
	v := r.status.snapshot()
	if v.Session == "" {
		return
	}
	e := session.Event{SessionID: v.Session, Event: session.BgFork, Parent: v.Parent}
	if r.job.Task.Isolated {
		e.Event, e.Parent = session.IsolatedBg, ""
	}
	if err := r.o.Sessions.Log(r.o.now(), e); err != nil {
		r.o.Log.Warn("session history was not written", "run", r.id, "error", err)
	}
}

// remember records the messages of a successful run, so that replies continue its
// session. The session of a failed run is not worth continuing.
func (r *run) remember() {
	if r.o.Messages == nil {
		return
	}
	ids := r.tools.messages()
	v := r.status.snapshot()
	if len(ids) == 0 || v.Session == "" {
		return
	}
	if r.job.Task.Isolated {
		v.Parent = ""
	}
	if err := r.o.Messages.Record(r.o.now(), ids, v.Session, v.Parent); err != nil {
		r.o.Log.Warn("messages of a background run were not recorded: replies will quote them", "run", r.id, "error", err)
	}
}
