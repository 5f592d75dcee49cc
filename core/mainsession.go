package core

import (
	"context"
	"errors"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/policy"
	"ollimbot/core/toolset"
)

// open returns the main session, resumed where one is known. An id that the
// engine does not know starts afresh, and the user is told.
func (c *conversation) open(ctx context.Context) (agent.Session, error) {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if s != nil {
		return s, nil
	}
	o := c.options(policy.Main)
	o.Resume = c.bot.sessions.Main()
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

// options are what main session and forks have in common: the same tools, so
// that an engine's prompt cache holds, the same hooks and the same permissions.
func (c *conversation) options(kind policy.Kind) agent.SessionOptions {
	guard, allowed := c.guard(kind)
	return agent.SessionOptions{
		Dir:          c.bot.dir.Root(),
		SystemPrompt: c.bot.SystemPrompt(),
		Settings:     c.settings(kind == policy.Interactive),
		Tools:        append(toolset.Tools(c.tools), c.bot.library...),
		Allowed:      allowed,
		Hooks:        guard.Hooks(c.bot.git.Add),
		Permission:   guard.Permission,
		Command:      guard.Command(c.bot.o.Commands),
		OnEngineTurn: c.unasked(kind),
	}
}

// guard judges the calls of the main session or of a fork, by the list that is
// in force now.
func (c *conversation) guard(kind policy.Kind) (*policy.Session, []string) {
	tools, _ := c.bot.policy.Load() // its problems are shown with those of the files
	allowed := policy.Strip(tools.Main())
	return c.bot.guard.Session(policy.Scope{
		Kind: kind, Session: kindName(kind), Rules: policy.Rules{Allowed: allowed}, Mode: c.mode, Limit: c.limited,
	}), allowed
}

// limited is what the running turn may do, or nil.
func (c *conversation) limited() *policy.Limit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit
}

// writer is whoever calls a tool in the conversation now.
func (c *conversation) writer() policy.Writer {
	kind := policy.Main
	if c.front() != nil {
		kind = policy.Interactive
	}
	guard, _ := c.guard(kind)
	return guard.Writer()
}

func kindName(k policy.Kind) string {
	if k == policy.Interactive {
		return "fork"
	}
	return "main session"
}

// settings are the user's choices for the main session or a fork: what was
// chosen for this process, else the configuration.
func (c *conversation) settings(inFork bool) agent.Settings {
	r := c.bot.runtime.Load()
	s := agent.Settings{Model: r.ModelMain, Thinking: r.ThinkingMain, Mode: c.mode().Engine()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.model != "" {
		s.Model = c.model
	}
	if c.thinking != "" {
		s.Thinking = c.thinking
	}
	if inFork {
		s.Thinking = r.ThinkingFork
		if r.ModelFork != "" {
			s.Model = r.ModelFork
		}
	}
	return s
}

// drop closes the main session, so that the next turn opens it again.
func (c *conversation) drop() {
	c.mu.Lock()
	s := c.session
	c.session = nil
	c.mu.Unlock()
	if s != nil {
		c.hangUp(s)
	}
}

// clear forgets the conversation: the fork, the session and its id. Pending
// updates stay.
func (c *conversation) clear(ctx context.Context) (forkToo bool, err error) {
	err = c.locked(ctx, func(context.Context) error {
		forkToo = c.discardFork("")
		if err := c.bot.sessions.ClearMain(c.bot.now()); err != nil {
			return err
		}
		c.drop()
		c.bot.forget()
		return nil
	})
	return forkToo, err
}
