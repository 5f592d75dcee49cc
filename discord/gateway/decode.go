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
//   - *discordgo.Ready: a session has begun. What happened before it must be asked
//     for, by the id of the last message that was handled.
//   - *discordgo.Resumed: the session goes on, and whatever was missed has come
//     before it.
//   - *discordgo.MessageCreate, *discordgo.MessageUpdate: somebody wrote a message,
//     or has changed it.
//   - *discordgo.MessageDelete: of the message only its ids are known.
//   - *discordgo.MessageReactionAdd: its emoji is clean.
//   - *discordgo.InteractionCreate: a command or a click, which wants an answer
//     within 3 s of At. Its user is Who, its names are clean, its options have
//     values of type string, bool, int64 or float64.
//
// Ids are numbers as text, never empty where the kind has one.
type Event struct {
	At   time.Time // when it arrived here
	Data any
}

// String shows nothing that anybody wrote, and no token.
func (e Event) String() string { return fmt.Sprintf("%T", e.Data) }

// Who is the user of an interaction: in private, or on a server.
func Who(i *discordgo.InteractionCreate) *discordgo.User {
	if i.User == nil && i.Member != nil {
		return i.Member.User
	}
	return i.User
}

// errNonsense marks an event that lacks what its kind must have.
var errNonsense = errors.New("decode event: a part is missing")

// decode makes a value of a dispatch, by its type and data: nil for what is of
// no interest. Anything of the wrong form is an error as a whole: half an event is
// worse than none, since the other half may be the part that says who did it.
func decode(kind string, data []byte) (any, error) {
	switch kind {
	case "READY":
		var ready struct {
			ID string `json:"session_id"`
		}
		_ = json.Unmarshal(data, &ready) // a session has begun, whatever else is wrong
		return &discordgo.Ready{SessionID: ready.ID}, nil
	case "RESUMED":
		return new(discordgo.Resumed), nil
	case "MESSAGE_CREATE":
		if m, err := message.Decode(data); err != nil || message.Written(m) {
			return &discordgo.MessageCreate{Message: m}, err
		}
	case "MESSAGE_UPDATE": // without a time the preview of a link was added, or a part is told only
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
	if err := json.Unmarshal(data, i.Interaction); err != nil {
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
		if d.Name = clean.Line(d.Name); d.Name == "" || i.Type != discordgo.InteractionApplicationCommand {
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
	}
	return nil, errNonsense
}

// tidyOptions makes the values of options what Event promises.
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
			const exact = 1 << 53 // what Discord allows, and a float64 can hold
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

// pathSafe reports whether a token of an interaction may become part of an
// address.
func pathSafe(token string) bool {
	const fine = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return token != "" && len(token) <= 1024 && strings.Trim(token, fine) == "" // Trim stops at the first that is not fine
}
