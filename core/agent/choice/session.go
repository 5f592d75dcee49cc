package choice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
)

// session can change its engine between two messages, or during one as long as no part of the
// answer has arrived.
type session struct {
	e *Engine

	mu sync.Mutex // guards now
	now
}

// now is the current engine and settings of a session.
type now struct {
	o     agent.SessionOptions
	place place
	inner agent.Session
	carry *carry // history the new engine does not have yet; nil if none
}

// carry is a history to carry over.
type carry struct {
	from place
	id   string
	fork bool // prepend it to the next message instead of sending a separate one
}

var _ agent.Session = (*session)(nil)

func (s *session) current() now {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// ID returns the ID at the current engine.
func (s *session) ID() string { return s.current().inner.ID() }

// Interrupt ends the running turn.
func (s *session) Interrupt(ctx context.Context) error { return s.current().inner.Interrupt(ctx) }

// Close ends the session.
func (s *session) Close() error { return s.current().inner.Close() }

// Configure changes the non-empty settings. A model of another engine takes effect with the next
// message.
func (s *session) Configure(ctx context.Context, n agent.Settings) error {
	s.mu.Lock()
	was := &s.o.Settings
	s.o.Settings = agent.Settings{Model: n.Model, Thinking: cmp.Or(n.Thinking, was.Thinking), Mode: cmp.Or(n.Mode, was.Mode)}
	inner, p := s.inner, s.place
	s.mu.Unlock()
	return inner.Configure(ctx, p.settings(n))
}

// Send runs one turn. If the engine turns out to be unreachable before its answer starts, another
// one takes over.
func (s *session) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if err := s.follow(ctx); err != nil {
			yield(nil, err)
			return
		}
		for s.attempt(ctx, m, yield) {
		}
	}
}

// follow moves the main session to its current engine: the user may have chosen another one, or the
// chosen one may be available again.
func (s *session) follow(ctx context.Context) error {
	at := s.current()
	if p := s.e.pick(at.o.Settings); at.inner.ID() == s.e.o.Main() && p != at.place {
		return s.change(ctx, p)
	}
	return nil
}

// change continues with another engine, or with another model of the same one.
func (s *session) change(ctx context.Context, p place) error {
	at := s.current()
	old, o := at.inner, at.o
	if p.member == at.place.member {
		s.mu.Lock()
		s.place = p
		s.mu.Unlock()
		return old.Configure(ctx, p.settings(o.Settings))
	}
	o.ID = ""
	from := at.place
	switch {
	case at.carry != nil: // this engine does not have it yet, so it is still where it was
		o.Resume, o.Fork, from = at.carry.id, at.carry.fork, at.carry.from
	case old.ID() == s.e.o.Main():
		o.Resume, o.Fork = old.ID(), false
	}
	next, err := s.e.open(ctx, o, p)
	if err != nil {
		return err
	}
	if next.carry != nil {
		next.carry.from = from
	}
	s.mu.Lock()
	s.inner, s.place, s.carry = next.inner, p, next.carry
	s.mu.Unlock()
	return old.Close()
}

// attempt runs the turn once. again means that another engine should try.
func (s *session) attempt(ctx context.Context, m agent.Message, yield func(agent.Event, error) bool) (again bool) {
	note, before, end := s.bring(ctx, &m)
	if end != nil {
		return s.elsewhere(ctx, *end, yield)
	}
	if note != "" && !yield(agent.Notice{Text: note}, nil) {
		return false
	}
	at, said := s.current(), false
	for ev, err := range at.inner.Send(ctx, m) {
		if end := (ending{ev, err}); !said && end.unavailable() {
			return s.elsewhere(ctx, end, yield)
		}
		switch r := ev.(type) {
		case agent.Text, agent.ToolStart:
			said = true
		case agent.Result:
			if before != (agent.Usage{}) {
				r.Usage = r.Usage.Add(before)
				ev = r
			}
			if !r.IsError {
				s.e.answered(at.place, at.o.Settings)
			}
		}
		if !yield(ev, err) {
			return false
		}
	}
	return false
}

// ending describes how a turn without an answer ended.
type ending struct {
	ev  agent.Event
	err error
}

// unavailable reports whether another engine may be able to answer.
func (e ending) unavailable() bool {
	r, ok := e.ev.(agent.Result)
	return errors.Is(e.err, agent.ErrUnavailable) || ok && r.IsError && r.Unavailable
}

