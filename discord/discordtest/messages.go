package discordtest

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/bwmarrin/discordgo"
)

func (s *rest) postMessage(c *call) *Plan {
	ch := s.w.channels[c.seg[1]]
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
	m := Message{ChannelID: ch.id, GuildID: ch.guild, Author: s.w.bot, nonce: d.Nonce}
	m.ID = s.w.next()
	if refusal := s.refer(&m, d); refusal != nil {
		return refusal
	}
	if refusal := s.fill(&m, d, c.files); refusal != nil {
		return refusal
	}
	if len(d.Nonce) > 0 {
		s.w.nonces[string(d.Nonce)] = noted{message: m.ID, at: s.w.now()}
	}
	return ok(s.w.wireMessage(s.w.add(m)))
}

// sameNonce answers a send whose nonce was used recently: with the earlier message, or with an error if that was
// deleted.
func (s *rest) sameNonce(nonce string) *Plan {
	n, found := s.w.nonces[nonce]
	if !found || s.w.now().Sub(n.at) > nonceLife {
		return nil
	}
	if m := s.w.message(n.message); m != nil {
		return ok(s.w.wireMessage(m))
	}
	return failure(http.StatusNotFound, 10008)
}

// target returns the message in a path channels/x/messages/y.
func (s *rest) target(c *call) (*Message, *Plan) {
	if s.w.channels[c.seg[1]] == nil {
		return nil, failure(http.StatusNotFound, 10003)
	}
	m := s.w.message(c.seg[3])
	if m == nil || m.ChannelID != c.seg[1] || m.Ephemeral() {
		return nil, failure(http.StatusNotFound, 10008)
	}
	return m, nil
}

func (s *rest) getMessage(_ *call, m *Message) *Plan { return ok(s.w.wireMessage(m)) }

func (s *rest) patchMessage(c *call, m *Message) *Plan {
	if m.Author.ID != s.w.bot.ID {
		return failure(http.StatusForbidden, 50005)
	}
	return s.amend(m, c.body, c.files)
}

// amend edits one message according to a request.
func (s *rest) amend(m *Message, raw []byte, files []File) *Plan {
	d, refusal := readDraft(raw)
	if refusal != nil {
		return refusal
	}
	trial := *m
	if refusal := s.fill(&trial, d, files); refusal != nil {
		return refusal
	}
	trial.Flags &^= discordgo.MessageFlagsLoading
	return ok(s.w.wireMessage(s.w.edit(trial)))
}

func (s *rest) deleteMessage(_ *call, m *Message) *Plan {
	if m.Author.ID != s.w.bot.ID {
		return failure(http.StatusForbidden, 50013)
	}
	s.w.remove(m)
	return nothing()
}

// getMessages returns a channel's history, newest first, at most limit messages (default 50) after, before, or simply
// the newest.
func (s *rest) getMessages(c *call) *Plan {
	if s.w.channels[c.seg[1]] == nil {
		return failure(http.StatusNotFound, 10003)
	}
	limit := 50
	if n, err := strconv.Atoi(c.query.Get("limit")); err == nil {
		limit = min(max(n, 1), 100)
	}
	after := c.query.Get("after")
	var page []*Message
	for _, m := range s.w.all.Messages {
		in := m.ChannelID == c.seg[1] && m.Deleted.IsZero() && !m.Ephemeral()
		if in && (after == "" || later(m.ID, after)) {
			page = append(page, m)
		}
	}
	if after != "" {
		page = page[:min(limit, len(page))] // the oldest messages after that one
	}
	out := []object{}
	for _, m := range slices.Backward(last(page, limit)) {
		out = append(out, s.w.wireMessage(m))
	}
	return ok(out)
}

func (s *rest) postTyping(c *call) *Plan {
	if s.w.channels[c.seg[1]] == nil {
		return failure(http.StatusNotFound, 10003)
	}
	return nothing()
}

func (s *rest) putReaction(c *call, m *Message) *Plan {
	s.w.react(m, s.w.bot, c.seg[5])
	return nothing()
}

func (s *rest) deleteReaction(c *call, m *Message) *Plan {
	if !s.w.unreact(m, s.w.bot, c.seg[5]) {
		return failure(http.StatusNotFound, 10008)
	}
	return nothing()
}

// serveAttachment is the CDN, with the same faults as REST: a cut here
// ends the connection in the middle of the file.
func (s *rest) serveAttachment(w http.ResponseWriter, r *http.Request) {
	c := &call{method: r.Method, path: r.URL.Path}
	f := s.faults.take(c.method, c.path)
	entry := s.w.arrive(c)
	s.w.mu.Lock()
	file, found := s.w.files[r.URL.Path]
	s.w.mu.Unlock()
	end, err := strconv.ParseInt(r.URL.Query().Get("ex"), 16, 64)
	a := &Plan{Status: http.StatusOK, Body: string(file.Data), header: http.Header{"Content-Type": {file.Type}}}
	if !found || err != nil || s.w.now().Unix() >= end {
		a = &Plan{Status: http.StatusNotFound, Body: "This content is no longer available.", header: http.Header{"Content-Type": {"text/plain"}}}
	}
	if f != nil {
		if !s.faults.linger(r.Context(), f.plan) {
			return
		}
		if f.plan.answers() {
			a = f.plan
		}
	}
	s.w.decide(entry, a)
	if a.Cut && found {
		w.Header().Set("Content-Length", strconv.Itoa(len(file.Data)))
		_, _ = w.Write(file.Data[:len(file.Data)/2])
		_ = http.NewResponseController(w).Flush()
	}
	a.deliver(w)
}
