package fork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/tail"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
)

// Why a run was ended from outside.
var (
	errUserStop = errors.New("stopped by the user")
	errShutdown = errors.New("the program ends")
)

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
	guard          *policy.Session
	lines          *lines

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
	// messages are those that reached the user.
	messages []post.MessageID
	lost     error // why the last report could not be stored
	// unrecorded is set when the line of its end could not be written; it belongs
	// to the goroutine that performs the run.
	unrecorded bool
}

func newRun(m *Manager, j Job) *run {
	r := &run{
		m: m, job: j, id: store.NewID(), ring: tail.New(ringLines),
		start: make(chan struct{}), stopped: make(chan struct{}), gate: make(chan struct{}, 1),
	}
	r.guard = r.newGuard()
	r.chain = toolset.NewChain(r.Reminders(), j.Reminder)
	r.lines = &lines{add: r.add}
	r.view = View{
		ID: r.id, Kind: j.Task.Kind, TaskID: j.Task.ID, Title: clean.Line(j.Task.Title()), State: Waiting,
		Queued: m.now(), Late: j.Late, Model: j.Task.Model, Tainted: j.Tainted, Trusted: j.Tainted != "" && j.Trusted,
	}
	return r
}

// newGuard is the guard of the run, which knows what it has read.
func (r *run) newGuard() *policy.Session {
	taint := &policy.Taint{}
	if r.job.Tainted != "" {
		taint = policy.NewTaint(r.job.Tainted)
	}
	taint.Trusted, taint.Changed = r.job.Trusted, r.tainted
	return r.m.o.Guard.Session(policy.Scope{
		Kind: policy.Background, Session: r.id, Taint: taint,
		Rules: policy.Rules{Allowed: r.job.Allowed, Disallowed: r.job.Disallowed},
	})
}

// execute runs the job to its end; it returns when nothing of it is left.
func (r *run) execute(ctx context.Context) {
	limits := r.m.o.Host.Limits()
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
	defer func() {
		close(done)
		if err := group.Wait(); err != nil {
			r.m.log.Error("background run's helper failed", "run", r.id, "error", err)
		}
	}()
	group.Go(fault.Guard("a run's ledger", func() error { r.record(done); return nil }))
	group.Go(fault.Guard("a run's watch", func() error { r.watch(ctx, runCtx, cancel, done); return nil }))
	err := r.converse(runCtx, limits)
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.guard.End()
	r.end(runCtx, err)
}

func (r *run) begin(l Limits) {
	r.update(func(v *View) {
		v.State, v.Started, v.Timeout = Running, r.m.now(), l.Timeout
		v.Model = cmp.Or(v.Model, l.Model)
	})
	if r.job.Tainted != "" {
		r.tainted(r.job.Tainted)
	}
	if r.job.Late {
		r.line(tail.Note, fmt.Sprintf(textLate, r.job.At.In(r.m.zone).Format("Mon 15:04")))
	}
}

// tainted shows that the run reads what strangers write.
func (r *run) tainted(why string) {
	r.update(func(v *View) { v.Tainted, v.Trusted = why, r.job.Trusted })
	text := textTainted
	if r.job.Trusted {
		text = textTrusted
	}
	r.line(tail.Note, fmt.Sprintf(text, why))
}

// watch turns a stop, a shutdown or the timeout into the session's end.
func (r *run) watch(caller, runCtx context.Context, cancel context.CancelCauseFunc, done <-chan struct{}) {
	cause, limit := errShutdown, partingGrace
	select {
	case <-done:
		return
	case <-runCtx.Done():
		r.closeSession()
		return
	case <-r.stopped:
		cause, limit = errUserStop, grace
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
	patience, release := context.WithTimeout(runCtx, limit)
	defer release()
	// Again each second: an interrupt between opening and sending meets no turn.
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		if err := s.Interrupt(patience); err != nil && patience.Err() == nil {
			r.m.log.Warn("background run did not take the interrupt", "run", r.id, "error", err)
		}
		select {
		case <-done:
			return
		case <-patience.Done():
			cancel(cause)
			r.closeSession()
			return
		case <-again.C:
		}
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

// line adds one line to the tail, behind what was said before it.
func (r *run) line(k tail.Kind, text string) {
	r.lines.flush()
	r.add(k, text)
}

// add never blocks on a reader or the disk.
func (r *run) add(k tail.Kind, text string) {
	r.ring.Add(tail.Line{At: r.m.now(), Kind: k, Text: clean.Line(text)})
	r.m.o.Changed()
}
