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

// Open opens a session: a new one with the current engine, a resumed one with its own engine. The
// main session and its forks follow the user's choice; if the engine changes, they start a new
// session that carries the conversation over.
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
		if old := e.before(o.Resume); !o.Fork && e.owner(old) == p.member {
			inner.Resume = old // the conversation has been with this engine before
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

// HasMessage checks the session's engine and, if the conversation has moved since, the engines it
// moved to.
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

// HasSession reports whether any engine could resume the session.
func (e *Engine) HasSession(id string) bool { return e.owner(id) != "" }

// movesFile records conversations that continued with another engine.
const movesFile = "state/engine_moves.json"

// maxMoves is the number of moves that are kept.
const maxMoves = 50

// move records that a main session continued as another session.
type move struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// moves returns the recorded moves, oldest first.
func (e *Engine) moves() []move {
	e.moving.Lock()
	defer e.moving.Unlock()
	var list []move
	if _, err := e.o.Dir.PeekJSON(movesFile, &list); err != nil {
		e.o.Log.Warn("moves between engines could not be read", "error", err)
	}
	return list
}

// move records a move before the first message to the new session.
func (e *Engine) move(from, to string) {
	list := append(e.moves(), move{from, to})
	e.moving.Lock()
	defer e.moving.Unlock()
	if err := e.o.Dir.WriteJSON(movesFile, list[max(0, len(list)-maxMoves):]); err != nil {
		e.o.Log.Error("move between engines could not be saved", "error", err)
	}
}

// before returns the session that this one continues, or empty.
func (e *Engine) before(session string) string {
	for _, m := range slices.Backward(e.moves()) {
		if m.To == session {
			return m.From
		}
	}
	return ""
}

// after returns the session that continues this one, or empty.
func (e *Engine) after(session string) string {
	for _, m := range slices.Backward(e.moves()) {
		if m.From == session {
			return m.To
		}
	}
	return ""
}
