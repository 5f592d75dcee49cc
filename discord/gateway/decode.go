package gateway

import (
	"encoding/json"
	"errors"

	"ollimbot/core/clean"
	"ollimbot/discord/message"
)

// verdict is what becomes of something that Discord sent.
type verdict int

const (
	wanted  verdict = iota
	ignored         // fine, and of no interest
	broke           // it makes no sense: left out and counted
)

// errNonsense marks an event that lacks what its kind must have.
var errNonsense = errors.New("decode event: a part is missing")

// decode makes an Event of a dispatch, by its type and data. Anything of the
// wrong form is broke as a whole: half an event is worse than none, since the
// other half may be the part that says who did it.
func decode(kind string, data []byte) (e Event, v verdict) {
	var err error
	switch kind {
	case "READY":
		return decodeReady(data), wanted
	case "RESUMED":
		return Event{Kind: Resumed}, wanted
	case "MESSAGE_CREATE":
		e, err = decodeMessage(Message, data)
	case "MESSAGE_UPDATE":
		if e, err = decodeMessage(MessageEdit, data); err != nil || !e.Message.Edited {
			return Event{}, ignored // the preview of a link was added, or a part is told only
		}
	case "MESSAGE_DELETE":
		e, err = decodeDelete(data)
	case "INTERACTION_CREATE":
		e, err = decodeInteraction(data)
	case "MESSAGE_REACTION_ADD":
		e, err = decodeReaction(data)
	default:
		return Event{}, ignored
	}
	switch {
	case err != nil:
		return Event{}, broke
	case e.Message.Notice:
		return Event{}, ignored
	}
	return e, wanted
}

func decodeMessage(kind Kind, data []byte) (Event, error) {
	m, err := message.Read(data)
	return Event{Kind: kind, UserID: m.Author, ChannelID: m.Channel, MessageID: m.ID, Guild: m.Guild, Message: m}, err
}

// decodeReady takes what it can: a session has begun, whatever else is wrong.
func decodeReady(data []byte) Event {
	e := Event{Kind: Ready}
	var raw struct {
		User json.RawMessage `json:"user"`
		App  json.RawMessage `json:"application"`
	}
	var user, app struct {
		ID message.ID `json:"id"`
	}
	if json.Unmarshal(data, &raw) != nil {
		return e
	}
	if json.Unmarshal(raw.User, &user) == nil {
		e.UserID = string(user.ID)
	}
	if json.Unmarshal(raw.App, &app) == nil {
		e.AppID = string(app.ID)
	}
	return e
}

func decodeDelete(data []byte) (Event, error) {
	var raw struct {
		ID        message.ID `json:"id"`
		ChannelID message.ID `json:"channel_id"`
		GuildID   message.ID `json:"guild_id"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return Event{}, err
	}
	if raw.ID == "" || raw.ChannelID == "" {
		return Event{}, errNonsense
	}
	return Event{
		Kind: MessageDelete, MessageID: string(raw.ID), ChannelID: string(raw.ChannelID), Guild: raw.GuildID != "",
	}, nil
}

func decodeReaction(data []byte) (Event, error) {
	var raw struct {
		UserID    message.ID `json:"user_id"`
		ChannelID message.ID `json:"channel_id"`
		MessageID message.ID `json:"message_id"`
		GuildID   message.ID `json:"guild_id"`
		Emoji     struct {
			Name string `json:"name"`
		} `json:"emoji"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return Event{}, err
	}
	emoji := clean.Line(raw.Emoji.Name)
	if raw.UserID == "" || raw.ChannelID == "" || raw.MessageID == "" || emoji == "" {
		return Event{}, errNonsense
	}
	return Event{
		Kind: Reaction, UserID: string(raw.UserID), ChannelID: string(raw.ChannelID), MessageID: string(raw.MessageID),
		Guild: raw.GuildID != "", Emoji: emoji,
	}, nil
}
