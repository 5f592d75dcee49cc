// Package transcript is the conversation as the dashboard shows it: what the
// user wrote, what the bot answered, and every message that it sent. Without
// Discord it is the bot's surface.
package transcript

import (
	"slices"
	"time"

	"ollimbot/core/post"
)

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
