package fake

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// nonceLife is how long a nonce is remembered. Discord says "the past few
// minutes" (resources/message, "Create Message").
const nonceLife = 5 * time.Minute

// draft is what a request says about a message. Nil means that it says nothing.
type draft struct {
	Content         *string          `json:"content"`
	Embeds          *[]object        `json:"embeds"`
	Components      *[]object        `json:"components"`
	Flags           int              `json:"flags"`
	Nonce           json.RawMessage  `json:"nonce"`
	EnforceNonce    bool             `json:"enforce_nonce"`
	AllowedMentions json.RawMessage  `json:"allowed_mentions"`
	Attachments     *[]keptFile      `json:"attachments"`
	StickerIDs      []string         `json:"sticker_ids"`
	Poll            json.RawMessage  `json:"poll"`
	Reference       *draftReference  `json:"message_reference"`
	ThreadName      *json.RawMessage `json:"thread_name"`
}

type draftReference struct {
	MessageID       string `json:"message_id"`
	FailIfNotExists *bool  `json:"fail_if_not_exists"`
}

// keptFile names an attachment that stays, or describes one that is uploaded.
type keptFile struct {
	ID       any    `json:"id"`
	Filename string `json:"filename"`
}

// readDraft decodes a message with its numbers as they were written.
func readDraft(raw []byte) (*draft, error) {
	if len(raw) == 0 {
		return &draft{}, nil
	}
	var d draft
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&d); err != nil {
		return nil, err
	}
	return &d, nil
}

