// Package fork runs background tasks: the queue of runs, each run's life from
// its prompt to its ledger line, what a run may send and must report, its tail,
// and the permissions of its tools.
//
// A run is a value that its tools, hooks and permission callback are methods
// of; nothing is looked up. The package must not know schedules, dashboards,
// surfaces or any particular engine.
package fork

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/money"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
)

const (
	// keptRuns finished runs stay in memory with their tails, ringLines lines each.
	keptRuns  = 20
	ringLines = 10_000
	// ratedRuns is how many runs of earlier programs the rates are known from.
	ratedRuns = 1000
	// grace is how long a run that was interrupted may take to end before it is killed,
	// and partingGrace how long at the end of the program, which takes ten seconds in all. A
	// run is interrupted at once then: it could not ping any more.
	grace        = 10 * time.Second
	partingGrace = 4 * time.Second
	// lookAgain is how often the queue's head asks whether the limit has grown.
	lookAgain = 5 * time.Second

	defaultRunning = 4
	defaultTimeout = 30 * time.Minute
)

// errStopping answers Do when the manager has stopped or stops before the run ended.
var errStopping = errors.New("the bot is stopping")

// Limits are read when a run starts. Zero fields mean the defaults: 4 runs at
// once, 30 minutes, the engine's own model.
type Limits struct {
	MaxRunning int
	Timeout    time.Duration
	Model      string // for tasks that name none
}

// Host is what runs need of the bot around them. Methods may be called
// concurrently; only Post may block for long, on a network.
type Host interface {
	// Post sends to the user.
	Post(ctx context.Context, p post.Post) (post.MessageID, error)
	// Busy says whether a conversation is under way and until when quiet hours
	// hold (zero outside of them). It is asked whenever a ping is attempted.
	Busy() (busy bool, quietUntil time.Time)
	Limits() Limits
	SystemPrompt() string
	// Reminders is the book that a run's reminder tools write in, with its rights.
	Reminders(policy.Writer) toolset.ReminderBook
}

// Options are the parts that runs need. All down to Guard are required.
type Options struct {
	Dir      *store.Dir
	Zone     *time.Location
	Log      *slog.Logger
	Engine   agent.Engine
	Host     Host
	Budget   *budget.Bucket
	Journal  *budget.Journal
	Updates  *updates.Queue
	Sessions *session.Store
	// Guard decides the tools of runs.
	Guard *policy.Guard
	// Messages remembers which run sent which message, so that replies can resume
	// it; nil remembers nothing.
	Messages *session.ForkMessages
	// Money counts what turns have used; nil counts nothing.
	Money *money.Purse
	// Tools are listed in every session beside the bot's own.
	Tools []agent.Tool
	// Changed is called after everything that a View shows; it must not block.
	Changed func()
	// Idle is called when a run has ended and no other runs or waits: a moment to
	// tidy up. It may take a while. Nil does nothing.
	Idle func()
	// Commit records a markdown file that a run has written, by its path relative
	// to the data directory; it must not block. Nil records nothing.
	Commit func(rel, message string)
	// Commands runs the program's own commands for a run; nil refuses them.
	Commands policy.Runner
}

// Job is one task to run in the background.
type Job struct {
	Task routines.Task
	// Reminder is the firing reminder, whose chain follow_up_chain continues.
	Reminder *routines.Reminder
	At       time.Time // when it was due
	Late     bool
	// Prompt builds the message when the run starts, so that budget, schedule
	// and busy state in it are those of that moment. It may block for as long as
	// the commands of skills take; ctx ends with the run.
	Prompt func(ctx context.Context) string
	// Allowed are the tool patterns of the run, Disallowed what is taken from them.
	Allowed, Disallowed []string
	// Tainted is what the run begins with of strangers' words, "" for nothing;
	// Trusted lets it keep its tools whatever it reads.
	Tainted string
	Trusted bool
	// Ticket is what is set aside for the run; whoever queues the job settles it.
	Ticket money.Ticket
}

