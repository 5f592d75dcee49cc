package gateway

import (
	"encoding/json"
	"errors"

	"ollimbot/core/clean"
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

// errNotice marks a message that nobody wrote.
var errNotice = errors.New("decode event: a notice of Discord's")

// decode makes an Event of a dispatch, by its type and data. Anything of the
// wrong form is broke as a whole: half an event is worse than none, since the
// other half may be the part that says who did it.
func decode(kind string, data []byte) (Event, verdict) {
	var e Event
	var err error
	switch kind {
	case "READY":
		return decodeReady(data), wanted
	case "RESUMED":
		return Event{Kind: Resumed}, wanted
	case "MESSAGE_CREATE":
		e, err = decodeMessage(data)
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
	case errors.Is(err, errNotice):
		return Event{}, ignored
	case err != nil:
		return Event{}, broke
	}
	return e, wanted
}

// id is a Discord id: a number as text. It becomes part of addresses, so
// nothing else is let in. The zero value is "not there".
type id string

func (i *id) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if s == nil || *s == "" {
		*i = ""
		return nil
	}
	if len(*s) > 20 { // 64 bits
		return errNonsense
	}
	for _, c := range *s {
		if c < '0' || c > '9' {
			return errNonsense
		}
	}
	*i = id(*s)
	return nil
}

type rawUser struct {
	ID         id     `json:"id"`
	Name       string `json:"username"`
	GlobalName string `json:"global_name"`
	Bot        bool   `json:"bot"`
}

func (u *rawUser) author() Author {
	if u == nil {
		return Author{}
	}
	name := u.GlobalName
	if name == "" {
		name = u.Name
	}
	return Author{ID: string(u.ID), Name: clean.Line(name), Bot: u.Bot}
}

// decodeReady takes what it can: a session has begun, whatever else is wrong.
func decodeReady(data []byte) Event {
	e := Event{Kind: Ready}
	var raw struct {
		User json.RawMessage `json:"user"`
		App  json.RawMessage `json:"application"`
	}
	var user, app struct {
		ID id `json:"id"`
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

// hasSession reports whether a READY names a session, which can then be resumed.
func hasSession(data []byte) bool {
	var raw struct {
		ID string `json:"session_id"`
	}
	return json.Unmarshal(data, &raw) == nil && raw.ID != ""
}

type rawAttachment struct {
	ID   id     `json:"id"`
	URL  string `json:"url"`
	Name string `json:"filename"`
	Type string `json:"content_type"`
	Size int64  `json:"size"`
}

type rawEmbed struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Fields      []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"fields"`
}

// rawMessage holds messages and, below them, the ones they answer.
type rawMessage struct {
	ID          id              `json:"id"`
	ChannelID   id              `json:"channel_id"`
	GuildID     id              `json:"guild_id"`
	Type        int             `json:"type"`
	Author      *rawUser        `json:"author"`
	Content     string          `json:"content"`
	Attachments []rawAttachment `json:"attachments"`
	Reference   *struct {
		Type      int `json:"type"`
		MessageID id  `json:"message_id"`
	} `json:"message_reference"`
	Referenced json.RawMessage `json:"referenced_message"`
	Embeds     json.RawMessage `json:"embeds"`
}

// Types of messages that somebody writes; the others are notices of Discord's
// such as "pinned a message" or "started a call", and answers to commands.
const (
	messageDefault = 0
	messageReply   = 19
)

func decodeMessage(data []byte) (Event, error) {
	var raw rawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return Event{}, err
	}
	if raw.ID == "" || raw.ChannelID == "" || raw.Author == nil || raw.Author.ID == "" {
		return Event{}, errNonsense
	}
	if raw.Type != messageDefault && raw.Type != messageReply {
		return Event{}, errNotice
	}
	e := Event{
		Kind: Message, UserID: string(raw.Author.ID), ChannelID: string(raw.ChannelID), MessageID: string(raw.ID),
		Guild: raw.GuildID != "", Author: raw.Author.author(), Content: clean.Text(raw.Content),
	}
	for _, a := range raw.Attachments {
		e.Attachments = append(e.Attachments, Attachment{
			ID: string(a.ID), URL: clean.Line(a.URL), Name: clean.Line(a.Name), Type: clean.Line(a.Type), Size: a.Size,
		})
	}
	if raw.Reference != nil && raw.Reference.Type == 0 { // 1 is a forwarded message
		e.ReplyTo = string(raw.Reference.MessageID)
		e.Referenced = quoted(raw.Referenced)
	}
	return e, nil
}

// quoted reads the message that another one answers. It is an extra: whatever is
// wrong with it does not cost the message itself.
func quoted(data []byte) *Quoted {
	var raw rawMessage
	if len(data) == 0 || json.Unmarshal(data, &raw) != nil || raw.ID == "" {
		return nil
	}
	q := &Quoted{ID: string(raw.ID), Author: raw.Author.author(), Content: clean.Text(raw.Content)}
	var embeds []rawEmbed
	if json.Unmarshal(raw.Embeds, &embeds) != nil {
		return q
	}
	for _, r := range embeds {
		embed := Embed{Title: clean.Line(r.Title), Description: clean.Text(r.Description)}
		for _, f := range r.Fields {
			embed.Fields = append(embed.Fields, Field{Name: clean.Line(f.Name), Value: clean.Text(f.Value)})
		}
		q.Embeds = append(q.Embeds, embed)
	}
	return q
}

func decodeDelete(data []byte) (Event, error) {
	var raw struct {
		ID        id `json:"id"`
		ChannelID id `json:"channel_id"`
		GuildID   id `json:"guild_id"`
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
		UserID    id `json:"user_id"`
		ChannelID id `json:"channel_id"`
		MessageID id `json:"message_id"`
		GuildID   id `json:"guild_id"`
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
		Guild: raw.GuildID != "", Author: Author{ID: string(raw.UserID)}, Emoji: emoji,
	}, nil
}
