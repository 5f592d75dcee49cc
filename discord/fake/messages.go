package fake

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/post"
)

// nonceLife is how long a nonce is remembered. Discord says "the past few
// minutes" (resources/message, "Create Message").
const nonceLife = 5 * time.Minute

// draft is what a request says about a message. Nil means that it says nothing.
type draft struct {
	Content         *string                `json:"content"`
	Embeds          *[]object              `json:"embeds"`
	Components      *[]object              `json:"components"`
	Flags           discordgo.MessageFlags `json:"flags"`
	Nonce           json.RawMessage        `json:"nonce"`
	EnforceNonce    bool                   `json:"enforce_nonce"`
	AllowedMentions json.RawMessage        `json:"allowed_mentions"`
	Attachments     *[]struct {            // those that stay, or describe an upload
		ID any `json:"id"`
	} `json:"attachments"`
	Reference *discordgo.MessageReference `json:"message_reference"`
}

// readDraft decodes a message with its numbers as they were written.
func readDraft(raw []byte) (*draft, *answer) {
	var d draft
	if len(raw) == 0 {
		return &d, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&d); err != nil {
		return nil, invalidForm("", err.Error())
	}
	return &d, nil
}

func (s *Server) postMessage(c *call) *answer {
	ch := s.channels[c.seg[1]]
	if ch == nil {
		return failure(http.StatusNotFound, 10003)
	}
	d, refusal := readDraft(c.body)
	if refusal != nil {
		return refusal
	}
	if d.EnforceNonce && len(d.Nonce) > 0 {
		if a := s.sameNonce(string(d.Nonce)); a != nil {
			return a
		}
	}
	m := Message{ChannelID: ch.id, GuildID: ch.guild, Author: s.bot, nonce: d.Nonce}
	if ref := d.Reference; ref != nil {
		switch {
		case s.message(ref.MessageID) != nil:
			m.ReplyTo, m.Type = ref.MessageID, discordgo.MessageTypeReply
		case ref.FailIfNotExists == nil || *ref.FailIfNotExists:
			return invalidForm("message_reference", "Unknown message")
		}
	}
	m.ID = s.next(s.now())
	if refusal := s.fill(&m, d, c.files); refusal != nil {
		return refusal
	}
	if len(d.Nonce) > 0 {
		s.nonces[string(d.Nonce)] = noted{message: m.ID, at: s.now()}
	}
	return ok(s.wireMessage(s.add(m)))
}

// sameNonce answers a send whose nonce was used a moment ago: with the message
// of then, or with its absence when it was deleted since.
func (s *Server) sameNonce(nonce string) *answer {
	n, found := s.nonces[nonce]
	if !found || s.now().Sub(n.at) > nonceLife {
		return nil
	}
	if m := s.message(n.message); m != nil {
		return ok(s.wireMessage(m))
	}
	return failure(http.StatusNotFound, 10008)
}

// fill writes a draft into a message. What the draft does not mention stays.
func (s *Server) fill(m *Message, d *draft, files []File) *answer {
	if d.Content != nil {
		m.Content = strings.TrimSpace(*d.Content) // as Discord does
	}
	if d.Embeds != nil {
		m.setEmbeds(*d.Embeds)
	}
	if d.Components != nil {
		m.setComponents(*d.Components)
	}
	m.Flags |= d.Flags & (discordgo.MessageFlagsSuppressEmbeds | discordgo.MessageFlagsSuppressNotifications | discordgo.MessageFlagsIsComponentsV2)
	if d.Attachments != nil {
		m.Attachments = slices.DeleteFunc(slices.Clone(m.Attachments), func(a Attachment) bool {
			for _, k := range *d.Attachments {
				if k.ID == a.ID {
					return false
				}
			}
			return true
		})
	}
	for _, f := range files {
		m.Attachments = append(slices.Clip(m.Attachments), s.keep(m.ChannelID, f))
	}
	if m.Content == "" && len(m.Embeds) == 0 && len(m.Attachments) == 0 && m.components == nil {
		return failure(http.StatusBadRequest, 50006)
	}
	return nil
}

// target is the message that a path channels/x/messages/y names.
func (s *Server) target(c *call) (*Message, *answer) {
	if s.channels[c.seg[1]] == nil {
		return nil, failure(http.StatusNotFound, 10003)
	}
	m := s.message(c.seg[3])
	if m == nil || m.ChannelID != c.seg[1] || m.Ephemeral() {
		return nil, failure(http.StatusNotFound, 10008)
	}
	return m, nil
}

func (s *Server) getMessage(_ *call, m *Message) *answer { return ok(s.wireMessage(m)) }

func (s *Server) patchMessage(c *call, m *Message) *answer {
	if m.Author.ID != s.bot.ID {
		return failure(http.StatusForbidden, 50005)
	}
	return s.amend(m, c.body, c.files)
}

