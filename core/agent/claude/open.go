package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/claude/wire"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
)

const (
	// openLimit is how long a process may take to be ready: 0.7 s on an idle machine, over 10 s on
	// a small busy one, and longer with a long transcript.
	openLimit = time.Minute
	// slowOpen is how long it may take until the user learns of it.
	slowOpen = 9 * time.Second
	// writtenAfter is how long to wait after a turn until its text is in the transcript, where a
	// fork reads it. The CLI takes about 0.1 s.
	writtenAfter = 250 * time.Millisecond
)

// Open starts, resumes or forks a session in its own process. An error is one line and says what to
// do; if the process was too slow, it is context.DeadlineExceeded.
func (e *Engine) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	s, err := e.open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &resumable{e: e, o: o, now: s}, nil
}

// open starts one process and returns when it has answered the handshake.
func (e *Engine) open(ctx context.Context, o agent.SessionOptions) (*session, error) {
	if err := e.waitBegun(ctx); err != nil {
		return nil, err
	}
	key, err := sessionKey(o)
	if err != nil {
		return nil, err
	}
	path, err := e.path(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.refuseUnusable(ctx, path); err != nil {
		return nil, err
	}
	if err := e.written(ctx, o.Resume); err != nil {
		return nil, err
	}
	if err := e.reserve(key); err != nil {
		return nil, err
	}
	token := e.o.Control.Issue(o.Command)
	flags := o
	flags.Settings.Model = cmp.Or(o.Settings.Model, config.Lookup(e.env(), "ANTHROPIC_MODEL"))
	c, err := e.start(process.Spec{Path: path, Args: args(flags, key), Env: e.env(token.Env()...), Dir: o.Dir, Wrap: e.o.Sandbox})
	if err != nil {
		token.Revoke()
		e.forget(&session{key: key})
		return nil, err
	}
	s := newSession(e, key, c, o, token)
	if err := e.admit(s); err != nil {
		return nil, err
	}
	if err := s.shakeHands(ctx, path); err != nil {
		s.kill(agent.ErrClosed) // it has not started any work
		<-s.done                // its ID is free for the next attempt
		return nil, err
	}
	e.notify()
	return s, nil
}

// written waits until the last turn of an open session is in its transcript. It does not wait while
// a turn is running.
func (e *Engine) written(ctx context.Context, id string) error {
	e.mu.Lock()
	s := e.sessions[strings.ToLower(id)]
	e.mu.Unlock()
	if s == nil {
		return nil
	}
	s.mu.Lock()
	wait, speaks := time.Until(s.flow.over.Add(writtenAfter)), s.flow.busy()
	s.mu.Unlock()
	if wait <= 0 || speaks {
		return nil
	}
	if err := pause(ctx, nil, wait); err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	return nil
}

// sessionKey returns the ID of the session to open.
func sessionKey(o agent.SessionOptions) (string, error) {
	if err := o.CheckIDs(); err != nil {
		return "", err
	}
	switch {
	case o.Resume != "" && !o.Fork:
		return strings.ToLower(o.Resume), nil
	case o.ID != "":
		return strings.ToLower(o.ID), nil
	}
	return store.NewUUID(), nil
}

// reserve claims a session ID: two processes with the same ID would lose data.
func (e *Engine) reserve(key string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx.Err() != nil {
		return errNotRunning
	}
	if _, taken := e.sessions[key]; taken {
		return fmt.Errorf(textInUse, key)
	}
	e.sessions[key] = nil
	return nil
}

// admit starts reading a session. If the engine has ended in the meantime, it ends the process.
func (e *Engine) admit(s *session) error {
	running := e.ifRunning(func() {
		e.sessions[s.key] = s
		e.later("session", s.live)
	})
	if running {
		return nil
	}
	s.token.Revoke()
	err := s.stop()
	e.forget(s)
	return errors.Join(errNotRunning, err)
}

// discard ends a session that was never used.
func (e *Engine) discard(s *session) {
	s.mu.Lock()
	if s.reason == nil {
		s.reason = agent.ErrClosed
	}
	s.mu.Unlock()
	e.later("end of an unused process", func() {
		if err := s.Close(); err != nil {
			e.o.Log.Warn("unused process was not ended", "error", err)
		}
	})
}

// shakeHands initializes the process within openLimit.
func (s *session) shakeHands(ctx context.Context, path string) error {
	within, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	running := s.e.ctx
	defer context.AfterFunc(running, cancel)()
	slow := fmt.Sprintf(textSlow, words.Long(slowOpen), clean.Line(path))
	late := time.AfterFunc(slowOpen, func() { s.e.setStatus(func(st *agent.Status) { st.Problem = slow }) })
	answer, err := s.conn.Request(within, s.host.initialize())
	late.Stop()
	var refused *wire.RequestError
	switch {
	case err == nil:
		s.e.setStatus(func(st *agent.Status) {
			if st.Problem == slow {
				st.Problem = ""
			}
		})
		s.noteGreeting(answer)
		s.begin(within)
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("open a session: %w", context.Cause(ctx))
	case running.Err() != nil:
		return errNotRunning
	case within.Err() != nil:
		return fmt.Errorf(textSilent+": %w", words.Long(openLimit), clean.Line(path), context.DeadlineExceeded)
	case errors.As(err, &refused):
		return fmt.Errorf(textRefused, refused.Message)
	}
	return s.startError(path, s.host.o.Resume)
}

// startError describes why a process ended before it was ready.
func (s *session) startError(path, resume string) error {
	<-s.done // its output has been read and it has been reaped
	s.mu.Lock()
	said := strings.Join(s.early, " | ")
	s.mu.Unlock()
	if resume != "" && strings.Contains(said+s.child.StderrTail(), "No conversation found") {
		return fmt.Errorf("%w: %s", agent.ErrNoSession, resume)
	}
	switch err := s.child.Err(); {
	case err != nil:
		return fmt.Errorf(textAtOnce, err)
	case said != "":
		return fmt.Errorf(textRefused, short(said))
	}
	return fmt.Errorf(textNonsense, clean.Line(path))
}

// greeting is the CLI's answer to the handshake: the account and the models' abilities.
type greeting struct {
	Account struct {
		TokenSource  string `json:"tokenSource"`
		APIKeySource string `json:"apiKeySource"`
		Plan         string `json:"subscriptionType"`
	} `json:"account"`
	Models []struct {
		Value       string `json:"value"`
		Resolved    string `json:"resolvedModel"`
		Adaptive    bool   `json:"supportsAdaptiveThinking"`
		ThinkingOff *bool  `json:"supportsThinkingOff"` // missing means true
	} `json:"models"`
}

// noteGreeting records the models and whether the user is logged in.
func (s *session) noteGreeting(answer json.RawMessage) {
	var g greeting
	if err := json.Unmarshal(answer, &g); err != nil || len(g.Models) == 0 || g.Models[0].Value == "" || g.Account.TokenSource == "" {
		s.e.differs()
	}
	models := make([]agent.Model, 0, len(g.Models))
	for _, m := range g.Models {
		of := agent.Model{Names: []string{m.Value, m.Resolved}, OwnMeasure: m.Adaptive, AlwaysThinks: m.ThinkingOff != nil && !*m.ThinkingOff}
		if m.Value == "default" {
			of.Names = append(of.Names, "")
		}
		models = append(models, of)
	}
	s.e.plan.Store(g.Account.Plan != "" && g.Account.APIKeySource == "")
	s.e.setStatus(func(st *agent.Status) { st.Models = func() []agent.Model { return models } })
	if g.Account.TokenSource != "" {
		s.e.setLogin(g.Account.TokenSource != "none" || g.Account.APIKeySource != "")
	}
}
