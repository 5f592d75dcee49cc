package chat

import (
	"cmp"
	"context"
	"errors"

	"ollimbot/core/agent"
	"ollimbot/core/safety/policy"
)

// Settings are in force for the main session or a fork: what the user has chosen
// for this process, else the configuration.
func (c *Conversation) Settings(inFork bool) agent.Settings {
	r := c.o.Config()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := agent.Settings{Model: r.ModelMain, Thinking: r.ThinkingMain, Mode: c.modeOf(inFork).Engine()}
	s.Model = cmp.Or(c.model, s.Model)
	s.Thinking = cmp.Or(c.thinking, s.Thinking)
	if inFork {
		s.Thinking = r.ThinkingFork
		s.Model = cmp.Or(r.ModelFork, s.Model)
	}
	return s
}

// CurrentSettings are in force where the user is.
func (c *Conversation) CurrentSettings() agent.Settings { return c.Settings(c.inFork() != nil) }

// SetModel switches the main session's model for the life of the process.
func (c *Conversation) SetModel(ctx context.Context, name string) error {
	return c.choose(ctx, func() { c.model = name })
}

// SetThinking is SetModel for how much is thought before answering.
func (c *Conversation) SetThinking(ctx context.Context, mode string) error {
	return c.choose(ctx, func() { c.thinking = mode })
}

func (c *Conversation) choose(ctx context.Context, set func()) error {
	c.mu.Lock()
	inFork := c.fork != nil
	if !inFork {
		set()
	}
	c.mu.Unlock()
	if inFork {
		return errors.New(textExitFirst)
	}
	return c.configure(ctx)
}

// Mode is the permission mode of the session whose turn runs, or of the one that
// the user talks with.
func (c *Conversation) Mode() policy.Mode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.modeOf(!c.behind)
}

// modeOf is the fork's own mode, the process's, or the configuration's. The caller
// holds mu.
func (c *Conversation) modeOf(inFork bool) policy.Mode {
	switch {
	case inFork && c.fork != nil && c.fork.mode != "":
		return c.fork.mode
	case c.chosenMode != "":
		return c.chosenMode
	}
	return policy.Mode(c.o.Config().PermissionMode)
}

// SetMode sets the mode of the fork where there is one, else that of the main
// session, for the life of the process.
func (c *Conversation) SetMode(ctx context.Context, m policy.Mode) error {
	c.mu.Lock()
	if c.fork != nil {
		c.fork.mode = m
	} else {
		c.chosenMode = m
	}
	c.mu.Unlock()
	return c.configure(ctx)
}

// ConfigChanged lets a changed key of the configuration count at once: it takes
// the place of what was chosen for the process.
func (c *Conversation) ConfigChanged(ctx context.Context, key string) error {
	c.mu.Lock()
	switch key {
	case "model_main":
		c.model = ""
	case "thinking_main":
		c.thinking = ""
	case "permission_mode":
		c.chosenMode = ""
	}
	c.mu.Unlock()
	return c.configure(ctx)
}

// configure tells the open sessions what is in force.
func (c *Conversation) configure(ctx context.Context) error {
	c.mu.Lock()
	main, fork := c.session, c.fork
	c.mu.Unlock()
	var err error
	if main != nil {
		err = main.Configure(ctx, c.Settings(false))
	}
	if fork != nil {
		err = errors.Join(err, fork.session.Configure(ctx, c.Settings(true)))
	}
	return err
}