// amend edits one message as a request says.
func (s *Server) amend(m *Message, raw []byte, files []File) *answer {
	d, refusal := readDraft(raw)
	if refusal != nil {
		return refusal
	}
	trial := *m
	if refusal := s.fill(&trial, d, files); refusal != nil {
		return refusal
	}
	trial.Flags &^= discordgo.MessageFlagsLoading
	return ok(s.wireMessage(s.edit(trial)))
}

func (s *Server) deleteMessage(_ *call, m *Message) *answer {
	if m.Author.ID != s.bot.ID {
		return failure(http.StatusForbidden, 50013)
	}
	s.remove(m)
	return nothing()
}

// getMessages is a channel's history, newest first, at most limit messages
// (default 50) after, before, or simply the newest.
func (s *Server) getMessages(c *call) *answer {
	if s.channels[c.seg[1]] == nil {
		return failure(http.StatusNotFound, 10003)
	}
	limit := 50
	if n, err := strconv.Atoi(c.query.Get("limit")); err == nil {
		limit = min(max(n, 1), 100)
	}
	after, before := c.query.Get("after"), c.query.Get("before")
	var page []*Message
	for _, m := range s.messages {
		in := m.ChannelID == c.seg[1] && m.Deleted.IsZero() && !m.Ephemeral()
		if in && (after == "" || post.Later(m.ID, after)) && (before == "" || post.Later(before, m.ID)) {
			page = append(page, m)
		}
	}
	if after != "" {
		page = page[:min(limit, len(page))] // the oldest of those that follow
	}
	out := []object{}
	for _, m := range slices.Backward(last(page, limit)) {
		out = append(out, s.wireMessage(m))
	}
	return ok(out)
}

func (s *Server) postTyping(c *call) *answer {
	if s.channels[c.seg[1]] == nil {
		return failure(http.StatusNotFound, 10003)
	}
	return nothing()
}

func (s *Server) putReaction(c *call, m *Message) *answer {
	s.react(m, s.bot, c.seg[5])
	return nothing()
}

func (s *Server) deleteReaction(c *call, m *Message) *answer {
	if !s.unreact(m, s.bot, c.seg[5]) {
		return failure(http.StatusNotFound, 10008)
	}
	return nothing()
}

// setEmbeds stores embeds as Discord hands them back: with a type, fields with
// their inline flag, and nothing that is null.
func (m *Message) setEmbeds(all []object) {
	m.embeds, m.Embeds = nil, nil
	if len(all) == 0 {
		return
	}
	for _, e := range all {
		dropNulls(e)
		e["type"] = "rich"
		for _, f := range children(e, "fields") {
			defaults(f, object{"inline": false})
		}
	}
	m.embeds = encode(all)
	// The contract has accepted them; without it a strange one stays empty.
	_ = json.Unmarshal(m.embeds, &m.Embeds)
}

// setComponents stores components with the ids and defaults that Discord adds,
// and the buttons among them once more by themselves.
func (m *Message) setComponents(all []object) {
	m.components, m.Buttons = nil, nil
	if len(all) == 0 {
		return
	}
	id := 0
	walk(all, func(c object) {
		id++
		dropNulls(c)
		defaults(c, object{"id": id})
		switch kind, _ := c["type"].(json.Number); kind {
		case "2":
			var b discordgo.Button
			_ = json.Unmarshal(encode(c), &b) // as with the embeds
			m.Buttons = append(m.Buttons, b)
		case "3", "5", "6", "7", "8":
			defaults(c, object{"min_values": 1, "max_values": 1})
		case "17":
			defaults(c, object{"spoiler": false, "accent_color": nil}) // required, and may be null
		}
	})
	m.components = encode(all)
}

// walk visits components and what is inside of them, in reading order.
func walk(all []object, visit func(object)) {
	for _, c := range all {
		visit(c)
		walk(children(c, "components"), visit)
		if one, is := c["accessory"].(object); is {
			walk([]object{one}, visit)
		}
	}
}

// children are the objects in a list of decoded JSON.
func children(o object, key string) (out []object) {
	all, _ := o[key].([]any)
	for _, child := range all {
		if child, is := child.(object); is {
			out = append(out, child)
		}
	}
	return out
}

func defaults(c, values object) {
	for k, v := range values {
		if c[k] == nil {
			c[k] = v
		}
	}
}

// dropNulls removes what a client said with null instead of leaving it out, all
// the way down.
func dropNulls(v any) {
	switch v := v.(type) {
	case object:
		for k, child := range v {
			if child == nil {
				delete(v, k)
				continue
			}
			dropNulls(child)
		}
	case []any:
		for _, child := range v {
			dropNulls(child)
		}
	}
}
