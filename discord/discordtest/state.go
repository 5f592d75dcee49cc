package discordtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

// User is a person or a bot.
type User struct {
	ID       string // snowflake
	Username string
	Bot      bool
}

// Message is one message. Values of this type are never changed: an edit creates a new one.
type Message struct {
	ID, ChannelID string
	GuildID       string // empty in a direct message
	Author        User
	Type          discordgo.MessageType
	Content       string
	Flags         discordgo.MessageFlags
	ReplyTo       string // ID of the message that it answers
	Pinged        bool   // a reply of the bot that notifies the author of the other message
	Interaction   string // id of the interaction that it answers
	Embeds        []discordgo.MessageEmbed
	Buttons       []discordgo.Button // in reading order, across rows
	Menus         []discordgo.SelectMenu
	Attachments   []Attachment
	Reactions     []Reaction
	Extra         object    // further properties in Discord's format: stickers, a call
	Deleted       time.Time // zero until then

	created, edited    time.Time
	nonce              json.RawMessage // as it was sent, string or number
	embeds, components json.RawMessage // as sent
}

// Nonce returns the nonce with which the bot sent it, or "".
func (m *Message) Nonce() string { return strings.Trim(string(m.nonce), `"`) }

// Ephemeral reports whether only the user who caused it sees it.
func (m *Message) Ephemeral() bool { return m.Flags&discordgo.MessageFlagsEphemeral != 0 }

// Loading reports whether it still shows that the application is thinking.
func (m *Message) Loading() bool { return m.Flags&discordgo.MessageFlagsLoading != 0 }

// Rang reports whether the message notified the person's phone when it was sent
// without SUPPRESS_NOTIFICATIONS (docs: Resources > Message > Message Flags). An edit never does.
func (m *Message) Rang() bool {
	return m.Flags&discordgo.MessageFlagsSuppressNotifications == 0 && !m.Ephemeral()
}

// Marks returns the emoji on a message, in order.
func (m *Message) Marks() string {
	var b strings.Builder
	for _, r := range m.Reactions {
		b.WriteString(r.Emoji)
	}
	return b.String()
}

// Reaction is one emoji on a message and who gave it, in order.
type Reaction struct {
	Emoji string
	users []string // ids
}

// File is an upload of a person. Its declared properties may be false.
type File struct {
	Name string
	Type string // declared; may be empty
	Data []byte
	Size int    // declared, in bytes; 0 means the actual size
	URL  string // the address in the message; empty means this server
	// Seconds is the length of a voice message's recording (docs: Resources > Message >
	// Attachment Structure); 0 for other files.
	Seconds float64
	Alt     string // the description of a file that the bot has sent

	place string // n of an uploaded part files[n]
}

// Attachment is a file of a message.
type Attachment struct {
	File
	ID string

	path string // on this server; empty for a file with another address
}

// Request is one REST request. Path is without /api/vN; Body is JSON, for an upload its payload_json. Status is 0
// until the answer is decided, and stays 0 if the connection was cut instead.
type Request struct {
	Method, Path string
	Status       int
	Body         []byte
}

// Interaction is a command or a click, with its answers so far.
type Interaction struct {
	ID, Token string
	Type      discordgo.InteractionType
	ChannelID string
	MessageID string                            // of the button
	Callback  discordgo.InteractionResponseType // the first answer, 0 without one
	Original  string                            // id of the message that @original means
	Followups int
	Modal     *Modal   // the window that was opened
	Choices   []string // suggestions for the typed text; nil without an answer

	at time.Time
}

// Modal is a window with its fields, in order.
type Modal struct {
	CustomID string `json:"custom_id"`
	Title    string `json:"title"`
	Rows     []struct {
		Fields []struct {
			CustomID string `json:"custom_id"`
			Label    string `json:"label"`
			Value    string `json:"value"`
			Least    int    `json:"min_length"`
			Most     int    `json:"max_length"`
			Required *bool  `json:"required"`
		} `json:"components"`
	} `json:"components"`
}

