package fork

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/post"
	"ollimbot/core/session"
	"ollimbot/core/store"
	"ollimbot/core/tail"
	"ollimbot/core/toolset"
)

// Why a run was ended from outside.
var (
	errUserStop = errors.New("stopped by the user")
	errShutdown = errors.New("the program ends")
)

// reopen are the pauses before another try to open a session that timed out
// (spec 05.7.1).
var reopen = []time.Duration{5 * time.Second, 15 * time.Second}

// run is one background run. Its tools, hooks and permission callback are its
// methods, so that a call is known by the object it arrives at.
type run struct {
	m    *Manager
	job  Job
	id   string
	ring *tail.Ring
	// start is closed when the run's turn has come, stopped when the user wants
	// it to end.
	start, stopped chan struct{}
	stopOnce       sync.Once
	chain          *toolset.Chain
	lines          *lines
	permit         permit

	// gate has one token, held while a ping or a report is checked and sent, so
	// that two calls of one run cannot both pass the check.
	gate chan struct{}
	// Guarded by gate: whether something visible was sent since the last report,
	// whether there was a report, whether the stop rule has blocked once.
	unreported, reported, blocked bool
	sent                          int // attempts, for nonces

	mu sync.Mutex
	// view is the run as others see it; session is open while the run talks;
	// asked is why it was told to end, nil when it was not; ended refuses late
	// calls of its tools.
	view    View
	session agent.Session
	asked   error
	ended   bool
}

func newRun(m *Manager, j Job) *run {
	r := &run{
		m: m, job: j, id: store.NewID(), ring: tail.New(ringLines),
		start: make(chan struct{}), stopped: make(chan struct{}), gate: make(chan struct{}, 1),
		chain: toolset.NewChain(m.o.Reminders, j.Reminder),
	}
	r.permit = newPermit(m.o.Dir.Root(), j.Allowed, j.Disallowed)
	r.lines = &lines{add: r.line}
	r.view = View{
		ID: r.id, Kind: j.Task.Kind, TaskID: j.Task.ID, Title: clean.Line(j.Task.Title()), State: Waiting,
		Queued: m.now(), Late: j.Late, Model: j.Task.Model,
	}
	return r
}

// execute runs the job to its end; it returns when nothing of it is left.
func (r *run) execute(ctx context.Context) {
	limits := r.m.o.Limits()
	if limits.Timeout <= 0 {
		limits.Timeout = defaultTimeout
	}
	r.begin(limits)
	// The caller's end is a shutdown, which the watcher turns into an interrupt
	// and a grace period instead of a cut.
	base, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	runCtx, release := context.WithTimeout(base, limits.Timeout)
	defer release()

	var group errgroup.Group
	done := make(chan struct{})
	group.Go(r.guarded(func() { r.record(done) }))
	group.Go(r.guarded(func() { r.watch(ctx, runCtx, cancel, done) }))
	err := r.converse(runCtx, limits)
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.settleEnd(runCtx, err)
	close(done)
	if err := group.Wait(); err != nil {
		r.m.log.Error("background run's helper failed", "run", r.id, "error", err)
	}
}

func (r *run) guarded(f func()) func() error {
	return func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("internal fault: %v", p)
			}
		}()
		f()
		return nil
	}
}

func (r *run) begin(l Limits) {
	r.update(func(v *View) {
		v.State, v.Started, v.Timeout = Running, r.m.now(), l.Timeout
		if v.Model == "" {
			v.Model = l.Model
		}
	})
	if err := appendLedger(r.m.o.Dir, r.snapshot()); err != nil {
		r.m.log.Warn("ledger line was not written", "run", r.id, "error", err)
	}
	if r.job.Late {
		r.line(tail.Note, fmt.Sprintf(textLate, r.job.At.In(r.m.zone).Format("Mon 3:04 PM")))
	}
}

// watch turns a stop, a shutdown or the timeout into the session's end.
func (r *run) watch(caller, runCtx context.Context, cancel context.CancelCauseFunc, done <-chan struct{}) {
	cause := errShutdown
	select {
	case <-done:
		return
	case <-runCtx.Done():
		r.closeSession()
		return
	case <-r.stopped:
		cause = errUserStop
		r.line(tail.Note, textStopping)
	case <-r.m.stop:
	case <-caller.Done():
	}
	r.mu.Lock()
	s := r.session
	r.asked = cause
	r.mu.Unlock()
	if s == nil {
		cancel(cause)
		return
	}
	patience, release := context.WithTimeout(runCtx, grace)
	defer release()
	if err := s.Interrupt(patience); err != nil {
		r.m.log.Warn("background run did not take the interrupt", "run", r.id, "error", err)
	}
	select {
	case <-done:
	case <-patience.Done():
		cancel(cause)
		r.closeSession()
	}
}

// converse opens the session, sends the prompt and drains what comes back. A
// panic of the engine ends this run and nothing else.
func (r *run) converse(ctx context.Context, l Limits) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.m.log.Error("background run panicked", "run", r.id, "fault", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf(textFault, p)
		}
	}()
	defer r.closeSession()
	busy, quiet := r.m.o.Busy()
	prompt, err := r.job.Prompt(r.m.now(), busy, quiet)
	if err != nil {
		return fmt.Errorf("build the prompt: %w", err)
	}
	s, err := r.open(ctx, l)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.session = s
	r.mu.Unlock()
	if err := context.Cause(ctx); err != nil { // ended while it opened
		return err
	}
	defer r.lines.flush()
	ended := false
	for ev, err := range s.Send(ctx, agent.Message{Text: prompt}) {
		if err != nil {
			return err
		}
		if r.noteSession(s); r.event(ev) {
			ended = true
		}
		if res, ok := ev.(agent.Result); ok && (res.IsError || res.Interrupted) {
			return resultError(res)
		}
	}
	if !ended {
		return errors.New(textNoResult)
	}
	return nil
}

