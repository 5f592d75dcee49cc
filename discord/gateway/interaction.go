package gateway

import (
	"encoding/json"
	"strings"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/clean"
	"ollimbot/discord/message"
)

type user struct {
	ID message.ID `json:"id"`
}

type rawInteraction struct {
	ID        message.ID                `json:"id"`
	AppID     message.ID                `json:"application_id"`
	Type      discordgo.InteractionType `json:"type"`
	Token     string                    `json:"token"`
	ChannelID message.ID                `json:"channel_id"`
	GuildID   message.ID                `json:"guild_id"`
	User      *user                     `json:"user"` // in private
	Member    *struct {
		User *user `json:"user"`
	} `json:"member"` // on a server
	Message *struct {
		ID   message.ID `json:"id"`
		Rows []struct {
			Components json.RawMessage `json:"components"`
		} `json:"components"`
	} `json:"message"`
	Data json.RawMessage `json:"data"`
}

func decodeInteraction(data []byte) (Event, error) {
	var raw rawInteraction
	if err := json.Unmarshal(data, &raw); err != nil {
		return Event{}, err
	}
	who := raw.User
	if who == nil && raw.Member != nil {
		who = raw.Member.User
	}
	if raw.ID == "" || raw.AppID == "" || raw.ChannelID == "" || who == nil || who.ID == "" || !pathSafe(raw.Token) {
		return Event{}, errNonsense
	}
	e := Event{
		Kind: Interaction, InteractionID: string(raw.ID), AppID: string(raw.AppID), Token: raw.Token,
		UserID: string(who.ID), ChannelID: string(raw.ChannelID), Guild: raw.GuildID != "",
	}
	switch raw.Type {
	case discordgo.InteractionApplicationCommand:
		return e, e.command(raw.Data)
	case discordgo.InteractionMessageComponent:
		if raw.Message == nil || raw.Message.ID == "" {
			return Event{}, errNonsense
		}
		e.MessageID = string(raw.Message.ID)
		for _, row := range raw.Message.Rows {
			e.Buttons = append(e.Buttons, buttons(row.Components))
		}
		return e, e.click(raw.Data)
	}
	return Event{}, errNonsense
}

// buttons are those of a row; what is none is left out.
func buttons(data []byte) []Button {
	var raw []struct {
		ID       string `json:"custom_id"`
		Label    string `json:"label"`
		Style    int    `json:"style"`
		Disabled bool   `json:"disabled"`
	}
	var out []Button
	if json.Unmarshal(data, &raw) == nil {
		for _, b := range raw {
			if b.ID != "" && b.Label != "" {
				out = append(out, Button{ID: b.ID, Label: b.Label, Style: b.Style, Disabled: b.Disabled})
			}
		}
	}
	return out
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
			Name  string                                 `json:"name"`
			Type  discordgo.ApplicationCommandOptionType `json:"type"`
			Value any                                    `json:"value"`
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
func optionValue(kind discordgo.ApplicationCommandOptionType, v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return clean.Text(v), true
	case bool:
		return v, true
	case float64:
		if kind != discordgo.ApplicationCommandOptionInteger {
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
