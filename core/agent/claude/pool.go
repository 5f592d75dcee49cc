package claude

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
)

const (
	// settleFor is how long nobody may have asked for another template before a
	// process is started for it: a conversation comes in bursts, and each turn of
	// it makes a process that was started before it worthless.
	settleFor = 3 * time.Second
	// mournFor is how long it takes until a process that died is replaced.
	mournFor = 30 * time.Second
)

// pool keeps one process ready for the next fork. Seen by experiment: the CLI
// reads the history of a fork when it starts, about 0.7 s before it answers the
// handshake, and not at the first message. So a process is good only for the
// history that it has read, and is thrown away when that has grown.
type pool struct {
	wake chan struct{} // capacity one: look again

	mu sync.Mutex
	// want is what the next session will most likely be, asked when that was said.
	want  *agent.SessionOptions
	asked time.Time
	// ready waits; notBefore is when the next may be started.
	ready     *ahead
	notBefore time.Time
}

// ahead is a process that was started ahead.
type ahead struct {
	s       *session
	o       agent.SessionOptions
	history stamp
}

// stamp tells one state of a transcript from another.
type stamp struct {
	size int64
	at   time.Time
}

func newPool() pool { return pool{wake: make(chan struct{}, 1)} }

// Warm says what the next session will most likely be. It never blocks.
func (e *Engine) Warm(o agent.SessionOptions) {
	o.ID, o.Hooks, o.Permission, o.Command, o.Unasked = "", agent.Hooks{}, nil, nil, nil
	o.Tools = slices.Clone(o.Tools)
	e.pool.mu.Lock()
	e.pool.want, e.pool.asked = &o, time.Now()
	e.pool.mu.Unlock()
	e.pool.poke()
}

// poke makes keepWarm look again.
func (p *pool) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// keepWarm keeps a process ready until ctx ends. It is woken whenever something
// may have changed, every two seconds at the latest (Engine.look).
func (e *Engine) keepWarm(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.pool.wake:
		}
		e.sweep()
		if o := e.wanted(time.Now()); o != nil {
			e.warmUp(ctx, *o)
		}
	}
}

// sweep throws the process away that would not be taken any more.
func (e *Engine) sweep() {
	p := &e.pool
	p.mu.Lock()
	a, want := p.ready, p.want
	p.mu.Unlock()
	if a == nil {
		return
	}
	died := a.s.dead()
	if !died && e.o.Limits().Warm > 0 && want != nil && alike(a.o, *want) && e.fresh(a) {
		return
	}
	p.mu.Lock()
	mine := p.ready == a // else it was taken in the meantime
	if mine {
		p.ready = nil
	}
	if mine && died {
		p.notBefore = time.Now().Add(mournFor)
	}
	p.mu.Unlock()
	if mine {
		e.discard(a.s)
	}
}

// wanted is what a process should be started for now, or nil.
func (e *Engine) wanted(now time.Time) *agent.SessionOptions {
	if e.o.Limits().Warm <= 0 {
		return nil
	}
	p := &e.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.want == nil || p.ready != nil || now.Before(p.notBefore) || now.Sub(p.asked) < settleFor {
		return nil
	}
	if p.want.Resume != "" && !p.want.Fork || now.Sub(e.spoke(p.want.Resume)) < settleFor {
		return nil
	}
	return p.want
}

// warmUp starts the process. Where its history has grown in the meantime nobody
// knows what it has read.
func (e *Engine) warmUp(ctx context.Context, o agent.SessionOptions) {
	before := e.history(o)
	s, err := e.launch(ctx, o)
	switch {
	case err != nil:
		e.pool.rest(time.Now().Add(mournFor))
		if ctx.Err() == nil {
			e.o.Log.Warn("no process could be kept ready", "error", err)
		}
		return
	case e.history(o) != before:
		e.discard(s)
		return
	}
	e.pool.mu.Lock()
	e.pool.ready = &ahead{s: s, o: o, history: before}
	e.pool.mu.Unlock()
	e.notify()
}

// rest starts nothing before a time.
func (p *pool) rest(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notBefore = until
}

// takeWarm is the process that waits, where it is just what o asks for and has
// read the history as it is now.
func (e *Engine) takeWarm(o agent.SessionOptions) *session {
	p := &e.pool
	p.mu.Lock()
	a := p.ready
	if a == nil || o.ID != "" || !alike(a.o, o) || a.s.dead() {
		p.mu.Unlock()
		return nil
	}
	p.ready, p.asked = nil, time.Now()
	p.mu.Unlock()
	if e.o.Limits().Warm <= 0 || !e.fresh(a) {
		e.discard(a.s)
		return nil
	}
	if err := a.s.bind(o); err != nil {
		e.o.Log.Warn("process that waited could not be taken", "error", err)
		e.discard(a.s)
		return nil
	}
	e.notify()
	return a.s
}

// alike reports whether two sessions are the same to a process. What a run may
// do is no part of it.
func alike(a, b agent.SessionOptions) bool {
	return a.Resume == b.Resume && a.Fork == b.Fork && a.Dir == b.Dir && a.SystemPrompt == b.SystemPrompt && a.Bare == b.Bare &&
		a.Settings == b.Settings && slices.EqualFunc(a.Tools, b.Tools, func(x, y agent.Tool) bool {
		return x.Name == y.Name && x.Description == y.Description && bytes.Equal(x.Schema, y.Schema)
	})
}

// history is the state of the transcript that o branches from; zero where there
// is none.
func (e *Engine) history(o agent.SessionOptions) stamp {
	if o.Resume == "" {
		return stamp{}
	}
	info, err := os.Stat(transcriptPath(configDir(e.env()), o.Dir, o.Resume))
	if err != nil {
		return stamp{}
	}
	return stamp{size: info.Size(), at: info.ModTime()}
}

// fresh reports whether what a process has read is still all there is to read.
// The file alone does not tell: the CLI writes a moment after it has spoken.
func (e *Engine) fresh(a *ahead) bool {
	return e.history(a.o) == a.history && !e.spoke(a.o.Resume).After(a.s.started)
}

// spoke is when the last turn of this session has ended, and now while one
// runs; zero where nothing is known of it.
func (e *Engine) spoke(id string) time.Time {
	s := e.session(id)
	if s == nil {
		return time.Time{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flow.busy() {
		return time.Now()
	}
	return s.flow.over
}

// speaks reports whether a turn of this session runs.
func (e *Engine) speaks(id string) bool {
	s := e.session(id)
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flow.busy()
}

// session is the session that was opened under this id, or nil.
func (e *Engine) session(id string) *session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sessions[strings.ToLower(id)]
}

// dead reports whether the session's process can take no message any more.
func (s *session) dead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended != nil || s.reason != nil
}
