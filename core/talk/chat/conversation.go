// Package chat is the conversation with the user: the main session, the
// interactive fork that may stand in front of it, their turns, and the messages
// that wait for one. It owns the user's words from the moment they are received
// until the engine has taken them, the answers while they grow, and the delivery
// of pending updates. It must not know the schedule, background runs, commands or
// any dashboard; what it needs is handed in as Options.
package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/fault"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/session"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/updates"
)

// idleCheck is how often an interactive fork is looked at.
const idleCheck = time.Minute

// Options are what a conversation is made of. All are needed but those that say
// otherwise. The functions may be called concurrently; Changed must not block.
type Options struct {
	Dir        *store.Dir
	Zone       *time.Location
	Log        *slog.Logger
	Engine     agent.Engine
	Transcript *transcript.Chat
	// Remote reaches the user away from the dashboard, RemoteName is what it is
	// called; nil is none.
	Remote     Remote
	RemoteName string
	Updates    *updates.Queue
	Sessions   *session.Store
	// Runs knows which run has sent which message.
	Runs    *session.ForkMessages
	Guard   *policy.Guard
	Policy  *policy.File
	Audit   *audit.Log
	Notices *notice.Board
	// UserName is how the user is called in prompts.
	UserName string
	// Library are tools that every session has beside the bot's own; nil is none.
	Library []agent.Tool
	// Commands runs the program's own commands for a session; nil refuses them.
	Commands     policy.Runner
	Config       func() *config.Runtime
	SystemPrompt func() string
	// Reminders is the book that the reminder tools write in, with a writer's rights.
	Reminders func(policy.Writer) toolset.ReminderBook
	// Google carries out a button of a task or an event there.
	Google func(ctx context.Context, action, data string) (done string, err error)
	// Redirected reports whether words were the address that ends a login, and no
	// message: they hold a secret.
	Redirected func(ctx context.Context, text string) bool
	// Commit records a file that a session has written.
	Commit func(rel, message string)
	// Hide takes secrets out of a text.
	Hide func(text string) string
	// Spent is told what a turn of a model has used.
	Spent func(model string, u agent.Usage)
	// MayTalk reports why no turn may begin now; it may block while the user is asked.
	// Nil never minds.
	MayTalk func(context.Context) error
	// Changed is called after something that a dashboard shows.
	Changed func()
}

// Conversation is the main session and the interactive fork that may stand in
// front of it. One turn at a time: turns wait for each other in order, and a
// user's message interrupts the running one.
type Conversation struct {
	o         Options
	surface   Surface
	inquiries *session.Inquiries
	attached  attachments
	// jobs are what needs a session, in order. Run carries out one after the other;
	// nothing else starts a turn.
	jobs chan job
	// done is closed when Run has ended: no job is begun any more.
	done chan struct{}
	// tools are what the sessions call; they know the running chain.
	tools *mainRun

	mu sync.Mutex
	// words wait for the next turn, which answers all of them; queued says that it
	// is among the jobs.
	words  []inbound
	queued bool
	// kept are the ids of messages that were written down before Recover has looked
	// for those of the program's last run; recovered says that it has.
	kept      []string
	recovered bool
	// session is the open main session or nil; speaking the session whose turn
	// runs; since is when that turn began, zero when none runs; state is a word
	// for the top line; compacting keeps messages from interrupting.
	session    agent.Session
	speaking   agent.Session
	since      time.Time
	state      string
	compacting bool
	// fork is the interactive fork or nil; wanted is a fork that the agent asked
	// for and that is entered when its turn has ended.
	fork   *interactive
	wanted *forkRequest
	// behind says that the turn which runs is one of the main session although a fork
	// is open.
	behind bool
	// limit is what the running turn may do, where that is less than the
	// conversation may; nil for all others.
	limit *policy.Limit
	// model and thinking are the user's choice for this process, else empty.
	model, thinking string
	chosenMode      policy.Mode
	// probe is the job that Alive waits for; nil while none is in the queue.
	probe chan struct{}

	// heard is when a job has begun or a turn has last said something, in
	// nanoseconds since 1970.
	heard atomic.Int64
}

// job is something that needs a session to itself. Its error is told to the user.
type job func(ctx context.Context) error

// New returns a conversation that reads and starts nothing.
func New(o Options) *Conversation {
	c := &Conversation{
		o: o, surface: o.Transcript, inquiries: session.NewInquiries(o.Dir, o.Log),
		jobs: make(chan job, 64), done: make(chan struct{}),
	}
	if o.Remote != nil {
		c.surface = &fanout{remote: o.Remote, name: o.RemoteName, book: o.Transcript}
	}
	c.tools = &mainRun{c: c}
	return c
}

// now is the present in the configured zone.
func (c *Conversation) now() time.Time { return time.Now().In(c.o.Zone) }

