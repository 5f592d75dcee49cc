// Package transcript is the conversation as the dashboard shows it: what the
// user wrote, what the bot answered, and every message that it sent. Without
// Discord it is the bot's surface.
package transcript

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
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

// Role says who speaks.
type Role string

// The roles of an entry.
const (
	User   Role = "you"
	Bot    Role = "bot"
	Ping   Role = "ping"   // a background run reached out
	Notice Role = "notice" // the program about itself
)

// Entry is one message of the conversation. Entries are values: a changed
// entry keeps its ID and gets a higher Version.
type Entry struct {
	ID      post.MessageID
	Version int
	At      time.Time
	Role    Role
	Text    string // cleaned, may hold line breaks
	Embed   *post.Embed
	// Source names the task that spoke, for pings.
	Source   string
	Critical bool
	// Streaming is true while the answer still grows; Tools are its tool labels.
	Streaming bool
	Tools     []string
	// Where names the other surface that shows or has sent this, such as
	// "Discord"; Elsewhere are its message ids there, where they are not ID.
	Where     string
	Elsewhere []post.MessageID
}

// Is reports whether a message id, of whatever surface, means this entry.
func (e Entry) Is(id post.MessageID) bool {
	return id != "" && (e.ID == id || slices.Contains(e.Elsewhere, id))
}

// textFile begins the line of an attached file.
const textFile = "File: "

// tidy cleans a whole text and caps its length.
func tidy(s string) string {
	s = strings.TrimSpace(clean.Text(s))
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText-len("…")], "") + "…"
	}
	return s
}

// tidyEmbed is a cleaned copy, so that nobody changes it behind the chat's back.
func tidyEmbed(e *post.Embed) *post.Embed {
	if e == nil {
		return nil
	}
	c := post.Embed{
		Title: clean.Line(e.Title), Description: tidy(e.Description),
		Color: post.Color(clean.Line(string(e.Color))), Footer: clean.Line(e.Footer),
	}
	for _, f := range e.Fields {
		c.Fields = append(c.Fields, post.Field{Name: clean.Line(f.Name), Value: tidy(f.Value), Inline: f.Inline})
	}
	for _, b := range e.Buttons {
		c.Buttons = append(c.Buttons, post.Button{Label: clean.Line(b.Label), Style: clean.Line(b.Style), Action: clean.Line(b.Action)})
	}
	return &c
}

// withFiles adds a line for each attached file to a cleaned text. A terminal
// cannot show a file, so its name stands for it; the folders before the name
// are nobody's business in a conversation.
func withFiles(text string, files []string) string {
	lines := make([]string, 0, len(files)+1)
	if text != "" {
		lines = append(lines, text)
	}
	for _, f := range files {
		lines = append(lines, textFile+clean.Cut(clean.Line(filepath.Base(f)), maxName))
	}
	return strings.Join(lines, "\n")
}
