package discordtest

import (
	"slices"

	"github.com/bwmarrin/discordgo"
)

// Person plays one user: typing, clicking and uploading. A mistake in the story, such as a click on a missing button,
// is a violation.
type Person struct {
	w     *world
	User  User
	guild string
}

// In returns the same person in the channel of a guild.
func (p *Person) In(guild string) *Person { return &Person{w: p.w, User: p.User, guild: guild} }

// Channel returns the ID of the channel in which the person writes.
func (p *Person) Channel() string {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.channel().id
}

func (p *Person) channel() *channel {
	if p.guild != "" {
		return p.w.open(channel{guild: p.guild})
	}
	return p.w.directChannel(p.User)
}

// write stores a message of the person. Callers do not hold the lock.
func (p *Person) write(m Message, files ...File) *Message {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	ch := p.channel()
	m.ChannelID, m.GuildID, m.Author = ch.id, ch.guild, p.User
	for _, f := range files {
		m.Attachments = append(m.Attachments, w.keep(ch.id, f))
	}
	return w.add(m)
}

// Say writes a message.
func (p *Person) Say(text string) *Message { return p.write(Message{Content: text}) }

// Send writes a message of any kind, such as a forwarded one or a notice of a pin.
func (p *Person) Send(m Message) *Message { return p.write(m) }

// Upload writes a message with files; the text may be empty.
func (p *Person) Upload(text string, files ...File) *Message {
	return p.write(Message{Content: text}, files...)
}

// Speak sends a voice message: one file, no text, and a flag (docs: Resources > Message >
// Voice Messages).
func (p *Person) Speak(recording []byte, seconds float64) *Message {
	return p.write(Message{Flags: discordgo.MessageFlagsIsVoiceMessage},
		File{Name: "voice-message.ogg", Type: "audio/ogg", Data: recording, Seconds: seconds})
}

// Forward forwards someone else's message, of which Discord keeps a copy without its author (docs: Resources >
// Message > Message Snapshot Object). It omits the reference to the message, because Discord's API description does
// not define that type of reference.
func (p *Person) Forward(text string, flags discordgo.MessageFlags, files ...File) *Message {
	p.w.mu.Lock()
	ch := p.channel()
	var kept []Attachment
	for _, f := range files {
		kept = append(kept, p.w.keep(ch.id, f))
	}
	snapshot := object{
		"type": 0, "content": text, "embeds": []any{}, "components": []any{}, "flags": flags, "mentions": []any{}, "mention_roles": []any{},
		"timestamp": stamp(p.w.now()), "edited_timestamp": nil, "attachments": p.w.wireAttachments(kept),
	}
	p.w.mu.Unlock()
	return p.write(Message{Extra: object{"message_snapshots": []object{{"message": snapshot}}}})
}

// Reply answers a message, which may have been deleted.
func (p *Person) Reply(to, text string) *Message {
	return p.write(Message{Content: text, ReplyTo: to, Type: discordgo.MessageTypeReply})
}

// Edit changes one of the person's messages.
func (p *Person) Edit(id, text string) {
	p.with(id, func(m *Message) {
		changed := *m
		changed.Content = text
		p.w.edit(changed)
	})
}

// Delete deletes a message. It accepts any message, although in direct messages users can normally delete only their
// own.
func (p *Person) Delete(id string) { p.with(id, p.w.remove) }

// React adds an emoji to a message.
func (p *Person) React(id, emoji string) {
	p.with(id, func(m *Message) { p.w.react(m, p.User, emoji) })
}

// Unreact removes it.
func (p *Person) Unreact(id, emoji string) {
	p.with(id, func(m *Message) { p.w.unreact(m, p.User, emoji) })
}

// with calls do with an existing message, under the lock.
func (p *Person) with(id string, do func(*Message)) {
	p.w.mu.Lock()
	m := p.w.message(id)
	if m != nil {
		do(m)
	}
	p.w.change()
	p.w.mu.Unlock()
	if m == nil {
		p.w.violate("the story uses message %s, which does not exist", id)
	}
}

// Click presses a button of the message.
func (p *Person) Click(messageID, customID string) Interaction {
	st, _ := p.w.look()
	m := st.Message(messageID)
	exists := m != nil && m.Deleted.IsZero() && slices.ContainsFunc(m.Buttons, func(b discordgo.Button) bool { return b.CustomID == customID && !b.Disabled })
	if !exists {
		p.w.violate("the story clicks %q on message %s, which has no such button", customID, messageID)
	}
	return p.Forge(messageID, customID)
}

// Forge presses a button whether or not it exists, as a forged request can.
func (p *Person) Forge(messageID, customID string) Interaction {
	data := object{"custom_id": customID, "component_type": 2}
	return p.interact(Interaction{Type: discordgo.InteractionMessageComponent, MessageID: messageID}, data)
}

// Option is one text given to a command.
type Option struct{ Name, Value string }

// Slash runs a registered command.
func (p *Person) Slash(name string, options ...Option) Interaction {
	var id string
	st, _ := p.w.look()
	for _, c := range st.Commands {
		if c.Name == name {
			id = c.ID
		}
	}
	if id == "" {
		p.w.violate("the story runs /%s, which is not registered", name)
	}
	given := make([]object, 0, len(options))
	for _, o := range options {
		given = append(given, object{"name": o.Name, "type": 3, "value": o.Value})
	}
	data := object{"id": id, "name": name, "type": 1, "options": given}
	return p.interact(Interaction{Type: discordgo.InteractionApplicationCommand}, data)
}

// interact stores an interaction and dispatches it. Its clocks start now.
func (p *Person) interact(i Interaction, data object) Interaction {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	ch := p.channel()
	m := w.message(i.MessageID)
	if m != nil {
		ch = w.channels[m.ChannelID]
	}
	i.at = w.now()
	i.ID = w.next()
	i.Token = "interaction-token-" + w.next()
	i.ChannelID = ch.id
	w.interactions = append(w.interactions, &i)
	o := object{
		"id": i.ID, "application_id": w.app, "type": i.Type, "token": i.Token, "version": 1, "data": data, "channel_id": ch.id,
		"channel": w.wireChannel(ch), "locale": "en-US", "app_permissions": "0", "entitlements": []any{},
		"attachment_size_limit": maxFile, "authorizing_integration_owners": object{"1": w.owner.ID},
	}
	if m != nil {
		o["message"] = w.wireMessage(m)
	}
	if ch.guild != "" {
		o["context"], o["guild_id"], o["guild_locale"] = 0, ch.guild, "en-US"
		o["member"] = wireMember(p.User)
	} else {
		o["context"], o["user"] = 1, wireUser(p.User)
	}
	w.dispatch("INTERACTION_CREATE", ch.guild, o)
	return i
}
