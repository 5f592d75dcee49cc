package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/notice"
)

// open returns the main session, resumed where one is known. An id that the
// engine does not know starts afresh, and the user is told.
func (c *Conversation) open(ctx context.Context) (agent.Session, error) {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if s != nil {
		return s, nil
	}
	o := c.options(policy.Main)
	o.Resume = c.o.Sessions.Main()
	s, err := c.o.Engine.Open(ctx, o)
	if errors.Is(err, agent.ErrNoSession) {
		c.o.Notices.Add(notice.Warn, textFreshSession)
		o.Resume = ""
		s, err = c.o.Engine.Open(ctx, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open the main session: %w", err)
	}
	c.mu.Lock()
	c.session = s
	c.mu.Unlock()
	return s, nil
}

// openAhead opens the main session, so that the user's next message finds its
// process ready. Where that costs too much memory, claude_warm 0 leaves it to the
// message.
func (c *Conversation) openAhead(ctx context.Context) {
	if _, processes := c.o.Engine.(agent.Runner); !processes || c.o.Config().ClaudeWarm == 0 {
		return
	}
	if _, err := c.open(ctx); err != nil && ctx.Err() == nil {
		c.o.Log.Warn("the main session could not be opened ahead", "error", err)
	}
	if r, tells := c.o.Engine.(agent.Reporter); tells && r.Status().LoginNeeded {
		c.drop() // a process would not hear of the login
	}
}

// options are what main session and forks have in common: the same tools, so
// that an engine's prompt cache holds, the same hooks and the same permissions.
func (c *Conversation) options(kind policy.Kind) agent.SessionOptions {
	guard, allowed := c.Guard(kind)
	return agent.SessionOptions{
		Dir:          c.o.Dir.Root(),
		SystemPrompt: c.o.SystemPrompt(),
		Settings:     c.Settings(kind == policy.Interactive),
		Tools:        append(toolset.Tools(c.tools), c.o.Library...),
		Allowed:      allowed,
		Hooks:        guard.Hooks(c.o.Commit),
		Permission:   guard.Permission,
		Command:      guard.Command(c.o.Commands),
		OnEngineTurn: c.onEngineTurn(kind),
	}
}

// Guard judges the calls of the main session or of a fork, by the list that is
// in force now.
func (c *Conversation) Guard(kind policy.Kind) (*policy.Session, []string) {
	tools, _ := c.o.Policy.Load() // its problems are shown with those of the files
	allowed := policy.Strip(tools.Main())
	return c.o.Guard.Session(policy.Scope{
		Kind: kind, Session: kindName(kind), Rules: policy.Rules{Allowed: allowed}, Mode: c.Mode, Limit: c.limited,
	}), allowed
}

// limited is what the running turn may do, or nil.
func (c *Conversation) limited() *policy.Limit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit
}

// kind is that of the session whose turn runs.
func (c *Conversation) kind() policy.Kind {
	if c.front() != nil {
		return policy.Interactive
	}
	return policy.Main
}

func kindName(k policy.Kind) string {
	if k == policy.Interactive {
		return "fork"
	}
	return "main session"
}

// drop closes the main session, so that the next turn opens it again.
func (c *Conversation) drop() {
	c.mu.Lock()
	s := c.session
	c.session = nil
	c.mu.Unlock()
	if s != nil {
		c.closeSession(s)
	}
}

// Clear forgets the conversation: the fork, the session and its id, and what was
// allowed and denied so far. Pending updates stay. What runs is interrupted first,
// so that nobody waits for a turn that is about to be forgotten.
func (c *Conversation) Clear(ctx context.Context) (forkToo bool, err error) {
	if err := c.Interrupt(ctx); err != nil {
		c.o.Log.Warn("turn was not interrupted", "error", err)
	}
	err = c.do(ctx, func(context.Context) error {
		forkToo = c.discardFork("")
		if err := c.o.Sessions.ClearMain(c.now()); err != nil {
			return err
		}
		c.drop()
		c.o.Guard.Reset()
		return nil
	})
	return forkToo, err
}

// Command sends the engine one of its own commands, deliberately, when no turn
// runs, and collects what it says. tokens is how long the history was before it
// was compacted.
func (c *Conversation) Command(ctx context.Context, m agent.Message) (text string, r agent.Result, tokens int, err error) {
	err = c.do(ctx, func(ctx context.Context) (err error) {
		text, r, tokens, err = c.command(ctx, m)
		return err
	})
	return text, r, tokens, err
}

// command is Command as a job.
func (c *Conversation) command(ctx context.Context, m agent.Message) (text string, r agent.Result, tokens int, err error) {
	now := c.now()
	c.begin(nil, now)
	defer c.end()
	s, err := c.open(ctx)
	if err != nil {
		return "", r, 0, err
	}
	c.begin(s, now)
	var parts []string
	for ev, err := range s.Send(ctx, m) {
		if err != nil {
			c.drop()
			return "", r, tokens, err
		}
		switch ev := ev.(type) {
		case agent.Compacting:
			c.mu.Lock()
			c.compacting = !ev.Done
			c.mu.Unlock()
			tokens = max(tokens, ev.PreTokens)
			c.setStatus(compactingText(ev))
		case agent.Notice:
			parts = append(parts, ev.Text)
		case agent.Text:
			text += ev.Delta
		case agent.Result:
			r = ev
			text = cmp.Or(text, ev.Text)
			if err := c.o.Sessions.SaveMain(c.now(), sessionID(ev, s)); err != nil {
				return "", r, tokens, err
			}
		}
	}
	return strings.TrimSpace(strings.Join(append(parts, text), "\n")), r, tokens, nil
}
