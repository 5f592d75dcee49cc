package choice

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

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

// movesFile tells where conversations have gone on with another engine.
const movesFile = "state/engine_moves.json"

// maxMoves is how many are kept.
const maxMoves = 50

// move is a main session that goes on in another one.
type move struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// moves are all that are kept, oldest first.
func (e *Engine) moves() []move {
	e.moving.Lock()
	defer e.moving.Unlock()
	var list []move
	if _, err := e.o.Dir.PeekJSON(movesFile, &list); err != nil {
		e.o.Log.Warn("where conversations have gone on could not be read", "error", err)
	}
	return list
}

// move notes one, before anything is said in the new session.
func (e *Engine) move(from, to string) {
	list := append(e.moves(), move{from, to})
	e.moving.Lock()
	defer e.moving.Unlock()
	if err := e.o.Dir.WriteJSON(movesFile, list[max(0, len(list)-maxMoves):]); err != nil {
		e.o.Log.Error("where the conversation goes on could not be written down", "error", err)
	}
}

// before is the session that this one has taken over from, or empty.
func (e *Engine) before(session string) string {
	for _, m := range slices.Backward(e.moves()) {
		if m.To == session {
			return m.From
		}
	}
	return ""
}

// after is the session that has taken over from this one, or empty.
func (e *Engine) after(session string) string {
	for _, m := range slices.Backward(e.moves()) {
		if m.From == session {
			return m.To
		}
	}
	return ""
}
