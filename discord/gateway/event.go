package gateway

import (
	"fmt"
	"log/slog"
	"time"

	"ollimbot/discord/message"
)

// Kind is what an event tells.
type Kind int

// The kinds of events.
const (
	// Ready begins a new session: what happened before it must be asked for, by
	// the id of the last message that was handled. UserID is the bot's own id.
	Ready Kind = iota + 1
	// Resumed continues the session: whatever was missed has come before it.
	Resumed
	// Message is a new message, of anyone, the bot itself included.
	Message
	// MessageEdit is a message that its author has changed.
	MessageEdit
	// MessageDelete says that MessageID is gone.
	MessageDelete
	// Interaction is a slash command (CommandName) or a click on a button
	// (CustomID). It wants an answer within 3 s of At.
	Interaction
	// Reaction is an emoji that was put below MessageID.
	Reaction
)

// String is the kind as a word for logs.
func (k Kind) String() string {
	switch k {
	case Ready:
		return "ready"
	case Resumed:
		return "resumed"
	case Message:
		return "message"
	case MessageEdit:
		return "message edit"
	case MessageDelete:
		return "message delete"
	case Interaction:
		return "interaction"
	case Reaction:
		return "reaction"
	}
	return "unknown"
}

// Event is something that happened in Discord. Ids are numbers as text, never
// empty where the kind has one; all other text is clean. What a kind does not
// have is zero.
type Event struct {
	Kind Kind
	At   time.Time // when it arrived here

	UserID    string // who did it; Ready: the bot
	AppID     string // Ready, Interaction: the application; may be empty after Ready
	ChannelID string
	MessageID string // Interaction: the message whose button was clicked
	Guild     bool   // it happened on a server, not in private

	Message message.Message // Message, MessageEdit

	InteractionID string
	Token         string // of the interaction; a secret for its 15 minutes
	CustomID      string
	Buttons       [][]Button // of the message that was clicked, by rows
	CommandName   string
	Options       map[string]any // string, bool, int64 or float64

	Emoji string
}

// Button is one that stands below a message.
type Button struct {
	ID, Label string
	Style     int
	Disabled  bool
}

// String shows what an event is about and nothing that anybody wrote.
func (e Event) String() string {
	return fmt.Sprintf("%s user=%s channel=%s message=%s", e.Kind, e.UserID, e.ChannelID, e.MessageID)
}

// GoString is String: %#v shows no token either.
func (e Event) GoString() string { return e.String() }

// LogValue keeps tokens and private words out of logs.
func (e Event) LogValue() slog.Value { return slog.StringValue(e.String()) }