// Run serves the user until ctx ends, and closes what is open then.
func (c *Conversation) Run(ctx context.Context) error {
	defer close(c.done)
	defer c.close()
	c.hear()
	c.openAhead(ctx)
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	for {
		var j job
		select {
		case <-ctx.Done():
		case j = <-c.jobs:
		case <-tick.C:
			j = c.checkIdle
		}
		if ctx.Err() != nil {
			return nil
		}
		c.hear()
		if err := fault.Guard("a turn", func() error { return j(ctx) })(); err != nil && ctx.Err() == nil {
			c.o.Log.Error(textTurnFailed, "error", err)
			c.SystemNote(textTurnFailed + ": " + err.Error()) // a toast goes by, the question stays
		}
	}
}

// do runs f when its turn has come, and waits for it. Its context ends with the
// caller's and with the conversation; what has begun is waited for all the same.
func (c *Conversation) do(ctx context.Context, f job) error {
	var claimed atomic.Bool // by the worker, or by a caller that waits no longer
	result := make(chan error, 1)
	j := func(run context.Context) error {
		if !claimed.CompareAndSwap(false, true) {
			return nil
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(run, cancel)()
		result <- fault.Guard("a turn", func() error { return f(ctx) })()
		return nil
	}
	select {
	case c.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return context.Canceled
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	case <-c.done:
	}
	if claimed.CompareAndSwap(false, true) {
		return context.Canceled
	}
	return <-result
}

// later queues a job; it does not wait for it.
func (c *Conversation) later(j job) error {
	select {
	case c.jobs <- j:
		return nil
	default:
		return errors.New(textTooManyMessages)
	}
}

// interruptFor makes room for a new message: the running turn ends, unless it
// is compacting, which is only waited for, or a task's behind the fork
// that the message is for.
func (c *Conversation) interruptFor(ctx context.Context) error {
	c.mu.Lock()
	waits := c.compacting || c.behind
	c.mu.Unlock()
	if waits {
		return nil
	}
	return c.Interrupt(ctx)
}

// Interrupt ends the running turn, if there is one, and its open questions.
func (c *Conversation) Interrupt(ctx context.Context) error {
	c.mu.Lock()
	s := c.speaking
	c.mu.Unlock()
	if s == nil {
		return nil
	}
	c.o.Guard.Approvals().CancelAll()
	if err := s.Interrupt(ctx); err != nil {
		return fmt.Errorf("interrupt the turn: %w", err)
	}
	return nil
}

// Busy reports whether a turn is under way, and since when.
func (c *Conversation) Busy() (bool, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.since.IsZero(), c.since
}

// Status is what holds the running turn up, in a few words; empty where nothing does.
func (c *Conversation) Status() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// close closes the sessions. No turn runs any more.
func (c *Conversation) close() {
	c.mu.Lock()
	f := c.fork
	c.fork = nil
	c.mu.Unlock()
	if f != nil {
		c.closeSession(f.session)
	}
	c.drop()
}

// closeSession closes a session; trouble with it is only logged.
func (c *Conversation) closeSession(s agent.Session) {
	if err := s.Close(); err != nil {
		c.o.Log.Warn("session did not close cleanly", "error", err)
	}
}

func (c *Conversation) begin(s agent.Session, now time.Time) {
	c.mu.Lock()
	c.speaking, c.since, c.state = s, now, ""
	c.mu.Unlock()
	c.o.Changed()
}

func (c *Conversation) end() {
	c.mu.Lock()
	c.speaking, c.since, c.state, c.compacting = nil, time.Time{}, "", false
	c.mu.Unlock()
	c.o.Guard.Rest()
	c.o.Changed()
}

func (c *Conversation) setStatus(s string) {
	c.mu.Lock()
	c.state = s
	c.mu.Unlock()
	c.o.Changed()
}

// How long nothing may be heard before the queue counts as stuck: of a turn, longer
// than a tool call takes, or a wait for the model; of any other job.
const (
	turnQuiet = time.Hour
	jobQuiet  = 10 * time.Minute
)

// Alive waits until the queue has taken a job for the sake of this question. Where a
// job is under way until ctx ends, it is enough that it has begun within ten minutes, or
// that its turn has said something within an hour. An error says what stands still.
func (c *Conversation) Alive(ctx context.Context) error {
	select {
	case <-c.ask():
		return nil
	case <-ctx.Done():
	}
	limit := jobQuiet
	if busy, _ := c.Busy(); busy {
		limit = turnQuiet
	}
	if quiet := time.Since(time.Unix(0, c.heard.Load())); quiet > limit {
		return fmt.Errorf("the conversation's queue stands still: nothing was heard of its job for %s", quiet.Round(time.Second))
	}
	return nil
}

// ask puts a job into the queue that closes the channel, unless one is there already:
// a long turn must not fill the queue with questions.
func (c *Conversation) ask() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.probe != nil {
		return c.probe
	}
	probe := make(chan struct{})
	job := func(context.Context) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.probe = nil
		close(probe)
		return nil
	}
	if c.later(job) == nil {
		c.probe = probe
	}
	return probe
}

// hear notes that the conversation goes on.
func (c *Conversation) hear() { c.heard.Store(time.Now().UnixNano()) }
