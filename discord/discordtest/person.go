package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"
)

// Person plays one user's side: what they type, click and upload. A mistake of
// the story, such as a click on a button that is not there, is a violation.
type Person struct {
	s     *Server
	User  User
	guild string
}

// User is the owner of the application, in the direct messages with the bot.
func (s *Server) User() *Person { return &Person{s: s, User: s.o.Owner} }

// Stranger is somebody else in direct messages of their own; a new one each
// time.
func (s *Server) Stranger() *Person { return s.somebody(User{Username: "stranger"}) }

// OtherBot is a bot that writes to ours; a new one each time.
func (s *Server) OtherBot() *Person { return s.somebody(User{Username: "other", Bot: true}) }

func (s *Server) somebody(u User) *Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.ID = s.next(s.now())
	s.users[u.ID] = u
	return &Person{s: s, User: u}
}

// In is the same person in the channel of a guild.
func (p *Person) In(guild string) *Person { return &Person{s: p.s, User: p.User, guild: guild} }

// Channel is the id of the channel that the person writes in.
func (p *Person) Channel() string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.channel().id
}

func (p *Person) channel() *channel {
	if p.guild != "" {
		return p.s.open(channel{guild: p.guild})
	}
	return p.s.directChannel(p.User)
}

// write stores a message of the person. Callers do not hold the lock.
func (p *Person) write(m Message, files ...File) *Message {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := p.channel()
	m.ChannelID, m.GuildID, m.Author = ch.id, ch.guild, p.User
	for _, f := range files {
		m.Attachments = append(m.Attachments, s.keep(ch.id, f))
	}
	return s.add(m)
}

// Say writes a message.
func (p *Person) Say(text string) *Message { return p.write(Message{Content: text}) }

// Send writes a message of any kind, such as a forwarded one or a notice of a pin.
func (p *Person) Send(m Message) *Message { return p.write(m) }

// Upload writes a message with files; the text may be empty.
func (p *Person) Upload(text string, files ...File) *Message {
	return p.write(Message{Content: text}, files...)
}

// Reply answers a message, which may have been deleted meanwhile.
func (p *Person) Reply(to, text string) *Message {
	return p.write(Message{Content: text, ReplyTo: to, Type: discordgo.MessageTypeReply})
}

// Edit changes a message of the person's own.
func (p *Person) Edit(id, text string) {
	p.with(id, func(m *Message) {
		changed := *m
		changed.Content = text
		p.s.edit(changed)
	})
}

// Delete deletes a message; in direct messages only one's own, but moderators
// and the client's "delete" of the bot's messages exist, so anything goes.
func (p *Person) Delete(id string) { p.with(id, p.s.remove) }

// React adds an emoji to a message.
func (p *Person) React(id, emoji string) {
	p.with(id, func(m *Message) { p.s.react(m, p.User, emoji) })
}

// Unreact takes it away again.
func (p *Person) Unreact(id, emoji string) {
	p.with(id, func(m *Message) { p.s.unreact(m, p.User, emoji) })
}

// with does something to a standing message under the lock.
func (p *Person) with(id string, do func(*Message)) {
	p.s.mu.Lock()
	m := p.s.message(id)
	if m != nil {
		do(m)
	}
	p.s.change()
	p.s.mu.Unlock()
	if m == nil {
		p.s.violate("the story uses message %s, which is not there", id)
	}
}

// Click presses a button that stands on the message.
func (p *Person) Click(messageID, customID string) Interaction {
	m := p.s.State().Message(messageID)
	stands := m != nil && m.Deleted.IsZero() && slices.ContainsFunc(m.Buttons, func(b discordgo.Button) bool { return b.CustomID == customID && !b.Disabled })
	if !stands {
		p.s.violate("the story clicks %q on message %s, which has no such button", customID, messageID)
	}
	return p.Forge(messageID, customID)
}

// Forge presses a button whether or not it is there, as a client can that makes
// up its own requests.
func (p *Person) Forge(messageID, customID string) Interaction {
	data := object{"custom_id": customID, "component_type": 2}
	return p.interact(Interaction{Type: discordgo.InteractionMessageComponent, MessageID: messageID}, data)
}

// Option is one text given to a command.
type Option struct{ Name, Value string }

