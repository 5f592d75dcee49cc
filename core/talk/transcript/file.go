package transcript

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ollimbot/core/safety/label"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/talk/post"
)

const (
	// fileName stores the finished entries, one JSON object per line, so that the chat is
	// not empty after a restart.
	fileName = "state/transcript.jsonl"
	// rotateAt is the size in bytes at which the file is trimmed to its newest lines, of at
	// most keepBytes.
	rotateAt  = 1 << 20
	keepBytes = rotateAt / 2
)

// record is one line of the file. A later line with the same id replaces an earlier one.
// Tool labels are not saved, because their arguments may contain secrets.
type record struct {
	ID       string      `json:"id"`
	At       time.Time   `json:"at,omitzero"`
	Role     Role        `json:"role,omitempty"`
	Text     string      `json:"text,omitempty"`
	Embed    *post.Embed `json:"embed,omitempty"`
	Source   string      `json:"source,omitempty"`
	Critical bool        `json:"critical,omitempty"`
	Quiet    bool        `json:"quiet,omitempty"`
	Label    label.Label `json:"label,omitempty"`
	Nonce    string      `json:"nonce,omitempty"`
	Deleted  bool        `json:"deleted,omitempty"`
	Where    string      `json:"where,omitempty"`
	// Elsewhere are ids on other surfaces, so that a reply there finds the text.
	Elsewhere []post.MessageID `json:"elsewhere,omitempty"`
}

func recordOf(e Entry, nonce string) record {
	return record{
		ID: string(e.ID), At: e.At, Role: e.Role, Text: e.Text, Embed: e.Embed,
		Source: e.Source, Critical: e.Critical, Quiet: e.Quiet, Label: e.Label, Nonce: nonce,
		Where: e.Where, Elsewhere: e.Elsewhere,
	}
}

// entry cleans the text again, because a file is untrusted input.
func (r record) entry(zone *time.Location) Entry {
	return Entry{
		ID: post.MessageID(r.ID), At: r.At.In(zone), Role: r.Role, Text: tidy(r.Text),
		Embed: tidyEmbed(r.Embed), Source: tidy(r.Source), Critical: r.Critical, Quiet: r.Quiet, Label: r.Label,
		Where: tidy(r.Where), Elsewhere: r.Elsewhere,
	}
}

// file writes the lines.
type file struct {
	lines jsonl.Log[record]
	log   *slog.Logger

	mu  sync.Mutex
	err error // of the last write
}

// load reads all entries and skips invalid lines. An unreadable file has none.
func (f *file) load() (list []record) {
	lines, _, err := f.lines.Newest(rotateAt)
	if err != nil {
		return nil
	}
	place := map[string]int{}
	for _, r := range lines {
		i, known := place[r.ID]
		switch {
		case r.ID == "":
		case known:
			list[i] = r
		case !r.Deleted:
			place[r.ID] = len(list)
			list = append(list, r)
		}
	}
	return slices.DeleteFunc(list, func(r record) bool { return r.Deleted || !validRole(r.Role) })
}

func validRole(r Role) bool { return r == User || r == Bot || r == Ping || r == Notice }

// add appends a line. It logs an error once, until writing works again.
func (f *file) add(r record) {
	err := f.lines.Append(r)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && f.err == nil {
		f.log.Warn("transcript is not saved: make room on the disk or check the folder's permissions", "error", err)
	}
	f.err = err
}

// failed returns the error of the last write, if the newest entries are not on disk.
func (f *file) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return fmt.Errorf("save the transcript: %w", f.err)
	}
	return nil
}