func (e ending) why() string {
	if e.err != nil {
		return e.err.Error()
	}
	r, _ := e.ev.(agent.Result)
	return r.Text
}

// elsewhere continues with the next engine. If there is none, the turn ends with its error.
func (s *session) elsewhere(ctx context.Context, end ending, yield func(agent.Event, error) bool) (again bool) {
	at := s.current()
	if ctx.Err() != nil || !end.unavailable() || !s.e.lose(at.place, at.o.Settings, end.why()) {
		yield(end.ev, end.err)
		return false
	}
	if err := s.change(ctx, s.e.pick(at.o.Settings)); err != nil {
		yield(nil, err)
		return false
	}
	return true
}

// bring gives a new engine the conversation so far. A fork gets it in front of its message. The
// main session gets it in a separate turn, so that the message is unchanged; end describes the
// failure of that turn.
func (s *session) bring(ctx context.Context, m *agent.Message) (note string, used agent.Usage, end *ending) {
	at := s.current()
	c := at.carry
	if c == nil {
		return "", used, nil
	}
	text, form := "", textCarried
	if !c.fork {
		text, used = s.e.summary(ctx, c, at.o)
	}
	if text == "" {
		text, form = s.e.o.Recent(), textRecent
	}
	switch {
	case text == "":
		form = textNothing
	case c.fork:
		m.Text = fmt.Sprintf(promptFork, text) + m.Text
	default:
		var r agent.Result
		for ev, err := range at.inner.Send(ctx, agent.Message{Text: fmt.Sprintf(promptCarried, text)}) {
			var is bool
			if r, is = ev.(agent.Result); err != nil || r.IsError || r.Interrupted {
				r.Usage = r.Usage.Add(used)
				if is {
					ev = r
				}
				return "", used, &ending{ev, err}
			}
		}
		used = used.Add(r.Usage)
	}
	s.mu.Lock()
	s.carry = nil
	s.mu.Unlock()
	if c.fork {
		return "", used, nil
	}
	return fmt.Sprintf(form, s.e.name(at.place, at.o.Settings), s.e.name(c.from, at.o.Settings)), used, nil
}

// Limits of a summary.
const (
	summaryWithin = 2 * time.Minute
	maxSummary    = 16_000 // characters
)

// summary asks the conversation's former engine for a summary, in a fork that is discarded. The
// text is empty if that engine is unavailable.
func (e *Engine) summary(ctx context.Context, c *carry, o agent.SessionOptions) (text string, used agent.Usage) {
	engine := e.member(c.from.member)
	if engine == nil || e.why(e.key(c.from, o.Settings)) != "" {
		return "", used
	}
	ctx, cancel := context.WithTimeout(ctx, summaryWithin)
	defer cancel()
	refuse := func(context.Context, agent.ToolUse) agent.Decision { return agent.Decision{Reason: noTools} }
	s, err := engine.Open(ctx, agent.SessionOptions{
		Resume: c.id, Fork: true, Dir: o.Dir, SystemPrompt: o.SystemPrompt, BriefPrompt: o.BriefPrompt, Settings: c.from.settings(o.Settings), Tools: o.Tools,
		Hooks: agent.Hooks{PreTool: refuse, Charge: o.Hooks.Charge}, Permission: refuse,
	})
	if err != nil {
		e.o.Log.Warn("the conversation could not be summed up", "engine", c.from.member, "error", err)
		return "", used
	}
	defer func() {
		if err := s.Close(); err != nil {
			e.o.Log.Warn("session did not close cleanly", "error", err)
		}
	}()
	var words strings.Builder
	for ev, err := range s.Send(ctx, agent.Message{Text: promptSummary}) {
		if err != nil {
			e.o.Log.Warn("the conversation could not be summed up", "engine", c.from.member, "error", err)
			return "", used
		}
		switch ev := ev.(type) {
		case agent.Text:
			words.WriteString(ev.Delta)
		case agent.Rewind:
			kept := words.String()[:max(0, words.Len()-ev.Bytes)]
			words.Reset()
			words.WriteString(kept)
		case agent.Result:
			if used = ev.Usage; ev.IsError || ev.Interrupted {
				return "", used
			}
			if words.Len() == 0 {
				words.WriteString(ev.Text)
			}
		}
	}
	return clean.Cut(strings.TrimSpace(clean.Text(words.String())), maxSummary), used
}
