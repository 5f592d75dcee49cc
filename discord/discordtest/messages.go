package discordtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
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
}

// readDraft decodes a message with its numbers as they were written.
func readDraft(raw []byte) (*draft, *Plan) {
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

func (s *Server) postMessage(c *call) *Plan {
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
func (s *Server) sameNonce(nonce string) *Plan {
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
func (s *Server) fill(m *Message, d *draft, files []File) *Plan {
	if d.Content != nil {
		m.Content = strings.TrimSpace(*d.Content) // as Discord does
	}
	if d.Embeds != nil {
		m.setEmbeds(*d.Embeds)
	}
	if d.Components != nil {
		m.setComponents(*d.Components)
	}
	m.Flags |= d.Flags & (discordgo.MessageFlagsSuppressEmbeds | discordgo.MessageFlagsSuppressNotifications)
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
func (s *Server) target(c *call) (*Message, *Plan) {
	if s.channels[c.seg[1]] == nil {
		return nil, failure(http.StatusNotFound, 10003)
	}
	m := s.message(c.seg[3])
	if m == nil || m.ChannelID != c.seg[1] || m.Ephemeral() {
		return nil, failure(http.StatusNotFound, 10008)
	}
	return m, nil
}

func (s *Server) getMessage(_ *call, m *Message) *Plan { return ok(s.wireMessage(m)) }

func (s *Server) patchMessage(c *call, m *Message) *Plan {
	if m.Author.ID != s.bot.ID {
		return failure(http.StatusForbidden, 50005)
	}
	return s.amend(m, c.body, c.files)
}

// amend edits one message as a request says.
func (s *Server) amend(m *Message, raw []byte, files []File) *Plan {
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

func (s *Server) deleteMessage(_ *call, m *Message) *Plan {
	if m.Author.ID != s.bot.ID {
		return failure(http.StatusForbidden, 50013)
	}
	s.remove(m)
	return nothing()
}

// getMessages is a channel's history, newest first, at most limit messages
// (default 50) after, before, or simply the newest.
func (s *Server) getMessages(c *call) *Plan {
	if s.channels[c.seg[1]] == nil {
		return failure(http.StatusNotFound, 10003)
	}
	limit := 50
	if n, err := strconv.Atoi(c.query.Get("limit")); err == nil {
		limit = min(max(n, 1), 100)
	}
	after := c.query.Get("after")
	var page []*Message
	for _, m := range s.all.Messages {
		in := m.ChannelID == c.seg[1] && m.Deleted.IsZero() && !m.Ephemeral()
		if in && (after == "" || later(m.ID, after)) {
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

func (s *Server) postTyping(c *call) *Plan {
	if s.channels[c.seg[1]] == nil {
		return failure(http.StatusNotFound, 10003)
	}
	return nothing()
}

func (s *Server) putReaction(c *call, m *Message) *Plan {
	s.react(m, s.bot, c.seg[5])
	return nothing()
}

func (s *Server) deleteReaction(c *call, m *Message) *Plan {
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
		if c["type"] == json.Number("2") {
			var b discordgo.Button
			_ = json.Unmarshal(encode(c), &b) // as with the embeds
			m.Buttons = append(m.Buttons, b)
		}
	})
	m.components = encode(all)
}

// walk visits components and what is inside of them, in reading order.
func walk(all []object, visit func(object)) {
	for _, c := range all {
		visit(c)
		walk(children(c, "components"), visit)
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

// attachmentRoot is where files are, on Discord's CDN and here.
const attachmentRoot = "/attachments/"

// linkLife is how long the address of a file works.
const linkLife = 24 * time.Hour

// File is what a person uploads. What it declares may be a lie.
type File struct {
	Name string
	Type string // declared; may be empty
	Data []byte
	Size int    // declared, in bytes; 0 is the true one
	URL  string // where the message says it is; empty is here
}

// Attachment is a file of a message.
type Attachment struct {
	File
	ID string

	path string // here; empty for a file that claims to be elsewhere
}

var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// keep stores a file and says where it is. Callers hold the lock.
func (s *Server) keep(channel string, f File) Attachment {
	a := Attachment{ID: s.next(s.now()), File: f}
	a.Size = cmp.Or(f.Size, len(f.Data))
	a.Name = cmp.Or(f.Name, "unknown")
	// A name that could leave its folder is put into order, as Discord does.
	path := attachmentRoot + channel + "/" + a.ID + "/" + unsafeInName.ReplaceAllString(a.Name, "_")
	s.files[path] = f
	if a.URL == "" {
		a.path, a.URL = path, s.signed(path)
	}
	return a
}

// signed is the address of a file with the time when it ends, in hexadecimal
// seconds (reference, "Signed Attachment CDN URLs").
func (s *Server) signed(path string) string {
	now := s.now()
	return fmt.Sprintf("%s%s?ex=%x&is=%x&hm=0", s.base, path, now.Add(linkLife).Unix(), now.Unix())
}

// serveAttachment plays the CDN, with the same fault plans as REST: a cut here
// ends the connection in the middle of the file.
func (s *Server) serveAttachment(w http.ResponseWriter, r *http.Request) {
	c := &call{method: r.Method, path: r.URL.Path}
	f := s.takeFault(c.method, c.path)
	entry := s.arrive(c)
	s.mu.Lock()
	file, found := s.files[r.URL.Path]
	s.mu.Unlock()
	end, err := strconv.ParseInt(r.URL.Query().Get("ex"), 16, 64)
	a := &Plan{Status: http.StatusOK, Body: string(file.Data), header: http.Header{"Content-Type": {file.Type}}}
	if !found || err != nil || s.now().Unix() >= end {
		a = &Plan{Status: http.StatusNotFound, Body: "This content is no longer available.", header: http.Header{"Content-Type": {"text/plain"}}}
	}
	if f != nil {
		if !s.linger(r.Context(), f.plan) {
			return
		}
		if f.plan.answers() {
			a = f.plan
		}
	}
	s.decide(entry, a)
	if a.Cut && found {
		w.Header().Set("Content-Length", strconv.Itoa(len(file.Data)))
		_, _ = w.Write(file.Data[:len(file.Data)/2])
		_ = http.NewResponseController(w).Flush()
	}
	a.deliver(w)
}

// later compares ids, which grow in length, then in order.
func later(id, than string) bool {
	if len(id) != len(than) {
		return len(id) > len(than)
	}
	return id > than
}
