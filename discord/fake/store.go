package fake

import (
	"slices"
	"time"
)

// know makes a user findable. Callers hold the lock, or are alone.
func (w *world) know(u User) { w.users[u.ID] = u }

// directChannel is the channel between the bot and this user, opened on first
// use. Callers hold the lock.
func (s *Server) directChannel(u User) *channel {
	s.know(u)
	if id, ok := s.dms[u.ID]; ok {
		return s.channels[id]
	}
	c := &channel{id: s.next(s.now()), user: u.ID}
	s.channels[c.id], s.dms[u.ID] = c, c.id
	return c
}

// guildChannel is the one channel that a guild has here. Callers hold the lock.
func (s *Server) guildChannel(guild string) *channel {
	for _, c := range s.channels {
		if c.guild == guild {
			return c
		}
	}
	c := &channel{id: s.next(s.now()), guild: guild}
	s.channels[c.id] = c
	return c
}

// message is the standing message with this id, nil without one. Callers hold
// the lock.
func (s *Server) message(id string) *Message {
	if i, ok := s.place[id]; ok && s.messages[i].Deleted.IsZero() {
		return s.messages[i]
	}
	return nil
}

// add stores a new message, tells the gateway and returns it with its id.
// Callers hold the lock.
func (s *Server) add(m Message) *Message {
	now := s.now()
	if m.ID == "" {
		m.ID = s.next(now)
	}
	m.Created = now
	m.Versions = []Version{m.version(now)}
	s.place[m.ID] = len(s.messages)
	s.messages = append(s.messages, &m)
	s.tellMessage("MESSAGE_CREATE", &m)
	return &m
}

// edit replaces a message by a changed copy. Callers hold the lock.
func (s *Server) edit(old *Message, change func(*Message)) *Message {
	m := *old
	change(&m)
	m.Versions = append(slices.Clip(m.Versions), m.version(s.now()))
	s.messages[s.place[m.ID]] = &m
	s.tellMessage("MESSAGE_UPDATE", &m)
	return &m
}

// remove marks a message as deleted. Callers hold the lock.
func (s *Server) remove(old *Message) {
	m := *old
	m.Deleted = s.now()
	s.messages[s.place[m.ID]] = &m
	o := object{"id": m.ID, "channel_id": m.ChannelID}
	if m.GuildID != "" {
		o["guild_id"] = m.GuildID
	}
	s.dispatch("MESSAGE_DELETE", m.GuildID, encode(o))
}

func (m *Message) version(at time.Time) Version {
	return Version{At: at, Content: m.Content, Embeds: len(m.Embeds), Buttons: len(m.Buttons)}
}

// tellMessage dispatches a message event. A client that may not read messages
// in guilds gets them empty; of ephemeral ones the gateway says nothing. Callers
// hold the lock.
func (s *Server) tellMessage(event string, m *Message) {
	if m.Ephemeral() {
		return
	}
	o := s.wireMessage(m)
	if m.GuildID != "" {
		o["guild_id"] = m.GuildID
		o["member"] = wireMember(m.Author)
		if !s.o.Privileged && m.Author.ID != s.bot.ID {
			o["content"], o["embeds"], o["components"], o["attachments"] = "", []any{}, []any{}, []any{}
		}
	}
	s.dispatch(event, m.GuildID, encode(o))
}

// react adds one reaction and reports whether it was new. Callers hold the lock.
func (s *Server) react(old *Message, u User, emoji string) bool {
	m := *old
	m.Reactions = cloneReactions(old.Reactions)
	i := slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Emoji == emoji })
	switch {
	case i < 0:
		m.Reactions = append(m.Reactions, Reaction{Emoji: emoji, Users: []string{u.ID}})
	case slices.Contains(m.Reactions[i].Users, u.ID):
		return false
	default:
		m.Reactions[i].Users = append(m.Reactions[i].Users, u.ID)
	}
	s.messages[s.place[m.ID]] = &m
	s.tellReaction("MESSAGE_REACTION_ADD", &m, u, emoji)
	return true
}

// unreact takes one reaction back and reports whether it was there. Callers
// hold the lock.
func (s *Server) unreact(old *Message, u User, emoji string) bool {
	m := *old
	m.Reactions = cloneReactions(old.Reactions)
	for i, r := range m.Reactions {
		k := slices.Index(r.Users, u.ID)
		if r.Emoji != emoji || k < 0 {
			continue
		}
		m.Reactions[i].Users = slices.Delete(r.Users, k, k+1)
		if len(m.Reactions[i].Users) == 0 {
			m.Reactions = slices.Delete(m.Reactions, i, i+1)
		}
		s.messages[s.place[m.ID]] = &m
		s.tellReaction("MESSAGE_REACTION_REMOVE", &m, u, emoji)
		return true
	}
	return false
}

func cloneReactions(all []Reaction) []Reaction {
	out := slices.Clone(all)
	for i := range out {
		out[i].Users = slices.Clone(out[i].Users)
	}
	return out
}

func (s *Server) tellReaction(event string, m *Message, u User, emoji string) {
	o := object{
		"user_id": u.ID, "channel_id": m.ChannelID, "message_id": m.ID, "message_author_id": m.Author.ID,
		"emoji": object{"id": nil, "name": emoji}, "burst": false, "type": 0,
	}
	if m.GuildID != "" {
		o["guild_id"] = m.GuildID
		o["member"] = wireMember(u)
	}
	s.dispatch(event, m.GuildID, encode(o))
}