// Manager runs jobs, a few at a time, first come first served.
type Manager struct {
	o    Options
	zone *time.Location
	log  *slog.Logger
	// stop is closed when Run's context ends.
	stop chan struct{}
	// live counts the runs that have started and not yet ended.
	live sync.WaitGroup

	mu sync.Mutex
	// waiting is the queue, running in order of start, finished the newest first.
	waiting, running, finished []*run
	// past are runs that the ledger knows from before, newest first.
	past []View
	// day are the runs that have ended within the last day, the oldest first. What was
	// handed out of it never changes.
	day               []View
	rates             map[string]Rate // by task, of all runs that are known to have ended
	serving, stopping bool

	unseen unseen
}

// NewManager reads the ledger of earlier runs. It starts nothing and writes
// nothing: runs begin once Run serves the queue.
func NewManager(o Options) (*Manager, error) {
	if o.Idle == nil {
		o.Idle = func() {}
	}
	m := &Manager{o: o, zone: o.Zone, log: o.Log, stop: make(chan struct{})}
	past, err := Ledger(o.Dir, ratedRuns)
	if err != nil {
		return nil, err
	}
	m.rates = Rates(past)
	for i := range past {
		past[i] = inZone(past[i], m.zone)
	}
	for _, v := range slices.Backward(past) {
		m.keepDay(v)
	}
	m.past = slices.Clone(past[:min(len(past), keptRuns)])
	return m, nil
}

// Run serves the queue until ctx ends. Then waiting runs are dropped, running
// ones are interrupted at once and, after partingGrace, closed; Run returns when
// all have ended. It must be called once.
func (m *Manager) Run(ctx context.Context) error {
	m.closeOpen()
	m.recallFailures()
	m.mu.Lock()
	m.serving = true
	m.dispatch()
	m.mu.Unlock()
	<-ctx.Done()
	m.mu.Lock()
	m.stopping = true
	close(m.stop)
	m.mu.Unlock()
	m.live.Wait()
	return nil
}

// closeOpen ends what an earlier program left open: runs without an end line
// were interrupted. It also keeps the ledger and the tail files small.
func (m *Manager) closeOpen() {
	open, err := cutOff(m.o.Dir)
	if err != nil {
		m.log.Warn("runs that were cut off could not be looked for", "error", err)
	}
	for _, v := range open {
		v = inZone(v, m.zone)
		v.State, v.Ended, v.Error = Interrupted, m.now(), textProgramEnded
		if err := appendLedger(m.o.Dir, v); err != nil {
			m.log.Warn("ledger line was not written", "run", v.ID, "error", err)
		}
		m.mu.Lock()
		m.keepDay(v)
		if i := slices.IndexFunc(m.past, func(p View) bool { return p.ID == v.ID }); i >= 0 {
			m.past = slices.Clone(m.past) // Views reads the list it was handed without the lock
			m.past[i] = v
		}
		m.mu.Unlock()
	}
	m.prune()
}

// Do queues a job and waits for its end. A run that timed out or that the user
// stopped is no error; one that failed is, and so is a stop of the program
// (errStopping). The View says how it ended.
func (m *Manager) Do(ctx context.Context, j Job) (View, error) {
	r, err := m.enqueue(j)
	if err != nil {
		return View{}, err
	}
	if !m.await(ctx, r) {
		v := r.snapshot()
		if v.State == Stopped {
			return v, nil
		}
		return v, errStopping
	}
	func() {
		defer m.finish(r) // whatever happens in it, the next one gets its place
		r.execute(ctx)
	}()
	v := r.snapshot()
	switch v.State {
	case Failed:
		if r.unrecorded {
			return v, fmt.Errorf("background run of %q: %s; %w", v.Title, v.Error, routines.ErrUnrecorded)
		}
		return v, fmt.Errorf("background run of %q: %s", v.Title, v.Error)
	case Interrupted:
		return v, errStopping
	}
	return v, nil
}

func (m *Manager) enqueue(j Job) (*run, error) {
	r := newRun(m, j)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopping {
		return nil, errStopping
	}
	m.waiting = append(m.waiting, r)
	m.dispatch()
	m.o.Changed()
	return r, nil
}

