package core

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/prompt"
	"ollimbot/core/toolset"
	"ollimbot/core/transcript"
	"ollimbot/core/updates"
	"ollimbot/routines"
)

// conversation is the main session: one at a time, one turn at a time. Turns
// wait for each other in order; a user's message interrupts the running one.
type conversation struct {
	bot *Bot
	// turn is the agent lock of spec 05.3: it has one token, held for a turn.
	turn chan struct{}
	// words are the user's messages that wait for a worker.
	words chan string

	// tools are what the main session calls; they know the running chain.
	tools *mainRun

	mu sync.Mutex
	// session is the open main session or nil; since is when the running turn
	// began, zero when none runs; state is a word for the top line.
	session agent.Session
	since   time.Time
	state   string
}

func newConversation(b *Bot) *conversation {
	return &conversation{bot: b, tools: &mainRun{bot: b}, turn: make(chan struct{}, 1), words: make(chan string, 64)}
}

// run serves the user's messages until ctx ends, then interrupts and closes
// the session.
func (c *conversation) run(ctx context.Context) error {
	defer c.close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case text := <-c.words:
			build := func(now time.Time, u []updates.Update) string { return prompt.Main(now, u, text) }
			if err := c.send(ctx, build, nil); err != nil && ctx.Err() == nil {
				c.bot.log.Error("the answer did not come; your message is above, send it again when you like", "error", err)
			}
		}
	}
}

// say takes the user's words: shown at once, a running turn is interrupted,
// answered when the lock is free.
func (c *conversation) say(ctx context.Context, text string) error {
	// First the interruption: were the words queued before it, it could meet
	// the turn that answers them.
	if err := c.interrupt(ctx); err != nil {
		c.bot.log.Warn("running turn was not interrupted", "error", err)
	}
	c.bot.book.Add(transcript.User, text)
	select {
	case c.words <- text:
		return nil
	default:
		return errors.New(textTooManyMessages)
	}
}

// interrupt ends the running turn, if there is one.
func (c *conversation) interrupt(ctx context.Context) error {
	c.mu.Lock()
	s, running := c.session, !c.since.IsZero()
	c.mu.Unlock()
	if s == nil || !running {
		return nil
	}
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

// buildPrompt makes a turn's message of the updates that it delivers.
type buildPrompt func(now time.Time, u []updates.Update) string

// send runs one turn of the main session under the lock. Updates are claimed
// when the turn starts, and the claim is committed once the engine has taken
// the message; a turn that never reached it gives them back (decisions, "Updates").
func (c *conversation) send(ctx context.Context, build buildPrompt, chain *routines.Reminder) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.turn }()
	now := c.bot.now()
	c.begin(now)
	defer c.end()
	c.tools.chainOf(chain)
	defer c.tools.chainOf(nil)
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	claim, err := c.bot.updates.Claim()
	if err != nil {
		return fmt.Errorf("read pending updates: %w", err)
	}
	defer claim.Release()
	if n := len(claim.Updates()); n > 0 {
		c.bot.book.Add(transcript.Notice, catchingUp(n))
	}
	return c.stream(ctx, s, build(now, claim.Updates()), claim.Commit)
}

// stream sends one message and shows what comes back.
func (c *conversation) stream(ctx context.Context, s agent.Session, text string, accepted func() error) error {
	entry := c.bot.book.Begin(transcript.Bot)
	defer entry.End()
	first := true
	for ev, err := range s.Send(ctx, agent.Message{Text: text}) {
		if err != nil {
			c.drop()
			return err
		}
		if first {
			first = false
			if err := accepted(); err != nil {
				c.bot.log.Error("delivered updates could not be removed", "error", err)
			}
			c.bot.notify()
		}
		if err := c.show(entry, ev, s); err != nil {
			return err
		}
	}
	return nil
}

// show puts one event on the transcript.
func (c *conversation) show(entry *transcript.Stream, ev agent.Event, s agent.Session) error {
	switch ev := ev.(type) {
	case agent.Text:
		entry.Append(ev.Delta)
	case agent.ToolStart:
		entry.Tool(toolset.Label(ev.Name, ev.Input))
	case agent.Retry:
		c.word(fmt.Sprintf(textRetry, ev.Reason, ev.Wait.Round(time.Second)))
	case agent.Result:
		id := ev.SessionID
		if id == "" {
			id = s.ID()
		}
		if err := c.bot.sessions.SaveMain(c.bot.now(), id); err != nil {
			return fmt.Errorf("save the session id: %w", err)
		}
		if ev.IsError {
			return fmt.Errorf("the engine says: %s", ev.Text)
		}
		if entry.Empty() && ev.Text != "" {
			entry.Append(ev.Text)
		}
	}
	return nil
}

// open returns the main session, resumed where one is known. An id that the
// engine does not know starts afresh, and the user is told.
func (c *conversation) open(ctx context.Context) (agent.Session, error) {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if s != nil {
		return s, nil
	}
	o := c.options()
	s, err := c.bot.o.Engine.Open(ctx, o)
	if errors.Is(err, agent.ErrNoSession) {
		c.bot.notice(Warn, textFreshSession)
		o.Resume = ""
		s, err = c.bot.o.Engine.Open(ctx, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open the main session: %w", err)
	}
	c.mu.Lock()
	c.session = s
	c.mu.Unlock()
	return s, nil
}

func (c *conversation) options() agent.SessionOptions {
	r := c.bot.runtime.Load()
	return agent.SessionOptions{
		Resume:   c.bot.sessions.Main(),
		Dir:      c.bot.dir.Root(),
		Settings: agent.Settings{Model: r.ModelMain, Thinking: r.ThinkingMain},
		Tools:    toolset.Background(c.tools),
		Allowed:  prompt.DefaultTools(),
	}
}

// drop closes the session, so that the next turn opens it again.
func (c *conversation) drop() {
	c.mu.Lock()
	s := c.session
	c.session = nil
	c.mu.Unlock()
	if s == nil {
		return
	}
	if err := s.Close(); err != nil {
		c.bot.log.Warn("main session did not close cleanly", "error", err)
	}
}

// close interrupts what runs and closes the session, once nobody holds the lock.
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
	c.drop()
}

func (c *conversation) begin(now time.Time) {
	c.mu.Lock()
	c.since, c.state = now, ""
	c.mu.Unlock()
	c.bot.notify()
}

func (c *conversation) end() {
	c.mu.Lock()
	c.since, c.state = time.Time{}, ""
	c.mu.Unlock()
	c.bot.notify()
}

func (c *conversation) word(s string) {
	c.mu.Lock()
	c.state = s
	c.mu.Unlock()
	c.bot.notify()
}