// errInterrupted is a turn that was interrupted, by us or by the engine.
var errInterrupted = errors.New("the turn was interrupted")

func resultError(res agent.Result) error {
	if res.Interrupted {
		return errInterrupted
	}
	text := clean.Cut(clean.Line(res.Text), 300)
	if text == "" {
		text = textNoReason
	}
	return errors.New(text)
}

// open opens the session, again only where opening timed out. A main session
// that the engine does not know is no reason to fail: the run starts without
// its history.
func (r *run) open(ctx context.Context, l Limits) (agent.Session, error) {
	o := r.options(l)
	for try := 0; ; try++ {
		s, err := r.m.o.Engine.Open(ctx, o)
		switch {
		case err == nil:
			r.update(func(v *View) { v.Parent = o.Resume })
			return s, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, agent.ErrNoSession) && o.Resume != "":
			r.line(tail.Note, textNoHistory)
			o.Resume, o.Fork = "", false
			continue
		case !openTimedOut(err) || try >= len(reopen):
			return nil, fmt.Errorf("open a session: %w", err)
		}
		r.line(tail.Note, fmt.Sprintf(textReopen, reopen[try]))
		timer := time.NewTimer(reopen[try])
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// openTimedOut knows the one fault that is worth another try: the engine's
// process did not answer its initialisation in time.
func openTimedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "Control request timeout")
}

func (r *run) options(l Limits) agent.SessionOptions {
	t := r.job.Task
	o := agent.SessionOptions{
		Dir: r.m.o.Dir.Root(), SystemPrompt: r.m.o.SystemPrompt(),
		Settings: agent.Settings{Model: l.Model, Thinking: "off", Mode: "default"},
		Tools:    toolset.Background(r),
		Allowed:  slices.Clone(r.job.Allowed), Disallowed: slices.Clone(r.job.Disallowed),
		Hooks:      agent.Hooks{Stop: r.stopRule, PreTool: r.preTool},
		Permission: r.preTool,
	}
	if t.Model != "" {
		o.Settings.Model = t.Model
	}
	if t.Thinking {
		o.Settings.Thinking = "adaptive"
	}
	if main := r.m.o.Sessions.Main(); main != "" && !t.Isolated {
		o.Resume, o.Fork = main, true
	}
	return o
}

func (r *run) noteSession(s agent.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.view.Session == "" {
		r.view.Session = s.ID()
	}
}

func (r *run) closeSession() {
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s == nil {
		return
	}
	if err := s.Close(); err != nil {
		r.m.log.Warn("background session did not close cleanly", "run", r.id, "error", err)
	}
}

// settleEnd decides how the run ended, tells the user where that is due, and
// writes the session's history event.
func (r *run) settleEnd(ctx context.Context, err error) {
	r.mu.Lock()
	asked := r.asked
	title, timeout := r.view.Title, r.view.Timeout
	r.mu.Unlock()
	switch {
	case err == nil:
		r.conclude(Done, "")
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && asked == nil:
		n := int(timeout / time.Minute)
		r.conclude(TimedOut, fmt.Sprintf(textTimedOut, n, plural(n)))
		r.tell(fmt.Sprintf(tellTimedOut, title, n, plural(n)))
	case errors.Is(asked, errUserStop):
		r.conclude(Stopped, "")
	case errors.Is(asked, errShutdown):
		r.conclude(Interrupted, textProgramEnded)
	default:
		why := clean.Cut(clean.Line(err.Error()), 300)
		r.conclude(Failed, why)
		r.tell(fmt.Sprintf(tellFailed, title, why))
	}
	r.logSession()
}

// conclude sets the final state and says so in the tail.
func (r *run) conclude(s State, why string) {
	r.lines.flush()
	kind, text := tail.Note, string(s)
	if why != "" {
		text += ": " + why
	}
	if s == Failed || s == TimedOut {
		kind = tail.Error
	}
	r.ring.Add(tail.Line{At: r.m.now(), Kind: kind, Text: clean.Line(text)})
	r.update(func(v *View) { v.State, v.Ended, v.Error = s, r.m.now(), why })
}

// tell informs the user of a run that did not work, ignoring the budget.
func (r *run) tell(text string) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	p := post.Post{Nonce: r.id + "-end", Text: text, Small: true, Source: r.snapshot().Title}
	if _, err := r.m.o.Post(ctx, p); err != nil {
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

// update changes the view and lets dashboards know.
func (r *run) update(change func(*View)) {
	r.mu.Lock()
	change(&r.view)
	r.mu.Unlock()
	r.m.o.Changed()
}

// snapshot is the run as others see it now.
func (r *run) snapshot() View {
	r.mu.Lock()
	v := r.view
	r.mu.Unlock()
	v.Lines = r.ring.Len()
	if last, ok := r.ring.Last(); ok {
		v.Activity = clean.Cut(last.Text, 80)
	}
	return v
}

// line adds one line to the tail. It never blocks on a reader or the disk.
func (r *run) line(k tail.Kind, text string) {
	r.ring.Add(tail.Line{At: r.m.now(), Kind: k, Text: clean.Line(text)})
	r.m.o.Changed()
}
