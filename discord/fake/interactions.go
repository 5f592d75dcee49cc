package fake

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"
)

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

func (s *Server) postCallback(c *call) *answer {
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
func (s *Server) carryOut(i *Interaction, in callback, files []File) *answer {
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
func (s *Server) alive(c *call) (*Interaction, *answer) {
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
func (s *Server) postFollowup(c *call) *answer {
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
func (s *Server) followup(c *call) (*Message, *answer) {
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
