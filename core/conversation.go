package core

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/policy"
)

// idleCheck is how often an interactive fork is looked at.
const idleCheck = time.Minute

// conversation is the main session and the interactive fork that may stand in
// front of it. One turn at a time: turns wait for each other in order, and a
// user's message interrupts the running one.
type conversation struct {
	bot *Bot
	// turn is the lock of the conversation: it has one token, held for a turn.
	turn chan struct{}
	// jobs are what the user asked for, in order; each takes the lock.
	jobs chan job
	// done is closed when run has ended: no job is begun any more.
	done chan struct{}
	// tools are what the sessions call; they know the running chain.
	tools *mainRun

	mu sync.Mutex
	// words wait for the next turn, which answers all of them; queued says that it
	// is among the jobs.
	words  []said
	queued bool
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
}

// job is something that needs the lock. Its error is told to the user.
type job func(ctx context.Context) error

func newConversation(b *Bot) *conversation {
	return &conversation{bot: b, tools: &mainRun{bot: b}, turn: make(chan struct{}, 1), jobs: make(chan job, 64), done: make(chan struct{})}
}

// run serves the user until ctx ends, then interrupts and closes what is open.
func (c *conversation) run(ctx context.Context) error {
	defer close(c.done)
	defer c.close()
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case j := <-c.jobs:
			c.work(ctx, j)
		case <-tick.C:
			c.work(ctx, c.checkIdle)
		}
	}
}

// work runs one job under the lock and says what went wrong.
func (c *conversation) work(ctx context.Context, j job) {
	err := c.locked(ctx, j)
	if err != nil && ctx.Err() == nil {
		c.bot.log.Error(textTurnFailed, "error", err)
		c.bot.small(textTurnFailed + ": " + err.Error()) // a toast goes by, the question stays
	}
}

// locked waits for the agent lock and runs j under it.
func (c *conversation) locked(ctx context.Context, j job) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.turn }()
	if err := ctx.Err(); err != nil {
		return err
	}
	return j(ctx)
}

// later queues a job; it does not wait for it.
func (c *conversation) later(j job) error {
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
func (c *conversation) interruptFor(ctx context.Context) error {
	c.mu.Lock()
	waits := c.compacting || c.behind
	c.mu.Unlock()
	if waits {
		return nil
	}
	return c.interrupt(ctx)
}

// interrupt ends the running turn, if there is one, and its open questions.
func (c *conversation) interrupt(ctx context.Context) error {
	c.mu.Lock()
	s := c.speaking
	c.mu.Unlock()
	if s == nil {
		return nil
	}
	c.bot.desk.CancelAll()
	if err := s.Interrupt(ctx); err != nil {
		return fmt.Errorf("interrupt the turn: %w", err)
	}
	return nil
}

// busy reports whether a turn is under way, and since when.
func (c *conversation) busy() (bool, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.since.IsZero(), c.since
}

// close interrupts what runs and closes the sessions, once nobody holds the lock.
func (c *conversation) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := c.interrupt(ctx); err != nil {
		c.bot.log.Warn("main turn was not interrupted", "error", err)
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
	}
	c.mu.Lock()
	f := c.fork
	c.fork = nil
	c.mu.Unlock()
	if f != nil {
		c.hangUp(f.session)
	}
	c.drop()
}

// hangUp closes a session; trouble with it is only logged.
func (c *conversation) hangUp(s agent.Session) {
	if err := s.Close(); err != nil {
		c.bot.log.Warn("session did not close cleanly", "error", err)
	}
}

func (c *conversation) begin(s agent.Session, now time.Time) {
	c.mu.Lock()
	c.speaking, c.since, c.state = s, now, ""
	c.mu.Unlock()
	c.bot.notify()
}

func (c *conversation) end() {
	c.mu.Lock()
	c.speaking, c.since, c.state, c.compacting = nil, time.Time{}, "", false
	c.mu.Unlock()
	c.bot.guard.Rest()
	c.bot.notify()
}

func (c *conversation) word(s string) {
	c.mu.Lock()
	c.state = s
	c.mu.Unlock()
	c.bot.notify()
}
