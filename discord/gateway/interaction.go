package gateway

import (
	"encoding/json"
	"strings"

	"ollimbot/core/clean"
)

// The kinds of interactions that the bot offers, and of option values that are
// whole numbers.
const (
	interactionCommand = 2
	interactionClick   = 3
	optionInteger      = 4
)

type rawInteraction struct {
	ID        id       `json:"id"`
	AppID     id       `json:"application_id"`
	Type      int      `json:"type"`
	Token     string   `json:"token"`
	ChannelID id       `json:"channel_id"`
	GuildID   id       `json:"guild_id"`
	User      *rawUser `json:"user"` // in private
	Member    *struct {
		User *rawUser `json:"user"`
	} `json:"member"` // on a server
	Message *struct {
		ID id `json:"id"`
	} `json:"message"`
	Data json.RawMessage `json:"data"`
}

func decodeInteraction(data []byte) (Event, error) {
	var raw rawInteraction
	if err := json.Unmarshal(data, &raw); err != nil {
		return Event{}, err
	}
	user := raw.User
	if user == nil && raw.Member != nil {
		user = raw.Member.User
	}
	if raw.ID == "" || raw.AppID == "" || raw.ChannelID == "" || user == nil || user.ID == "" || !pathSafe(raw.Token) {
		return Event{}, errNonsense
	}
	e := Event{
		Kind: Interaction, InteractionID: string(raw.ID), AppID: string(raw.AppID), Token: raw.Token,
		UserID: string(user.ID), Author: user.author(), ChannelID: string(raw.ChannelID), Guild: raw.GuildID != "",
	}
	switch raw.Type {
	case interactionCommand:
		return e, e.command(raw.Data)
	case interactionClick:
		if raw.Message == nil || raw.Message.ID == "" {
			return Event{}, errNonsense
		}
		e.MessageID = string(raw.Message.ID)
		return e, e.click(raw.Data)
	}
	return Event{}, errNonsense
}

// pathSafe reports whether a token of an interaction may become part of an
// address.
func pathSafe(token string) bool {
	if token == "" || len(token) > 1024 {
		return false
	}
	const fine = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return strings.Trim(token, fine) == "" // Trim stops at the first that is not fine
}

func (e *Event) click(data []byte) error {
	var raw struct {
		CustomID string `json:"custom_id"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	e.CustomID = clean.Line(raw.CustomID)
	if e.CustomID == "" {
		return errNonsense
	}
	return nil
}

func (e *Event) command(data []byte) error {
	var raw struct {
		Name    string `json:"name"`
		Options []struct {
			Name  string `json:"name"`
			Type  int    `json:"type"`
			Value any    `json:"value"`
		} `json:"options"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	e.CommandName = clean.Line(raw.Name)
	if e.CommandName == "" {
		return errNonsense
	}
	e.Options = make(map[string]any, len(raw.Options))
	for _, o := range raw.Options {
		v, ok := optionValue(o.Type, o.Value)
		name := clean.Line(o.Name)
		if !ok || name == "" {
			return errNonsense
		}
		e.Options[name] = v
	}
	return nil
}

// optionValue is a value of one of the types that Event.Options promises.
func optionValue(kind int, v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return clean.Text(v), true
	case bool:
		return v, true
	case float64:
		if kind != optionInteger {
			return v, true
		}
		const exact = 1 << 53 // what Discord allows, and a float64 can hold
		if v != float64(int64(v)) || v > exact || v < -exact {
			return nil, false
		}
		return int64(v), true
	}
	return nil, false
}
