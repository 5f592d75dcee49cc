package fake

import (
	"encoding/json"
	"time"

	"github.com/bwmarrin/discordgo"
)

// User is a person or a bot.
type User struct {
	ID         string // snowflake
	Username   string
	GlobalName string // display name; may be empty
	Bot        bool
}

// Team owns an application in place of a person.
type Team struct {
	ID      string // empty: one is given
	Name    string
	OwnerID string // the member who may be written to; empty: Options.Owner
	Members []User // besides the owner
}

// Message is one message as it stands. Values of this type are never changed:
// an edit makes a new one.
type Message struct {
	ID, ChannelID string
	GuildID       string // empty in a direct message
	Author        User
	Type          int // 0 default, 19 reply, 20 answer to a command
	Content       string
	Flags         int
	Nonce         string
	ReplyTo       string // id of the message that it answers
	Interaction   string // id of the interaction that it answers
	Embeds        []discordgo.MessageEmbed
	Buttons       []Button // in reading order, whatever rows they stand in
	Attachments   []Attachment
	Reactions     []Reaction
	Extra         object    // further properties, as Discord writes them: stickers, a poll
	Versions      []Version // what it said over time; the first is how it began
	Created       time.Time
	Deleted       time.Time // zero while it stands

	nonce              json.RawMessage // as it was sent, string or number
	embeds, components json.RawMessage // as they go out
}

// Edits is how often the message was changed.
func (m *Message) Edits() int { return len(m.Versions) - 1 }

// Ephemeral reports whether only the person who caused it sees it.
func (m *Message) Ephemeral() bool { return m.Flags&flagEphemeral != 0 }

// Loading reports whether it still says that the application is thinking.
func (m *Message) Loading() bool { return m.Flags&flagLoading != 0 }

// Message flags (Discord, resources/message).
const (
	flagEphemeral  = 1 << 6
	flagLoading    = 1 << 7
	flagComponents = 1 << 15
)

// Version is one state of a message.
type Version struct {
	At      time.Time
	Content string
	Embeds  int
	Buttons int
}

// Button is one button below a message.
type Button struct {
	CustomID, Label, URL string
	Style                int // 1 primary, 2 secondary, 3 success, 4 danger, 5 link
	Disabled             bool
}

// Attachment is a file of a message. What it declares may differ from what it
// serves.
type Attachment struct {
	ID, Name, Type, URL string
	Size                int // bytes as declared
	Data                []byte

	path string // here; empty for a file that claims to be elsewhere
}

// Reaction is one emoji on a message and who gave it, in order.
type Reaction struct {
	Emoji string
	Users []string // ids
}

// Request is one REST request. Path has no /api/vN in front; Body is JSON, of
// an upload its payload_json. Status is 0 until the answer is decided, and 0 for
// ever where the connection was cut instead of one.
type Request struct {
	Method, Path, Query string
	Status              int
	Body                []byte
	Files               []string // names of uploaded files
	At                  time.Time
}

// Interaction is a command or a click and how far it was answered.
type Interaction struct {
	ID, Token    string
	Type         int // 2 command, 3 component
	Name         string
	CustomID     string
	UserID       string
	ChannelID    string
	MessageID    string // that the button stands on
	At           time.Time
	Callback     int       // type of the first answer, 0 without one
	Acknowledged time.Time // zero without one
	Original     string    // id of the message that @original means
	Followups    int
	Data         json.RawMessage // of the first answer: a modal, choices
}

// Identify is one op 2 as it was asked for.
type Identify struct {
	Connection int // number of the connection, from 1
	At         time.Time
	Intents    int
	Compress   bool
	Presence   json.RawMessage
	Accepted   bool // READY followed
}

// Resume is one op 6.
type Resume struct {
	Connection int
	At         time.Time
	SessionID  string
	Seq        int64
	Accepted   bool // the replay and RESUMED followed
}

// Connection is one websocket.
type Connection struct {
	Number     int
	Opened     time.Time
	Closed     time.Time // zero while it is up
	CloseCode  int       // that the client sent, 0 without one
	Heartbeats int
	Ready      bool // READY or RESUMED was sent
}

// Dispatch is an event that was handed to the sessions.
type Dispatch struct {
	Type string
	Data json.RawMessage
	At   time.Time
}

// Typing is one "is typing" of the bot.
type Typing struct {
	ChannelID string
	At        time.Time
}

// Command is a registered command.
type Command struct {
	ID, Name string
	Raw      json.RawMessage // as GET returns it
}
