package messages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent/callback"
	"ollimbot/core/agent/messages/tools"
	"ollimbot/core/safety/policy"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/history"
	"ollimbot/core/storage/store"
)

// Run keeps the sessions open until ctx ends, then closes them and returns when all have
// ended.
func (e *Engine) Run(ctx context.Context) error {
	e.tidy(time.Now())
	<-ctx.Done()
	e.mu.Lock()
	e.ended = true
	var open []*session
	for _, s := range e.sessions {
		if s != nil {
			open = append(open, s)
		}
	}
	e.mu.Unlock()
	for _, s := range open {
		if err := s.Close(); err != nil {
			e.o.Log.Warn("session did not close cleanly", "session", s.ID(), "error", err)
		}
	}
	for _, s := range open {
		<-s.released
	}
	e.client.CloseIdleConnections()
	return nil
}

// keptFor is how long an unused session is kept, unless a younger one branched off from it.
const keptFor = 30 * 24 * time.Hour

// tidy removes old sessions.
func (e *Engine) tidy(now time.Time) {
	if err := history.Tidy(e.o.Dir.Path(history.Folder), now.Add(-keptFor)); err != nil {
		e.o.Log.Warn("old sessions were not removed", "error", err)
	}
}

// Open starts, resumes or forks a session. It makes no request, so a wrong key shows with the first
// message.
func (e *Engine) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	if err := o.CheckIDs(); err != nil {
		return nil, err
	}
	id := strings.ToLower(o.Resume)
	if o.Resume == "" || o.Fork {
		id = strings.ToLower(cmp.Or(o.ID, store.NewUUID()))
	}
	if err := e.reserve(id); err != nil {
		return nil, err
	}
	s, err := e.newSession(id, o)
	if err != nil {
		e.forget(id)
		return nil, err
	}
	e.mu.Lock()
	e.sessions[id] = s
	ended := e.ended
	e.mu.Unlock()
	if ended {
		return nil, errors.Join(errEnded, s.Close())
	}
	return s, nil
}

// reserve claims an ID: two sessions would corrupt one file.
func (e *Engine) reserve(id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return errEnded
	}
	if _, taken := e.sessions[id]; taken {
		return fmt.Errorf(textInUse, id)
	}
	e.sessions[id] = nil
	return nil
}

// newSession opens a session's history and creates its tools.
func (e *Engine) newSession(id string, o agent.SessionOptions) (*session, error) {
	if err := checkThinking(o.Settings.Thinking); err != nil {
		return nil, err
	}
	_, m, err := e.find(o.Settings.Model)
	if err != nil {
		return nil, err
	}
	h, err := e.history(id, o)
	if err != nil {
		return nil, err
	}
	s := &session{
		e: e, log: e.o.Log.With("session", id), id: id, o: o, history: h, settings: o.Settings, released: make(chan struct{}),
		rules: sync.OnceValue(func() *policy.Set {
			return policy.Compile(o.Dir, policy.Rules{Allowed: o.Allowed, Disallowed: o.Disallowed})
		}),
	}
	s.host = callback.New(o, s.log)
	s.token = e.o.Control.Issue(o.Command)
	if !o.Bare {
		o := tools.Options{
			Dir: s.o.Dir, Env: append(slices.Clone(e.o.Env), s.token.Env()...), Sandbox: e.o.Sandbox, Sight: e.o.Sight,
			Judge: s.judge, Agent: s.subagent,
		}
		if m.WebSearch != "" {
			o.Search = s.search
		}
		s.box = tools.New(o)
	}
	s.tools = s.toolsOf(s.box)
	if h.Begun() {
		return s, nil
	}
	if err := s.freeze(m); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
