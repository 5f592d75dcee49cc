package transcript

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/safety/label"
	"ollimbot/core/talk/post"
)

// Role is the speaker of an entry.
type Role string

// The roles of an entry.
const (
	User   Role = "you"
	Bot    Role = "bot"
	Ping   Role = "ping"   // a background run to the user
	Notice Role = "notice" // the program about itself
)

// Entry is one message of the conversation. Entries are values: a changed entry keeps its
// ID and gets a higher Version.
type Entry struct {
	ID      post.MessageID
	Version int
	At      time.Time
	Role    Role
	Text    string // cleaned, may contain line breaks
	Embed   *post.Embed
	// Source is the task that sent a ping.
	Source   string
	Critical bool
	Quiet    bool // silent
	// Label is set if untrusted text may have influenced it.
	Label label.Label
	// Streaming is true while the answer is incomplete; Tools are its tool labels.
	Streaming bool
	Tools     []string
	// Where is the other surface that shows or sent this, such as "Discord". Elsewhere are
	// its message ids there, if they differ from ID.
	Where     string
	Elsewhere []post.MessageID
}

// Is reports whether id, of any surface, belongs to this entry.
func (e Entry) Is(id post.MessageID) bool {
	return id != "" && (e.ID == id || slices.Contains(e.Elsewhere, id))
}

// textFile starts the line for an attached file.
const textFile = "File: "

// tidy cleans a whole text and caps its length.
func tidy(s string) string {
	s = strings.TrimSpace(clean.Text(s))
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText-len("…")], "") + "…"
	}
	return s
}

// tidyEmbed returns a cleaned copy, so that the sender cannot modify it.
func tidyEmbed(e *post.Embed) *post.Embed {
	if e == nil {
		return nil
	}
	c := post.Embed{
		Title: clean.Line(e.Title), Description: tidy(e.Description),
		Color: post.Color(clean.Line(string(e.Color))), Footer: clean.Line(e.Footer), Back: e.Back,
	}
	for _, f := range e.Fields {
		c.Fields = append(c.Fields, post.Field{Name: clean.Line(f.Name), Value: tidy(f.Value), Inline: f.Inline})
	}
	for _, b := range e.Buttons {
		c.Buttons = append(c.Buttons, post.Button{Label: clean.Line(b.Label), Style: clean.Line(b.Style), Action: clean.Line(b.Action)})
	}
	return &c
}

// withFiles adds a line with the name of each attached file, without its folder, to a
// cleaned text.
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
