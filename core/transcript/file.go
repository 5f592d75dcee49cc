package transcript

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ollimbot/core/post"
	"ollimbot/core/store"
)

const (
	// fileName holds finished entries, one JSON object a line, so that a restart
	// does not show an empty chat.
	fileName = "state/transcript.jsonl"
	// rotateAt is the size in bytes at which the file is cut down to its newest
	// lines, and keepBytes what is left of it at most.
	rotateAt  = 1 << 20
	keepBytes = rotateAt / 2
)

// record is one line of the file. A later line with the same id replaces an
// earlier one. Tool labels are not kept: their arguments may hold what should
// not lie on a disk.
type record struct {
	ID       string      `json:"id"`
	At       time.Time   `json:"at,omitzero"`
	Role     Role        `json:"role,omitempty"`
	Text     string      `json:"text,omitempty"`
	Embed    *post.Embed `json:"embed,omitempty"`
	Source   string      `json:"source,omitempty"`
	Critical bool        `json:"critical,omitempty"`
	Nonce    string      `json:"nonce,omitempty"`
	Deleted  bool        `json:"deleted,omitempty"`
	Where    string      `json:"where,omitempty"`
	// Elsewhere are ids on other surfaces, so that a reply there finds the text.
	Elsewhere []post.MessageID `json:"elsewhere,omitempty"`
}

func recordOf(e Entry, nonce string) record {
	return record{
		ID: string(e.ID), At: e.At, Role: e.Role, Text: e.Text, Embed: e.Embed,
		Source: e.Source, Critical: e.Critical, Nonce: nonce,
		Where: e.Where, Elsewhere: e.Elsewhere,
	}
}

// entry cleans again what was read: a file is input from outside.
func (r record) entry(zone *time.Location) Entry {
	return Entry{
		ID: post.MessageID(r.ID), At: r.At.In(zone), Role: r.Role, Text: tidy(r.Text),
		Embed: tidyEmbed(r.Embed), Source: tidy(r.Source), Critical: r.Critical,
		Where: tidy(r.Where), Elsewhere: r.Elsewhere,
	}
}

// file writes the lines.
type file struct {
	lines store.Log[record]
	log   *slog.Logger

	mu  sync.Mutex
	err error // the last write's fault
}

func newFile(d *store.Dir, log *slog.Logger) *file {
	return &file{lines: store.Log[record]{Dir: d, Rel: fileName, Limit: rotateAt, Keep: keepBytes}, log: log}
}

// load reads all entries. A line that is no entry is skipped; a file
// that cannot be read gives none.
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

// add appends a line; a fault is logged once until writing works again.
func (f *file) add(r record) {
	err := f.lines.Append(r)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && f.err == nil {
		f.log.Warn("transcript is not saved: make room on the disk or check the folder's permissions", "error", err)
	}
	f.err = err
}

// failed is the last write's fault, if the newest entries are not on disk.
func (f *file) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return fmt.Errorf("save the transcript: %w", f.err)
	}
	return nil
}