// Identify is one op 2.
type Identify struct {
	Connection int // number of the connection, from 1
	At         time.Time
	Intents    discordgo.Intent
	Presence   json.RawMessage
	Accepted   bool // READY followed
}

// Resume is one op 6.
type Resume struct {
	Accepted bool // the replay and RESUMED followed
}

// Connection is one websocket.
type Connection struct {
	Number     int
	Closed     time.Time // zero while it is up
	Heartbeats int
	Ready      bool // READY or RESUMED was sent
}

// Command is a registered command.
type Command struct {
	ID, Name string
	Kind     discordgo.ApplicationCommandType // 0 is a slash command

	raw json.RawMessage // as GET returns it
}

// State is an immutable snapshot of the fake.
type State struct {
	Messages     []*Message // oldest first; deleted ones are kept
	Requests     []*Request
	Interactions []Interaction
	Connections  []Connection
	Identifies   []Identify
	Resumes      []Resume
	Presences    []string // op 3 payloads
	Commands     []Command
	CommandPuts  int // bulk overwrites
	Limited      int // 429 answers caused by Options.Limits
	Violations   []string
}

// Message returns the message with this ID, or nil.
func (st State) Message(id string) *Message {
	for _, m := range slices.Backward(st.Messages) {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// Sent returns a user's messages that were not deleted, oldest first. With Server.Bot, these are the visible messages
// of the bot under test.
func (st State) Sent(by User) []*Message {
	var sent []*Message
	for _, m := range st.Messages {
		if m.Author.ID == by.ID && m.Deleted.IsZero() {
			sent = append(sent, m)
		}
	}
	return sent
}

// Rang returns a user's messages that notified, oldest first, including deleted ones.
func (st State) Rang(by User) []*Message {
	var rang []*Message
	for _, m := range st.Messages {
		if m.Author.ID == by.ID && m.Rang() {
			rang = append(rang, m)
		}
	}
	return rang
}

// Said reports whether a message of this user that was not deleted contains the text, in its content or in an embed.
func (st State) Said(by User, text string) bool {
	return slices.ContainsFunc(st.Sent(by), func(m *Message) bool {
		return strings.Contains(m.Content, text) || slices.ContainsFunc(m.Embeds, func(e discordgo.MessageEmbed) bool {
			return strings.Contains(e.Title, text) || strings.Contains(e.Description, text)
		})
	})
}

// Count returns the number of requests with this method and a path matching the pattern, as in Match.PathPrefix.
func (st State) Count(method, pathPrefix string) int {
	n := 0
	for _, r := range st.Requests {
		if r.Method == method && matchesPath(pathPrefix, r.Path) {
			n++
		}
	}
	return n
}

// Up reports whether a connection is past READY or RESUMED and still open.
func (st State) Up() bool {
	return slices.ContainsFunc(st.Connections, func(c Connection) bool { return c.Ready && c.Closed.IsZero() })
}

// String describes the state in a few lines, the newest last.
func (st State) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d connections, %d identifies, %d resumes, %d requests, %d interactions\n",
		len(st.Connections), len(st.Identifies), len(st.Resumes), len(st.Requests), len(st.Interactions))
	for _, r := range last(st.Requests, 12) {
		fmt.Fprintf(&b, "  %s %s -> %d %.200s\n", r.Method, r.Path, r.Status, r.Body)
	}
	for _, m := range last(st.Messages, 12) {
		gone := ""
		if !m.Deleted.IsZero() {
			gone = " (deleted)"
		}
		fmt.Fprintf(&b, "  %s%s: %.200q, %d embeds\n", m.Author.Username, gone, m.Content, len(m.Embeds))
	}
	for _, v := range last(st.Violations, 5) {
		fmt.Fprintf(&b, "  violation: %s\n", v)
	}
	return b.String()
}

func last[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }

// epoch is the start of Discord's clock: the first second of 2015.
const epoch = 1420070400000

// Time returns the time in a snowflake; zero for other texts.
func Time(id string) time.Time {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n>>22 + epoch)
}

// later compares IDs, first by length, then as text.
func later(id, than string) bool {
	if len(id) != len(than) {
		return len(id) > len(than)
	}
	return id > than
}
