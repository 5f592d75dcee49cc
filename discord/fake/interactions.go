package fake

import (
	"encoding/json"
	"net/http"
	"time"
)

// Clocks of an interaction (Discord, interactions/receiving-and-responding).
const (
	firstAnswer  = 3 * time.Second
	tokenLife    = 15 * time.Minute
	maxFollowups = 5
)

// Types of a callback.
const (
	callbackMessage        = 4
	callbackDeferred       = 5
	callbackDeferredUpdate = 6
	callbackUpdate         = 7
	callbackChoices        = 8
	callbackModal          = 9
)

type callback struct {
	Type int             `json:"type"`
	Data json.RawMessage `json:"data"`
}

// interaction finds one by id or, with an empty id, by token.
func (s *Server) interaction(id, token string) *Interaction {
	for i := len(s.interactions) - 1; i >= 0; i-- {
		if k := s.interactions[i]; k.Token == token && (id == "" || k.ID == id) {
			return k
		}
	}
	return nil
}

func (s *Server) postCallback(c *call) answer {
	i := s.interaction(c.seg[1], c.seg[2])
	switch {
	case i == nil:
		return failure(http.StatusNotFound, 10062)
	case i.Callback != 0:
		return failure(http.StatusBadRequest, 40060)
	case s.now().Sub(i.At) > firstAnswer:
		return failure(http.StatusNotFound, 10062)
	}
	var in callback
	if refusal := decodeBody(c, &in); refusal != nil {
		return *refusal
	}
	d, err := readDraft(in.Data)
	if err != nil {
		return *invalidForm("data", err.Error())
	}
	if refusal := s.carryOut(i, in, d, c.files); refusal != nil {
		return *refusal
	}
	i.Callback, i.Acknowledged = in.Type, s.now()
	if c.query.Get("with_response") != "true" {
		return nothing()
	}
	return ok(s.callbackResponse(i))
}

// carryOut does what a first answer asks for.
func (s *Server) carryOut(i *Interaction, in callback, d *draft, files []upload) *answer {
	source := s.message(i.MessageID)
	switch in.Type {
	case callbackMessage, callbackDeferred:
		m := s.answering(i)
		m.Flags = d.Flags & flagEphemeral
		if in.Type == callbackDeferred {
			m.Flags |= flagLoading
		} else if refusal := s.fill(&m, d, files); refusal != nil {
			return refusal
		}
		i.Original = s.add(m).ID
	case callbackDeferredUpdate, callbackUpdate:
		if i.Type != 3 || source == nil {
			return invalidForm("type", "this callback needs a message with components")
		}
		i.Original = source.ID
		if in.Type == callbackUpdate {
			if a := s.amend(source, in.Data, files); a.status != http.StatusOK {
				return &a
			}
		}
	case callbackChoices, callbackModal:
		i.Data = in.Data
	default:
		return invalidForm("type", "unknown callback")
	}
	return nil
}

// answering is an empty message in answer to an interaction.
func (s *Server) answering(i *Interaction) Message {
	m := Message{ChannelID: i.ChannelID, Author: s.bot, Interaction: i.ID}
	if ch := s.channels[i.ChannelID]; ch != nil {
		m.GuildID = ch.guild
	}
	if i.Type == 2 {
		m.Type = 20
	}
	return m
}

func (s *Server) callbackResponse(i *Interaction) object {
	o := object{"interaction": object{"id": i.ID, "type": i.Type, "channel_id": i.ChannelID}}
	m := s.message(i.Original)
	if m == nil {
		return o
	}
	o["interaction"].(object)["response_message_id"] = m.ID
	o["interaction"].(object)["response_message_loading"] = m.Loading()
	o["interaction"].(object)["response_message_ephemeral"] = m.Ephemeral()
	if i.Callback == callbackMessage || i.Callback == callbackUpdate {
		o["resource"] = object{"type": i.Callback, "message": s.wireMessage(m)}
	}
	return o
}

// alive finds the interaction of a webhook path and refuses one whose token is
// unknown, unanswered, or older than 15 minutes.
func (s *Server) alive(c *call) (*Interaction, *answer) {
	i := s.interaction("", c.seg[2])
	a := failure(http.StatusNotFound, 10015)
	if i == nil || c.seg[1] != s.app || i.Callback == 0 {
		return nil, &a
	}
	if s.now().Sub(i.At) > tokenLife {
		a = failure(http.StatusUnauthorized, 50027)
		return nil, &a
	}
	return i, nil
}

// postFollowup adds a message. Straight after a deferred answer it fills that
// one instead, as Discord does for old clients.
func (s *Server) postFollowup(c *call) answer {
	i, refusal := s.alive(c)
	if refusal != nil {
		return *refusal
	}
	if first := s.message(i.Original); first != nil && first.Loading() {
		return s.amend(first, c.body, c.files)
	}
	if i.Followups >= maxFollowups {
		return failure(http.StatusBadRequest, 40094)
	}
	d, err := readDraft(c.body)
	if err != nil {
		return *invalidForm("", err.Error())
	}
	m := s.answering(i)
	m.Type, m.ReplyTo = 0, ""
	m.Flags = d.Flags & flagEphemeral
	m.ID = s.next(s.now())
	if refusal := s.fill(&m, d, c.files); refusal != nil {
		return *refusal
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
		a := failure(http.StatusNotFound, 10008)
		return nil, &a
	}
	return m, nil
}

func (s *Server) getFollowup(c *call) answer {
	m, refusal := s.followup(c)
	if refusal != nil {
		return *refusal
	}
	return ok(s.wireMessage(m))
}

func (s *Server) patchFollowup(c *call) answer {
	m, refusal := s.followup(c)
	if refusal != nil {
		return *refusal
	}
	return s.amend(m, c.body, c.files)
}

func (s *Server) deleteFollowup(c *call) answer {
	m, refusal := s.followup(c)
	if refusal != nil {
		return *refusal
	}
	s.remove(m)
	return nothing()
}
