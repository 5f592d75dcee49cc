package choice

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/storage/store"
)

// Open opens a session where it belongs: a new one with who answers now, one that is
// resumed with the engine that made it. The main session and its forks follow the
// user's choice; with another engine they begin anew and take along what was said.
func (e *Engine) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	if owner := e.owner(o.Resume); owner != "" && o.Resume != e.o.Main() {
		return e.open(ctx, o, place{member: owner})
	}
	for {
		p := e.pick(o.Settings)
		s, err := e.open(ctx, o, p)
		if err == nil || ctx.Err() != nil || errors.Is(err, agent.ErrNoSession) || !e.lose(p, o.Settings, err.Error()) {
			return s, err
		}
	}
}

// open opens a session with one member.
func (e *Engine) open(ctx context.Context, o agent.SessionOptions, p place) (*session, error) {
	engine := e.member(p.member)
	if engine == nil {
		return nil, fmt.Errorf(textNoMember, p.member)
	}
	s := &session{e: e, now: now{o: o, place: p}}
	inner := o
	inner.Settings = p.settings(o.Settings)
	if owner := e.owner(o.Resume); owner != "" && owner != p.member {
		s.carry = &carry{from: place{member: owner}, id: o.Resume, fork: o.Fork}
		inner.Resume, inner.Fork = "", false
		if old := e.before(o.Resume); !o.Fork && old != "" && e.owner(old) == p.member {
			inner.Resume = old // it was there before, and comes back
		} else if inner.ID == "" {
			inner.ID = store.NewUUID()
		}
	}
	opened, err := engine.Open(ctx, inner)
	if err != nil {
		return nil, err
	}
	s.inner = opened
	if s.carry != nil && !o.Fork {
		e.move(o.Resume, opened.ID())
	}
	return s, nil
}

// HasMessage asks the engine of the session, and where the conversation has moved on
// since, that of the one behind it.
func (e *Engine) HasMessage(ctx context.Context, session string, digest [sha256.Size]byte) (bool, error) {
	for range maxMoves {
		if h, ok := e.member(e.owner(session)).(agent.HistoryChecker); ok {
			if has, err := h.HasMessage(ctx, session, digest); has || err != nil {
				return has, err
			}
		}
		if session = e.after(session); session == "" {
			break
		}
	}
	return false, nil
}

// HasSession reports whether any of the engines could resume it.
func (e *Engine) HasSession(id string) bool { return e.owner(id) != "" }
