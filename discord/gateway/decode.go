package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/clean"
	"ollimbot/discord/message"
)

// Event is something that happened in Discord. Data is one of these:
//
//   - *discordgo.Ready: a session has started. Fetch earlier messages by the ID of the
//     last handled one.
//   - *discordgo.Resumed: the session continues, and everything missed has been delivered.
//   - *discordgo.MessageCreate, *discordgo.MessageUpdate: a user wrote or changed a
//     message.
//   - *discordgo.MessageDelete: only the message's IDs are known.
//   - *discordgo.MessageReactionAdd: its emoji is clean.
//   - *discordgo.InteractionCreate: a command, a click, a filled-in window or something being
//     typed into a command's field, which must be answered within 3
//     s of At. Its user is Who, its names are clean, its options have values of type
//     string, bool, int64 or float64.
//   - Unreadable: a message that cannot be read. Its traits may be empty.
//
// Other IDs are decimal numbers and never empty if the kind of event has them.
type Event struct {
	At   time.Time // when it was received
	Data any
	// Nonce is the nonce that the author of a new message gave it, or empty. It is reliable only for the bot's own
	// messages.
	Nonce string
}

// Unreadable is a new message that message.Decode refuses.
type Unreadable struct{ message.Traits }

// String shows neither text that a user wrote nor a token.
func (e Event) String() string { return fmt.Sprintf("%T", e.Data) }

// Who is the user of an interaction, in private or on a server.
func Who(i *discordgo.InteractionCreate) *discordgo.User {
	if i.User == nil && i.Member != nil {
		return i.Member.User
	}
	return i.User
}

// errNonsense means that an event lacks a required part.
var errNonsense = errors.New("decode event: a part is missing")

// decode decodes a dispatch by its type; nil if it is not used. Any malformed part makes the whole event an error,
// because that part might identify the author.
func decode(kind string, data []byte) (any, error) {
	switch kind {
	case "READY":
		var ready struct {
			ID string `json:"session_id"`
		}
		_ = json.Unmarshal(data, &ready) // a session has started even if the rest is malformed
		return &discordgo.Ready{SessionID: ready.ID}, nil
	case "RESUMED":
		return new(discordgo.Resumed), nil
	case "MESSAGE_CREATE":
		if m, err := message.Decode(data); err != nil || message.Written(m) {
			return &discordgo.MessageCreate{Message: m}, err
		}
	case "MESSAGE_UPDATE": // without a time it is a link preview or a partial update
		if m, err := message.Decode(data); err == nil && m.EditedTimestamp != nil && message.Written(m) {
			return &discordgo.MessageUpdate{Message: m}, nil
		}
	case "MESSAGE_DELETE":
		m := new(discordgo.Message)
		err := json.Unmarshal(data, m)
		return &discordgo.MessageDelete{Message: m}, errors.Join(err, isIDs(m.ID, m.ChannelID))
	case "MESSAGE_REACTION_ADD":
		r := new(discordgo.MessageReaction)
		err := json.Unmarshal(data, r)
		if r.Emoji.Name = clean.Line(r.Emoji.Name); r.Emoji.Name == "" {
			err = errNonsense
		}
		return &discordgo.MessageReactionAdd{MessageReaction: r}, errors.Join(err, isIDs(r.UserID, r.ChannelID, r.MessageID))
	case "INTERACTION_CREATE":
		return decodeInteraction(data)
	}
	return nil, nil
}

func isIDs(list ...string) error {
	for _, id := range list {
		if !message.IsID(id) {
			return errNonsense
		}
	}
	return nil
}

func decodeInteraction(data []byte) (*discordgo.InteractionCreate, error) {
	i := &discordgo.InteractionCreate{Interaction: new(discordgo.Interaction)}
	if err := json.Unmarshal(lean(data), i.Interaction); err != nil {
		return nil, err
	}
	who := Who(i)
	if who == nil || !pathSafe(i.Token) {
		return nil, errNonsense
	}
	if err := isIDs(i.ID, i.AppID, i.ChannelID, who.ID); err != nil {
		return nil, err
	}
	switch d := i.Data.(type) {
	case discordgo.ApplicationCommandInteractionData:
		if d.Name = clean.Line(d.Name); d.Name == "" || d.TargetID != "" && !message.IsID(d.TargetID) {
			return nil, errNonsense
		}
		i.Data = d
		return i, tidyOptions(d.Options)
	case discordgo.MessageComponentInteractionData:
		d.CustomID = clean.Line(d.CustomID)
		i.Data = d
		if i.Message != nil && d.CustomID != "" {
			return i, isIDs(i.Message.ID)
		}
	case discordgo.ModalSubmitInteractionData:
		d.CustomID = clean.Line(d.CustomID)
		i.Data = d
		switch {
		case d.CustomID == "":
		case i.Message != nil:
			return i, isIDs(i.Message.ID)
		default: // opened by a command
			return i, nil
		}
	}
	return nil, errNonsense
}

// lean reduces an interaction's user, member and message to the parts that are used.
func lean(data []byte) []byte {
	var all, member map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return data
	}
	if user, there := all["user"]; there {
		all["user"] = message.OnlyUser(user)
	}
	if json.Unmarshal(all["member"], &member) == nil && member["user"] != nil {
		all["member"], _ = json.Marshal(map[string]json.RawMessage{"user": message.OnlyUser(member["user"])})
	}
	if under, there := all["message"]; there {
		all["message"] = message.Only(under, "id", "components")
	}
	if of, there := all["data"]; there {
		all["data"] = leanData(of)
	}
	short, err := json.Marshal(all)
	if err != nil {
		return data
	}
	return short
}

// leanData reduces the objects named by a command to the parts that are used: texts of messages and their authors.
func leanData(data json.RawMessage) json.RawMessage {
	var all, resolved, messages map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil || all["resolved"] == nil {
		return data
	}
	_ = json.Unmarshal(all["resolved"], &resolved)
	_ = json.Unmarshal(resolved["messages"], &messages)
	for id, m := range messages {
		var one map[string]json.RawMessage
		if json.Unmarshal(m, &one) == nil && one["author"] != nil {
			one["author"] = message.OnlyUser(one["author"])
			one["embeds"] = message.OnlyWords(one["embeds"])
			m, _ = json.Marshal(one) // it was just read
		}
		messages[id] = message.Only(m, "id", "channel_id", "content", "author", "embeds")
	}
	delete(all, "resolved")
	if len(messages) > 0 {
		all["resolved"], _ = json.Marshal(map[string]any{"messages": messages})
	}
	short, err := json.Marshal(all)
	if err != nil {
		return data
	}
	return short
}

// tidyOptions cleans the options as Event promises.
func tidyOptions(list []*discordgo.ApplicationCommandInteractionDataOption) error {
	for _, o := range list {
		if o == nil {
			return errNonsense
		}
		if o.Name = clean.Line(o.Name); o.Name == "" {
			return errNonsense
		}
		switch v := o.Value.(type) {
		case bool:
		case string:
			o.Value = clean.Text(v)
		case float64:
			if o.Type != discordgo.ApplicationCommandOptionInteger {
				continue
			}
			const exact = 1 << 53 // Discord's limit, which a float64 represents exactly
			if v != float64(int64(v)) || v > exact || v < -exact {
				return errNonsense
			}
			o.Value = int64(v)
		default:
			return errNonsense
		}
	}
	return nil
}

// pathSafe reports whether an interaction's token may become part of a URL.
func pathSafe(token string) bool {
	const fine = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return token != "" && len(token) <= 1024 && strings.Trim(token, fine) == "" // Trim stops at any other character
}
