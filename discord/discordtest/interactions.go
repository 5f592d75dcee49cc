package discordtest

import (
	"encoding/json"
	"net/http"

	"github.com/bwmarrin/discordgo"
)

type callback struct {
	Type discordgo.InteractionResponseType `json:"type"`
	Data json.RawMessage                   `json:"data"`
}

func (s *rest) postCallback(c *call) *Plan {
	i := s.w.interaction(c.seg[2])
	switch {
	case i == nil || i.ID != c.seg[1]:
		return failure(http.StatusNotFound, 10062)
	case i.Callback != 0:
		return failure(http.StatusBadRequest, 40060)
	case s.w.now().Sub(i.at) > firstAnswer:
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

// carryOut applies a first answer.
func (s *rest) carryOut(i *Interaction, in callback, files []File) *Plan {
	switch in.Type {
	case discordgo.InteractionResponseChannelMessageWithSource, discordgo.InteractionResponseDeferredChannelMessageWithSource:
		d, refusal := readDraft(in.Data)
		if refusal != nil {
			return refusal
		}
		if i.Type == discordgo.InteractionApplicationCommandAutocomplete {
			return invalidForm("type", "an autocomplete interaction takes only choices")
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
		i.Original = s.w.add(m).ID
		return nil
	case discordgo.InteractionResponseDeferredMessageUpdate:
		source := s.w.message(i.MessageID)
		if source == nil {
			return invalidForm("type", "this callback needs a message with components")
		}
		i.Original = source.ID
		return nil
	case discordgo.InteractionResponseModal:
		return s.openModal(i, in.Data)
	case discordgo.InteractionApplicationCommandAutocompleteResult:
		return s.showChoices(i, in.Data)
	}
	return invalidForm("type", "a callback that our bot does not need")
}

// openModal shows a window. Only a command or a component can open one
// (interactions/receiving-and-responding#interaction-response-object-interaction-callback-type). Here it is always
// the first answer.
func (s *rest) openModal(i *Interaction, data json.RawMessage) *Plan {
	if i.Type != discordgo.InteractionApplicationCommand && i.Type != discordgo.InteractionMessageComponent {
		return invalidForm("type", "a modal cannot answer this interaction")
	}
	var m Modal
	if err := json.Unmarshal(data, &m); err != nil {
		return invalidForm("data", err.Error())
	}
	i.Modal = &m
	return nil
}

// showChoices shows suggestions for a field (interactions/application-commands#autocomplete).
func (s *rest) showChoices(i *Interaction, data json.RawMessage) *Plan {
	if i.Type != discordgo.InteractionApplicationCommandAutocomplete {
		return invalidForm("type", "only an autocomplete interaction takes choices")
	}
	var in struct {
		Choices []struct{ Name, Value string } `json:"choices"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return invalidForm("data", err.Error())
	}
	i.Choices = []string{}
	for _, c := range in.Choices {
		i.Choices = append(i.Choices, c.Value)
	}
	return nil
}

// answering returns an empty message that answers an interaction.
func (s *rest) answering(i *Interaction, d *draft) Message {
	return Message{
		ID: s.w.next(), ChannelID: i.ChannelID, GuildID: s.w.channels[i.ChannelID].guild, Author: s.w.bot,
		Interaction: i.ID, Flags: d.Flags & discordgo.MessageFlagsEphemeral,
	}
}

// alive finds the interaction of a webhook path and rejects one whose token is unknown, unanswered, or older than 15
// minutes.
func (s *rest) alive(c *call) (*Interaction, *Plan) {
	i := s.w.interaction(c.seg[2])
	if i == nil || c.seg[1] != s.w.app || i.Callback == 0 {
		return nil, failure(http.StatusNotFound, 10015)
	}
	if s.w.now().Sub(i.at) > tokenLife {
		return nil, failure(http.StatusUnauthorized, 50027)
	}
	return i, nil
}

// postFollowup adds a message. Directly after a deferred answer, it fills that one instead, as Discord does for old
// clients.
func (s *rest) postFollowup(c *call) *Plan {
	i, refusal := s.alive(c)
	if refusal != nil {
		return refusal
	}
	if first := s.w.message(i.Original); first != nil && first.Loading() {
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
	return ok(s.w.wireMessage(s.w.add(m)))
}

// followup returns the message in a webhook path.
func (s *rest) followup(c *call) (*Message, *Plan) {
	i, refusal := s.alive(c)
	if refusal != nil {
		return nil, refusal
	}
	id := c.seg[4]
	if id == "@original" {
		id = i.Original
	}
	m := s.w.message(id)
	if m == nil || m.Interaction != i.ID && id != i.Original {
		return nil, failure(http.StatusNotFound, 10008)
	}
	return m, nil
}
