package discordtest

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// encode encodes values created here, which cannot fail.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

type object = map[string]any

func wireUser(u User) object {
	return object{
		"id": u.ID, "username": u.Username, "discriminator": "0", "global_name": nil, "avatar": nil,
		"bot": u.Bot, "public_flags": 0, "flags": 0, "primary_guild": nil,
	}
}

func wireMember(u User) object {
	return object{
		"user": wireUser(u), "roles": []string{}, "joined_at": stamp(time.UnixMilli(epoch)), "deaf": false, "mute": false,
		"flags": 0, "nick": nil, "avatar": nil, "permissions": "0",
	}
}

func (w *world) wireChannel(c *channel) object {
	if c.guild != "" {
		return object{
			"id": c.id, "type": 0, "guild_id": c.guild, "name": "general", "position": 0, "flags": 0, "nsfw": false,
			"permission_overwrites": []any{}, "parent_id": nil, "topic": nil, "last_message_id": nil,
		}
	}
	return object{
		"id": c.id, "type": 1, "flags": 0, "last_message_id": nil,
		"recipients": []object{wireUser(w.users[c.user])},
	}
}

// wireMessage returns a message in the format of REST answers; events add fields.
func (w *world) wireMessage(m *Message) object {
	o := object{
		"id": m.ID, "channel_id": m.ChannelID, "type": m.Type, "author": wireUser(m.Author), "content": m.Content,
		"embeds": []any{}, "components": []any{}, "attachments": w.wireAttachments(m.Attachments),
		"flags": m.Flags, "timestamp": stamp(m.created), "edited_timestamp": nil, "pinned": false, "tts": false,
		"mention_everyone": false, "mentions": []object{}, "mention_roles": []string{},
	}
	if m.embeds != nil {
		o["embeds"] = m.embeds
	}
	if m.components != nil {
		o["components"] = m.components
	}
	if !m.edited.IsZero() {
		o["edited_timestamp"] = stamp(m.edited)
	}
	if m.nonce != nil {
		o["nonce"] = m.nonce
	}
	maps.Copy(o, m.Extra)
	if m.Interaction != "" {
		o["webhook_id"], o["application_id"] = w.app, w.app
	}
	if len(m.Reactions) > 0 {
		o["reactions"] = w.wireReactions(m.Reactions)
	}
	if m.ReplyTo != "" {
		o["message_reference"] = object{"type": 0, "channel_id": m.ChannelID, "message_id": m.ReplyTo}
		o["referenced_message"] = nil // the message was deleted
		if to := w.message(m.ReplyTo); to != nil {
			flat := *to
			flat.ReplyTo = "" // nested replies are not included
			o["referenced_message"] = w.wireMessage(&flat)
		}
	}
	return o
}

// wireAttachments signs the addresses each time, as Discord does for every answer.
func (w *world) wireAttachments(all []Attachment) []object {
	out := make([]object, 0, len(all))
	for _, a := range all {
		url := a.URL
		if a.path != "" {
			url = w.signed(a.path)
		}
		o := object{"id": a.ID, "filename": a.Name, "size": a.Size, "url": url, "proxy_url": url}
		if a.Type != "" {
			o["content_type"] = a.Type
		}
		if a.Alt != "" {
			o["description"] = a.Alt
		}
		if a.Seconds > 0 {
			o["duration_secs"], o["waveform"] = a.Seconds, "AAAAAAAAAAAA"
		}
		out = append(out, o)
	}
	return out
}

func (w *world) wireReactions(all []Reaction) []object {
	out := make([]object, 0, len(all))
	for _, r := range all {
		out = append(out, object{
			"emoji": object{"id": nil, "name": r.Emoji}, "count": len(r.users), "me": slices.Contains(r.users, w.app), "me_burst": false,
			"count_details": object{"burst": 0, "normal": len(r.users)}, "burst_colors": []string{},
		})
	}
	return out
}

func (w *world) wireApplication() object {
	owner, team := wireUser(w.owner), any(nil)
	if w.team {
		// The owner of a team's application is a placeholder without direct messages (topics/teams).
		const id = "1"
		member := object{"user": owner, "team_id": id, "membership_state": 2, "role": "admin", "permissions": []string{"*"}}
		team = object{"id": id, "icon": nil, "name": "team", "owner_user_id": w.owner.ID, "members": []object{member}}
		owner = wireUser(User{ID: id, Username: "team" + id})
	}
	return object{
		"id": w.app, "name": w.bot.Username, "icon": nil, "description": "", "type": nil, "bot": wireUser(w.bot),
		"bot_public": false, "bot_require_code_grant": false, "verify_key": "00", "flags": 0, "flags_new": "0",
		"redirect_uris": []string{}, "interactions_endpoint_url": nil, "role_connections_verification_url": nil,
		"owner": owner, "team": team, "approximate_guild_count": 1, "approximate_user_install_count": 1,
		"approximate_user_authorization_count": 0, "explicit_content_filter": 0, "eligible_oauth2_scopes": []string{},
		"integration_types_config": object{"0": object{}, "1": object{}},
	}
}