func (s *Server) postMessage(c *call) answer {
	ch := s.channels[c.seg[1]]
	if ch == nil {
		return failure(http.StatusNotFound, 10003)
	}
	d, err := readDraft(c.body)
	if err != nil {
		return *invalidForm("", err.Error())
	}
	if d.EnforceNonce && len(d.Nonce) > 0 {
		if a := s.sameNonce(string(d.Nonce)); a != nil {
			return *a
		}
	}
	m := Message{ChannelID: ch.id, GuildID: ch.guild, Author: s.bot}
	if ref := d.Reference; ref != nil {
		switch {
		case s.message(ref.MessageID) != nil:
			m.ReplyTo, m.Type = ref.MessageID, 19
		case ref.FailIfNotExists == nil || *ref.FailIfNotExists:
			return *invalidForm("message_reference", "Unknown message")
		}
	}
	m.ID = s.next(s.now())
	if refusal := s.fill(&m, d, c.files); refusal != nil {
		return *refusal
	}
	if len(d.Nonce) > 0 && string(d.Nonce) != "null" {
		m.nonce, m.Nonce = d.Nonce, strings.Trim(string(d.Nonce), `"`)
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
	a := failure(http.StatusNotFound, 10008)
	if m := s.message(n.message); m != nil {
		a = ok(s.wireMessage(m))
	}
	return &a
}

// fill writes a draft into a message. What the draft does not mention stays.
func (s *Server) fill(m *Message, d *draft, files []upload) *answer {
	if d.Content != nil {
		m.Content = strings.TrimSpace(*d.Content) // as Discord does
	}
	if d.Embeds != nil {
		m.setEmbeds(*d.Embeds)
	}
	if d.Components != nil {
		m.setComponents(*d.Components)
	}
	m.Flags |= d.Flags & (1<<2 | 1<<12 | flagComponents)
	if d.Attachments != nil && len(m.Attachments) > 0 {
		m.Attachments = slices.DeleteFunc(slices.Clone(m.Attachments), func(a Attachment) bool {
			return !slices.ContainsFunc(*d.Attachments, func(k keptFile) bool { return k.ID == a.ID })
		})
	}
	for _, f := range files {
		m.Attachments = append(slices.Clip(m.Attachments), s.keep(m.ChannelID, File{Name: f.name, Type: f.kind, Data: f.data}))
	}
	if m.Content == "" && len(m.Embeds) == 0 && len(m.Attachments) == 0 && m.components == nil &&
		len(d.StickerIDs) == 0 && (d.Poll == nil || string(d.Poll) == "null") {
		a := failure(http.StatusBadRequest, 50006)
		return &a
	}
	return nil
}

func (s *Server) patchMessage(c *call) answer {
	m, refusal := s.target(c)
	if refusal != nil {
		return *refusal
	}
	if m.Author.ID != s.bot.ID {
		return failure(http.StatusForbidden, 50005)
	}
	return s.amend(m, c.body, c.files)
}

// amend edits one message as a request says.
func (s *Server) amend(m *Message, raw []byte, files []upload) answer {
	d, err := readDraft(raw)
	if err != nil {
		return *invalidForm("", err.Error())
	}
	trial := *m
	if refusal := s.fill(&trial, d, files); refusal != nil {
		return *refusal
	}
	trial.Flags &^= flagLoading
	return ok(s.wireMessage(s.edit(m, func(m *Message) { *m = trial })))
}

func (s *Server) deleteMessage(c *call) answer {
	m, refusal := s.target(c)
	if refusal != nil {
		return *refusal
	}
	if m.Author.ID != s.bot.ID {
		return failure(http.StatusForbidden, 50013)
	}
	s.remove(m)
	return nothing()
}

func (s *Server) getMessage(c *call) answer {
	m, refusal := s.target(c)
	if refusal != nil {
		return *refusal
	}
	return ok(s.wireMessage(m))
}

// target is the message that a path channels/x/messages/y names.
func (s *Server) target(c *call) (*Message, *answer) {
	if s.channels[c.seg[1]] == nil {
		a := failure(http.StatusNotFound, 10003)
		return nil, &a
	}
	m := s.message(c.seg[3])
	if m == nil || m.ChannelID != c.seg[1] || m.Ephemeral() {
		a := failure(http.StatusNotFound, 10008)
		return nil, &a
	}
	return m, nil
}

// getMessages is a channel's history, newest first, at most limit messages
// (1-100, default 50) after, before, or simply the newest.
func (s *Server) getMessages(c *call) answer {
	if s.channels[c.seg[1]] == nil {
		return failure(http.StatusNotFound, 10003)
	}
	limit := 50
	if q := c.query.Get("limit"); q != "" {
		n, err := strconv.Atoi(q)
		if err != nil || n < 1 || n > 100 {
			return *invalidForm("limit", "int value should be between 1 and 100")
		}
		limit = n
	}
	after, before := c.query.Get("after"), c.query.Get("before")
	var page []*Message
	for _, m := range s.messages {
		in := m.ChannelID == c.seg[1] && m.Deleted.IsZero() && !m.Ephemeral()
		if in && (after == "" || newer(m.ID, after)) && (before == "" || newer(before, m.ID)) {
			page = append(page, m)
		}
	}
	if after != "" {
		page = page[:min(limit, len(page))] // the oldest of those that follow
	}
	page = last(page, limit)
	out := make([]object, 0, len(page))
	for _, m := range slices.Backward(page) {
		out = append(out, s.wireMessage(m))
	}
	return ok(out)
}

// newer compares two snowflakes.
func newer(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}

func (s *Server) postTyping(c *call) answer {
	if s.channels[c.seg[1]] == nil {
		return failure(http.StatusNotFound, 10003)
	}
	s.typing = append(s.typing, Typing{ChannelID: c.seg[1], At: s.now()})
	return nothing()
}

func (s *Server) putReaction(c *call) answer {
	m, refusal := s.target(c)
	if refusal != nil {
		return *refusal
	}
	s.react(m, s.bot, c.seg[5])
	return nothing()
}

func (s *Server) deleteReaction(c *call) answer {
	m, refusal := s.target(c)
	if refusal != nil {
		return *refusal
	}
	if !s.unreact(m, s.bot, c.seg[5]) {
		return failure(http.StatusNotFound, 10008)
	}
	return nothing()
}

func (s *Server) getReactions(c *call) answer {
	m, refusal := s.target(c)
	if refusal != nil {
		return *refusal
	}
	users := []object{}
	for _, r := range m.Reactions {
		for _, id := range r.Users {
			if r.Emoji == c.seg[5] {
				users = append(users, wireUser(s.users[id]))
			}
		}
	}
	return ok(users)
}