// await blocks until the run's turn has come; false means that it was dropped.
func (m *Manager) await(ctx context.Context, r *run) bool {
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	for {
		select {
		case <-r.start:
			return true
		case <-ctx.Done():
			return !m.drop(r, Interrupted)
		case <-m.stop:
			return !m.drop(r, Interrupted)
		case <-r.stopped:
			return !m.drop(r, Stopped)
		case <-timer.C:
			m.mu.Lock()
			m.dispatch()
			m.mu.Unlock()
			timer.Reset(lookAgain)
		}
	}
}

// dispatch starts waiting runs while there is room; mu is held.
func (m *Manager) dispatch() {
	if !m.serving || m.stopping || len(m.waiting) == 0 {
		return
	}
	limit := m.o.Host.Limits().MaxRunning
	if limit < 1 {
		limit = defaultRunning
	}
	for len(m.waiting) > 0 && len(m.running) < limit {
		r := m.waiting[0]
		m.waiting = slices.Delete(m.waiting, 0, 1)
		m.running = append(m.running, r)
		m.live.Add(1)
		close(r.start)
	}
}

// drop takes a run out of the queue; false when it has already started. A run
// that the user stopped is kept among the finished.
func (m *Manager) drop(r *run, s State) bool {
	m.mu.Lock()
	i := slices.Index(m.waiting, r)
	if i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
	}
	m.mu.Unlock()
	if i < 0 {
		return false
	}
	r.conclude(s, "")
	if s == Stopped {
		m.archive(r)
	}
	m.o.Changed()
	return true
}

// finish makes room for the next run.
func (m *Manager) finish(r *run) {
	m.archive(r)
	m.failed(r.snapshot())
	m.mu.Lock()
	m.running = slices.DeleteFunc(m.running, func(x *run) bool { return x == r })
	m.dispatch()
	idle := len(m.running) == 0 && len(m.waiting) == 0
	m.mu.Unlock()
	m.prune()
	m.o.Changed()
	if idle {
		m.o.Idle()
	}
	m.live.Done()
}

func (m *Manager) archive(r *run) {
	if err := appendLedger(m.o.Dir, r.snapshot()); err != nil {
		r.unrecorded = true
		m.log.Warn("ledger line was not written", "run", r.id, "error", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keepDay(r.snapshot())
	m.finished = slices.Insert(m.finished, 0, r)
	m.finished = m.finished[:min(len(m.finished), keptRuns)]
	count(m.rates, r.snapshot())
}

// Put shows a run that goes on elsewhere, or takes the place of what was shown of it.
// One that has ended is written into the ledger.
func (m *Manager) Put(v View) error {
	v = inZone(v, m.zone)
	m.mu.Lock()
	past := slices.DeleteFunc(slices.Clone(m.past), func(p View) bool { return p.ID == v.ID })
	m.past = slices.Insert(past, 0, v)
	if !v.Live() {
		m.keepDay(v)
		count(m.rates, v)
	}
	m.mu.Unlock()
	m.o.Changed()
	if v.Live() {
		return nil
	}
	return appendLedger(m.o.Dir, v)
}

// keepDay adds a run that has ended to those of the last day; mu is held.
func (m *Manager) keepDay(v View) {
	since := m.now().Add(-oneDay)
	if v.Live() || v.Ended.Before(since) {
		return
	}
	for len(m.day) > 0 && m.day[0].Ended.Before(since) {
		m.day = m.day[1:]
	}
	m.day = append(m.day, v)
}

// oneDay is how far back Ended goes.
const oneDay = 24 * time.Hour

// Ended are the runs that have ended since a moment of the last day, in the order of
// their ends. Nobody may change them.
func (m *Manager) Ended(since time.Time) []View {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.day, func(v View) bool { return !v.Ended.Before(since) })
	if i < 0 {
		return nil
	}
	return m.day[i:len(m.day):len(m.day)]
}

func (m *Manager) now() time.Time { return time.Now().In(m.zone) }
