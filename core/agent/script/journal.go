package script

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

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

// keep writes down that a session has taken a message, before anything is said
// to it: from then on the message counts as delivered, crash or not.
func (e *Engine) keep(session, text string) error {
	if e.o.Dir == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(text))
	line, err := json.Marshal(heard{session, hex.EncodeToString(sum[:]), clean.Cut(clean.Text(text), journalText)})
	if err != nil {
		return fmt.Errorf("keep the message: %w", err)
	}
	return e.o.Dir.Exclusive("script_messages", func() error {
		if err := e.shorten(); err != nil {
			return err
		}
		return e.o.Dir.Append(journalFile, line)
	})
}

// shorten keeps the journal from growing for ever.
func (e *Engine) shorten() error {
	data, err := e.o.Dir.Read(journalFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) < journalMost {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	half := data[len(data)/2:]
	if i := bytes.IndexByte(half, '\n'); i >= 0 {
		half = half[i+1:]
	}
	return e.o.Dir.Write(journalFile, half)
}

// Heard reports whether a session was told a message (agent.Witness).
func (e *Engine) Heard(_ context.Context, session string, digest [sha256.Size]byte) (bool, error) {
	if e.o.Dir == nil {
		return false, nil
	}
	data, err := e.o.Dir.Read(journalFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the journal: %w", err)
	}
	want := hex.EncodeToString(digest[:])
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var h heard
		if json.Unmarshal(lines.Bytes(), &h) == nil && h.Session == session && h.Digest == want {
			return true, nil
		}
	}
	return false, lines.Err()
}