// Slash runs a registered command.
func (p *Person) Slash(name string, options ...Option) Interaction {
	var id string
	for _, c := range p.s.State().Commands {
		if c.Name == name {
			id = c.ID
		}
	}
	if id == "" {
		p.s.violate("the story runs /%s, which is not registered", name)
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
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := p.channel()
	m := s.message(i.MessageID)
	if m != nil {
		ch = s.channels[m.ChannelID]
	}
	i.at = s.now()
	i.ID = s.next(i.at)
	i.Token = "interaction-token-" + s.next(i.at)
	i.ChannelID = ch.id
	s.interactions = append(s.interactions, &i)
	o := object{
		"id": i.ID, "application_id": s.app, "type": i.Type, "token": i.Token, "version": 1, "data": data, "channel_id": ch.id,
		"channel": s.wireChannel(ch), "locale": "en-US", "app_permissions": "0", "entitlements": []any{},
		"attachment_size_limit": maxFile, "authorizing_integration_owners": object{"1": s.o.Owner.ID},
	}
	if m != nil {
		o["message"] = s.wireMessage(m)
	}
	if ch.guild != "" {
		o["context"], o["guild_id"], o["guild_locale"] = 0, ch.guild, "en-US"
		o["member"] = wireMember(p.User)
	} else {
		o["context"], o["user"] = 1, wireUser(p.User)
	}
	s.dispatch("INTERACTION_CREATE", ch.guild, o)
	return i
}

// Clocks of an interaction (Discord, interactions/receiving-and-responding).
const (
	firstAnswer  = 3 * time.Second
	tokenLife    = 15 * time.Minute
	maxFollowups = 5
)

type callback struct {
	Type discordgo.InteractionResponseType `json:"type"`
	Data json.RawMessage                   `json:"data"`
}

// interaction finds one by its token.
func (s *Server) interaction(token string) *Interaction {
	i := slices.IndexFunc(s.interactions, func(k *Interaction) bool { return k.Token == token })
	if i < 0 {
		return nil
	}
	return s.interactions[i]
}

func (s *Server) postCallback(c *call) *Plan {
	i := s.interaction(c.seg[2])
	switch {
	case i == nil || i.ID != c.seg[1]:
		return failure(http.StatusNotFound, 10062)
	case i.Callback != 0:
		return failure(http.StatusBadRequest, 40060)
	case s.now().Sub(i.at) > firstAnswer:
		return failure(http.StatusNotFound, 10062)
	}
	var in callback
	if refusal := c.decode(&in); refusal != nil {
		return refusal
	}
	if refusal := s.carryOut(i, in, c.files); refusal != nil {
		return refusal
	}
	i.Callback = in.Type
	return nothing()
}

// carryOut does what a first answer asks for.
func (s *Server) carryOut(i *Interaction, in callback, files []File) *Plan {
	switch in.Type {
	case discordgo.InteractionResponseChannelMessageWithSource, discordgo.InteractionResponseDeferredChannelMessageWithSource:
		d, refusal := readDraft(in.Data)
		if refusal != nil {
			return refusal
		}
		m := s.answering(i, d)
		if i.Type == discordgo.InteractionApplicationCommand {
			m.Type = discordgo.MessageTypeChatInputCommand
		}
		if in.Type == discordgo.InteractionResponseDeferredChannelMessageWithSource {
			m.Flags |= discordgo.MessageFlagsLoading
		} else if refusal := s.fill(&m, d, files); refusal != nil {
			return refusal
		}
		i.Original = s.add(m).ID
		return nil
	case discordgo.InteractionResponseDeferredMessageUpdate:
		source := s.message(i.MessageID)
		if source == nil {
			return invalidForm("type", "this callback needs a message with components")
		}
		i.Original = source.ID
		return nil
	}
	return invalidForm("type", "a callback that no bot of ours needs")
}

// answering is an empty message in answer to an interaction.
func (s *Server) answering(i *Interaction, d *draft) Message {
	return Message{
		ID: s.next(s.now()), ChannelID: i.ChannelID, GuildID: s.channels[i.ChannelID].guild, Author: s.bot,
		Interaction: i.ID, Flags: d.Flags & discordgo.MessageFlagsEphemeral,
	}
}

// alive finds the interaction of a webhook path and refuses one whose token is
// unknown, unanswered, or older than 15 minutes.
func (s *Server) alive(c *call) (*Interaction, *Plan) {
	i := s.interaction(c.seg[2])
	if i == nil || c.seg[1] != s.app || i.Callback == 0 {
		return nil, failure(http.StatusNotFound, 10015)
	}
	if s.now().Sub(i.at) > tokenLife {
		return nil, failure(http.StatusUnauthorized, 50027)
	}
	return i, nil
}

// postFollowup adds a message. Straight after a deferred answer it fills that
// one instead, as Discord does for old clients.
func (s *Server) postFollowup(c *call) *Plan {
	i, refusal := s.alive(c)
	if refusal != nil {
		return refusal
	}
	if first := s.message(i.Original); first != nil && first.Loading() {
		return s.amend(first, c.body, c.files)
	}
	if i.Followups >= maxFollowups {
		return failure(http.StatusBadRequest, 40094)
	}
	d, refusal := readDraft(c.body)
	if refusal != nil {
		return refusal
	}
	m := s.answering(i, d)
	if refusal := s.fill(&m, d, c.files); refusal != nil {
		return refusal
	}
	i.Followups++
	return ok(s.wireMessage(s.add(m)))
}

// followup is the message that a webhook path names.
func (s *Server) followup(c *call) (*Message, *Plan) {
	i, refusal := s.alive(c)
	if refusal != nil {
		return nil, refusal
	}
	id := c.seg[4]
	if id == "@original" {
		id = i.Original
	}
	m := s.message(id)
	if m == nil || m.Interaction != i.ID && id != i.Original {
		return nil, failure(http.StatusNotFound, 10008)
	}
	return m, nil
}
