package chat

import (
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
)

const (
	unansweredPath = "state/waiting_messages.json"
	unansweredLock = "waiting_messages"
)

// unansweredMessage is a message that the engine does not have yet. It is on disk from
// its receipt, so that it is answered even if the program ends first. Images are not
// stored; the text mentions them.
type unansweredMessage struct {
	ID    string      `json:"id"`
	At    time.Time   `json:"at"`
	Text  string      `json:"text"`
	Label label.Label `json:"label,omitempty"`
}

// unansweredState is the content of the file: the messages, and the newest key of each
// surface. Both change in one write, so that a message that arrives again after a crash
// is recognized if and only if it was stored.
type unansweredState struct {
	Messages []unansweredMessage `json:"messages,omitempty"`
	Heard    map[string]string   `json:"heard,omitempty"`
}

// UnmarshalJSON also reads the format of earlier versions: the messages alone.
func (s *unansweredState) UnmarshalJSON(data []byte) error {
	var list []unansweredMessage
	if json.Unmarshal(data, &list) == nil {
		*s = unansweredState{Messages: list}
		return nil
	}
	type plain unansweredState
	return json.Unmarshal(data, (*plain)(s))
}

// noteNewest records the newest message received from a surface.
func (s *unansweredState) noteNewest(from, key string) {
	if key == "" {
		return
	}
	if s.Heard == nil {
		s.Heard = map[string]string{}
	}
	s.Heard[from] = key
}

// unansweredFile stores the unanswered messages on disk. Its methods are safe for
// concurrent use.
type unansweredFile struct {
	dir *store.Dir
	log *slog.Logger
}

func (f *unansweredFile) load() unansweredState {
	var state unansweredState
	if _, err := f.dir.ReadJSON(unansweredPath, &state); err != nil {
		f.log.Error("waiting messages could not be read", "error", err)
	}
	return state
}

func (f *unansweredFile) change(do func(*unansweredState)) error {
	return f.dir.WithLock(unansweredLock, func() error {
		state := f.load()
		if do(&state); len(state.Messages) == 0 && len(state.Heard) == 0 {
			return f.dir.Remove(unansweredPath)
		}
		return f.dir.WriteJSON(unansweredPath, state)
	})
}

// ack removes messages that the engine has, or that were returned to the user.
func (f *unansweredFile) ack(ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	return f.change(func(s *unansweredState) {
		s.Messages = slices.DeleteFunc(s.Messages, func(m unansweredMessage) bool { return slices.Contains(ids, m.ID) })
	})
}

// forget is ack for callers that cannot handle an error.
func (f *unansweredFile) forget(ids ...string) {
	if err := f.ack(ids...); err != nil {
		f.log.Error("an answered message could not be forgotten and may be answered again", "error", err)
	}
}
