package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"ollimbot/core/store"

	"ollimbot/core/clean"
)

const (
	// journalFile is what a model's own session files would be: which session
	// was told what. It is cut to its newer half when it has journalMost bytes.
	journalFile = "state/script_messages.jsonl"
	journalMost = 2 << 20
	journalText = 2000 // characters of a message that are kept for people
)

// heard is one line of the journal.
type heard struct {
	Session string `json:"session"`
	Digest  string `json:"sha256"`
	Text    string `json:"text"`
}

// record writes down that a session has taken a message, before anything is said
// to it: from then on the message counts as delivered, crash or not.
func (e *Engine) record(session, text string) error {
	if e.o.Dir == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(text))
	err := e.journal().Append(heard{session, hex.EncodeToString(sum[:]), clean.Cut(clean.Text(text), journalText)})
	if err != nil {
		return fmt.Errorf("keep the message: %w", err)
	}
	return nil
}

func (e *Engine) journal() store.Log[heard] {
	return store.Log[heard]{Dir: e.o.Dir, Rel: journalFile, Limit: journalMost, Keep: journalMost / 2}
}

// HasMessage reports whether a session was told a message (agent.HistoryChecker).
func (e *Engine) HasMessage(_ context.Context, session string, digest [sha256.Size]byte) (bool, error) {
	if e.o.Dir == nil {
		return false, nil
	}
	list, _, err := e.journal().Newest(journalMost)
	if err != nil {
		return false, fmt.Errorf("read the journal: %w", err)
	}
	want := heard{Session: session, Digest: hex.EncodeToString(digest[:])}
	return slices.ContainsFunc(list, func(h heard) bool { return h.Session == want.Session && h.Digest == want.Digest }), nil
}

// HasSession reports whether a session was told anything (agent.Keeper).
func (e *Engine) HasSession(id string) bool {
	if e.o.Dir == nil {
		return false
	}
	list, _, err := e.journal().Newest(journalMost)
	return err == nil && slices.ContainsFunc(list, func(h heard) bool { return h.Session == id })
}
