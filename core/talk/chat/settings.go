package chat

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
)

// settings are the model, thinking and permission mode of the sessions: the user's choice
// for this process, or else the configuration. A fork can have its own mode.
type settings struct {
	config func() *config.Runtime
	fork   *forkState
	turn   *running
	// apply applies the settings to the open sessions.
	apply func(context.Context) error

	mu sync.Mutex
	// model, thinking and mode are the user's choice for this process, or empty.
	model, thinking string
	mode            policy.Mode
}

// Settings returns the current settings of the main session or of a fork.
func (s *settings) Settings(inFork bool) agent.Settings {
	r := s.config()
	mode := s.modeOf(inFork).Engine()
	s.mu.Lock()
	defer s.mu.Unlock()
	model := cmp.Or(s.model, r.ModelMain)
	if inFork {
		return agent.Settings{Model: cmp.Or(r.ModelFork, model), Thinking: r.ForkThinking(cmp.Or(s.thinking, r.ThinkingMain)), Mode: mode}
	}
	return agent.Settings{Model: model, Thinking: cmp.Or(s.thinking, r.ThinkingMain), Mode: mode}
}

// CurrentSettings returns the settings of the session the user is talking to.
func (s *settings) CurrentSettings() agent.Settings { return s.Settings(s.fork.current() != nil) }

// SetModel switches the main session's model for the life of the process.
func (s *settings) SetModel(ctx context.Context, name string) error {
	return s.choose(ctx, func() { s.model = name })
}

// SetThinking switches the thinking mode likewise.
func (s *settings) SetThinking(ctx context.Context, mode string) error {
	return s.choose(ctx, func() { s.thinking = mode })
}

func (s *settings) choose(ctx context.Context, set func()) error {
	if s.fork.current() != nil {
		return errors.New(textExitFirst)
	}
	s.mu.Lock()
	set()
	s.mu.Unlock()
	return s.apply(ctx)
}

// Mode returns the permission mode of the session whose turn is running, or of the one
// the user is talking to.
func (s *settings) Mode() policy.Mode { return s.modeOf(!s.turn.isBehind()) }

// modeOf returns the fork's own mode, or else the process's or the configuration's.
func (s *settings) modeOf(inFork bool) policy.Mode {
	if f := s.fork.current(); inFork && f != nil {
		if own := f.ownMode(); own != "" {
			return own
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.mode, policy.Mode(s.config().PermissionMode))
}

// SetMode sets the mode of the open fork, or else that of the main session, for the life
// of the process.
func (s *settings) SetMode(ctx context.Context, m policy.Mode) error {
	if f := s.fork.current(); f != nil {
		f.setMode(m)
	} else {
		s.mu.Lock()
		s.mode = m
		s.mu.Unlock()
	}
	return s.apply(ctx)
}

// ConfigChanged applies a changed configuration key at once: it overrides the user's
// choice for this process.
func (s *settings) ConfigChanged(ctx context.Context, key string) error {
	s.mu.Lock()
	switch key {
	case "model_main":
		s.model = ""
	case "thinking_main":
		s.thinking = ""
	case "permission_mode":
		s.mode = ""
	}
	s.mu.Unlock()
	return s.apply(ctx)
}
