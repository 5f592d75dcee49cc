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
	// EditFile stores the agent's edit that awaits the user's approval.
	EditFile = store.StateDir + "/mcp_edit.json"
	editLock = "mcp_edit"
	// maxEdit is the maximum size of such an edit, in bytes.
	maxEdit = 256 << 10
)

// Edits are the agent's edits of the servers' file. At most one is pending, and the file
// itself changes only when the user allows it, because it decides which programs run.
// Methods are safe for concurrent use.
type Edits struct {
	dir    *store.Dir
	redact func(text string) string
}

// NewEdits returns the edits of a data directory. redact removes known secrets from a
// text; may be nil.
func NewEdits(dir *store.Dir, redact func(text string) string) *Edits {
	if redact == nil {
		redact = func(s string) string { return s }
	}
	return &Edits{dir, redact}
}

// edit is the content of EditFile. It is valid as long as the servers' file is the
// version it was made for: a change by the user takes precedence.
type edit struct {
	Version string    `json:"version"`
	Base    string    `json:"base"`
	Text    string    `json:"text"`
	At      time.Time `json:"at"`
}

// current returns the servers' file and its version. A missing file counts as an empty
// one, because a sandbox reserves the name with an empty file.
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

// Propose stores a text for the user's approval, replacing a pending one. It returns the
// answer for the agent.
func (e *Edits) Propose(text []byte) (answer string, waits bool) {
	known := func(string) (string, bool) { return "set", true }
	for _, p := range Check(text, known) {
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

// waiting returns the pending edit.
func (e *Edits) waiting() (one edit, before []byte, ok bool) {
	if found, err := e.dir.PeekJSON(EditFile, &one); err != nil || !found {
		return edit{}, nil, false
	}
	before, base, err := e.current()
	return one, before, err == nil && base == one.Base && one.Version == routines.Digest([]byte(one.Text))
}

// Proposal returns the pending edit with its changes, in which secrets are hidden. The
// version is empty if there is none.
func (e *Edits) Proposal() routines.Proposal {
	one, before, ok := e.waiting()
	if !ok {
		return routines.Proposal{}
	}
	old, secrets := hidden(before, nil)
	now, _ := hidden([]byte(one.Text), secrets)
	return routines.Proposal{Version: one.Version, Why: textEditWhy, Diff: routines.Diff([]byte(e.redact(old)), []byte(e.redact(now)))}
}

// Allow writes the pending edit to the file, if it is still that version.
func (e *Edits) Allow(version string) error {
	return e.decide(version, func(one edit) error { return e.dir.Write(File, []byte(one.Text)) })
}

// Refuse drops the pending edit, which was never in the file.
func (e *Edits) Refuse(version string) error {
	return e.decide(version, func(edit) error { return nil })
}

func (e *Edits) decide(version string, do func(one edit) error) error {
	return e.dir.WithLock(editLock, func() error {
		one, _, ok := e.waiting()
		if !ok || one.Version != version {
			return errors.New(textEditGone)
		}
		if err := do(one); err != nil {
			return err
		}
		return e.dir.Remove(EditFile)
	})
}

// Waits returns a line about the pending edit for lists of servers, or "".
func (e *Edits) Waits() string {
	if _, _, ok := e.waiting(); !ok {
		return ""
	}
	return textEditWaits
}

// Texts about edits, for the agent and the user.
const (
	answerWaits = "%s is not changed yet: your edit waits for the user, who sees what it changes and allows or refuses it. " +
		"Another edit replaces this one. Do not try it in another way."
	answerMistake = "%s was not changed: line %d: %s"
	answerSame    = "%s has this text already."
	answerLong    = "%s was not changed: a text of more than %d KiB is too long."
	answerUnkept  = "%s was not changed, and the edit could not be kept for the user: %s"

	textEditWhy   = "it changes your MCP servers, which run programs and get what env and headers contain"
	textEditGone  = "this edit of the servers is no longer waiting: it was decided, or they have changed since"
	textEditWaits = "an edit of the agent's waits for you; the old list of servers stays in force until you decide on its card or in the schedule"
)
