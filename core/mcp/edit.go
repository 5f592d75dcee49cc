package mcp

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

const (
	// EditFile has the edit of the agent's that waits for the user.
	EditFile = store.StateDir + "/mcp_edit.json"
	editLock = "mcp_edit"
	// maxEdit is the longest text that may wait, in bytes.
	maxEdit = 256 << 10
)

// Edits are the edits of the file by the agent. One waits at a time, and the file itself
// changes only when the user allows it: it says which programs run. Methods may be called
// concurrently.
type Edits struct {
	dir    *store.Dir
	redact func(text string) string
}

// NewEdits returns the edits of a data directory. redact takes known secrets out of a text;
// nil does not.
func NewEdits(dir *store.Dir, redact func(text string) string) *Edits {
	if redact == nil {
		redact = func(s string) string { return s }
	}
	return &Edits{dir, redact}
}

// edit is the file of an edit. It counts as long as the servers' file is the one that it was
// made for: what the user saves comes first.
type edit struct {
	Version string    `json:"version"`
	Base    string    `json:"base"`
	Text    string    `json:"text"`
	At      time.Time `json:"at"`
}

// current is the servers' file and its version. A missing and an empty file are the same: a
// sandbox keeps the name with an empty one.
func (e *Edits) current() (text []byte, version string, err error) {
	text, err = e.dir.Read(File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	if len(text) == 0 {
		return nil, "", nil
	}
	return text, routines.Digest(text), nil
}

// Propose keeps a text for the user to allow, in place of one that waits. It returns what the
// agent is told.
func (e *Edits) Propose(text []byte) (answer string, waits bool) {
	known := func(string) (string, bool) { return "set", true }
	_, problems, _ := read(text, known)
	for _, p := range problems {
		if p.Severity == routines.Error {
			return fmt.Sprintf(answerMistake, File, p.Line, p.Message), false
		}
	}
	before, base, err := e.current()
	switch {
	case err == nil && string(before) == string(text):
		return fmt.Sprintf(answerSame, File), false
	case len(text) > maxEdit:
		return fmt.Sprintf(answerLong, File, maxEdit>>10), false
	case err == nil:
		err = e.dir.WithLock(editLock, func() error {
			return e.dir.WriteJSON(EditFile, edit{routines.Digest(text), base, string(text), time.Now().Round(0)})
		})
	}
	if err != nil {
		return fmt.Sprintf(answerUnkept, File, clean.Line(err.Error())), false
	}
	return fmt.Sprintf(answerWaits, File), true
}

// waiting is the edit that waits.
func (e *Edits) waiting() (one edit, before []byte, ok bool) {
	if found, err := e.dir.PeekJSON(EditFile, &one); err != nil || !found {
		return edit{}, nil, false
	}
	before, base, err := e.current()
	return one, before, err == nil && base == one.Base && one.Version == routines.Digest([]byte(one.Text))
}

// Proposal is the edit that waits, with its changes, in which secrets are hidden. The version
// is empty if none waits.
func (e *Edits) Proposal() routines.Proposal {
	one, before, ok := e.waiting()
	if !ok {
		return routines.Proposal{}
	}
	old, secrets := hidden(before, nil)
	now, _ := hidden([]byte(one.Text), secrets)
	return routines.Proposal{Version: one.Version, Why: textEditWhy, Diff: routines.Diff([]byte(e.redact(old)), []byte(e.redact(now)))}
}

// Allow puts the edit that waits into the file, if it is still that version.
func (e *Edits) Allow(version string) error {
	return e.decide(version, func(one edit) error { return e.dir.Write(File, []byte(one.Text)) })
}

// Refuse forgets the edit that waits. The file has never had it.
func (e *Edits) Refuse(version string) error {
	return e.decide(version, func(edit) error { return nil })
}

func (e *Edits) decide(version string, do func(one edit) error) error {
	return e.dir.WithLock(editLock, func() error {
		one, _, ok := e.waiting()
		if !ok || one.Version != version {
			return fmt.Errorf(textEditGone, File)
		}
		if err := do(one); err != nil {
			return err
		}
		return e.dir.Remove(EditFile)
	})
}

// Waits says that an edit waits, for lists of servers; "" if none does.
func (e *Edits) Waits() string {
	if _, _, ok := e.waiting(); !ok {
		return ""
	}
	return fmt.Sprintf(textEditWaits, File, File)
}

// What is said of edits, to the agent and to the user.
const (
	answerWaits = "%s is not changed yet: your edit waits for the user, who sees what it changes and allows or refuses it. " +
		"Another edit replaces this one. Do not try it in another way."
	answerMistake = "%s was not changed: line %d: %s"
	answerSame    = "%s has this text already."
	answerLong    = "%s was not changed: a text of more than %d KiB is too long."
	answerUnkept  = "%s was not changed, and the edit could not be kept for the user: %s"

	textEditWhy   = "it changes your MCP servers, which run programs and get what env and headers contain"
	textEditGone  = "this edit of %s is no longer waiting: it was decided, or the file has changed since"
	textEditWaits = "%s: an edit of the agent's waits for you; the old text stays in force: ollim-bot allow shows it, ollim-bot allow %s allows it"
)
