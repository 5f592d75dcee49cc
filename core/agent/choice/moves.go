package choice

import (
	"slices"
)

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
