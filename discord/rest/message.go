package rest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
	"ollimbot/discord/message"
)

// Message is a message within Discord's limits, as render makes it.
type Message struct {
	Content    string
	Embeds     []*discordgo.MessageEmbed
	Components []discordgo.MessageComponent
	// Nonce makes sending idempotent for some minutes: the same nonce is the same message.
	// Any text works; empty makes a new one. Only Send uses it.
	Nonce string
	Flags discordgo.MessageFlags
	Files []File
	// ReplyTo is the ID of the message that this one answers, or empty. Its author is not notified, and it may have been
	// deleted.
	ReplyTo string
	// Before is called once, just before Send's first try and after all waiting. Its error
	// becomes Send's, and nothing is sent. May be nil.
	Before func() error
}

// File is an attachment. Read is called once.
type File struct {
	Name string
	// Alt describes a picture for screen readers; at most 1024 characters.
	Alt  string
	Read func() ([]byte, error)
}

// maxUpload limits a whole request, in bytes. The limit of one file depends on the account,
// so Discord reports it.
const maxUpload = 25 << 20

// payload is a message as JSON. Pointers distinguish absent from empty: in an edit an empty
// list removes and an absent one keeps.
type payload struct {
	Content     *string                       `json:"content,omitempty"`
	Embeds      *[]*discordgo.MessageEmbed    `json:"embeds,omitempty"`
	Components  *[]discordgo.MessageComponent `json:"components,omitempty"`
	Attachments []attachment                  `json:"attachments,omitempty"`
	Flags       discordgo.MessageFlags        `json:"flags,omitempty"`
	Nonce       string                        `json:"nonce,omitempty"`
	Enforce     bool                          `json:"enforce_nonce,omitempty"`
	Reference   *reference                    `json:"message_reference,omitempty"`
	// Mentions is always written: quoted text must never notify anyone.
	Mentions struct {
		Parse   []string `json:"parse"`
		Replied *bool    `json:"replied_user,omitempty"`
	} `json:"allowed_mentions"`
}

// reference names the replied-to message.
type reference struct {
	ID string `json:"message_id"`
	// Must is false: the answer is sent even if that message was deleted.
	Must bool `json:"fail_if_not_exists"`
}

type attachment struct {
	ID    string `json:"id"`
	Name  string `json:"filename"`
	About string `json:"description,omitempty"`
}

// fresh encodes a new message.
func (m *Message) fresh() payload {
	p := m.replacing()
	if m.Content == "" {
		p.Content = nil
	}
	if len(m.Embeds) == 0 {
		p.Embeds = nil
	}
	if len(m.Components) == 0 {
		p.Components = nil
	}
	p.Flags, p.Attachments = m.Flags, m.described()
	if m.ReplyTo != "" {
		p.Reference, p.Mentions.Replied = &reference{ID: m.ReplyTo}, new(bool)
	}
	return p
}

// replacing encodes a message that replaces another: parts that it lacks are removed.
func (m *Message) replacing() payload {
	embeds, rows := m.Embeds, m.Components
	if embeds == nil {
		embeds = []*discordgo.MessageEmbed{}
	}
	if rows == nil {
		rows = []discordgo.MessageComponent{}
	}
	p := payload{Content: &m.Content, Embeds: &embeds, Components: &rows}
	p.Mentions.Parse = []string{}
	return p
}

// described returns the descriptions of a request's files, by their positions.
func (m *Message) described() (list []attachment) {
	for i, f := range m.Files {
		list = append(list, attachment{ID: strconv.Itoa(i), Name: fileName(f.Name), About: f.Alt})
	}
	return list
}

// fileName makes a name unambiguous in the header.
func fileName(s string) string {
	if s = clean.Cut(clean.Line(s), 200); s == "" {
		return "file"
	}
	return s
}

// withFiles appends files to the JSON of a message.
func withFiles(data []byte, files []File) (kind string, body []byte, err error) {
	var parts []*discordgo.File
	size := len(data)
	for _, f := range files {
		name := fileName(f.Name)
		content, err := f.Read()
		if err != nil {
			return "", nil, fmt.Errorf(textNoFile, name, store.Bare(err))
		}
		if size += len(content); size > maxUpload {
			return "", nil, fmt.Errorf("%w: %s", ErrInvalid, textFilesLarge)
		}
		parts = append(parts, &discordgo.File{Name: name, Reader: bytes.NewReader(content)})
	}
	return discordgo.MultipartBodyWithJSON(json.RawMessage(data), parts)
}

// maxNonce is Discord's limit in characters.
const maxNonce = 25

// nonce turns any text into a nonce that Discord accepts. A longer one is hashed, so that it stays the same across
// tries and restarts.
func nonce(s string) string {
	if s == "" {
		return rand.Text()[:maxNonce]
	}
	plain := strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) < 0
	if plain && len(s) <= maxNonce {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:maxNonce]
}

// Send sends a message and returns its ID. Repeating it is safe: one nonce is one message, regardless of the result
// of earlier tries. If that message has been deleted, the error is ErrGone.
func (c *Client) Send(ctx context.Context, channel string, m Message) (id string, err error) {
	k := newCall("send the message", "POST /channels/{}/messages", channel)
	p := m.fresh()
	p.Nonce, p.Enforce = nonce(m.Nonce), true
	c.nonces.add(p.Nonce)
	k.fill(p, m.Files)
	k.again, k.before = true, m.Before
	k.decode = decodeID(&id)
	if err = c.do(ctx, k); err != nil && k.maybe {
		err = Unknown(err)
	}
	return id, err
}

const oneMessage = " /channels/{}/messages/{}"

// Edit replaces a message: parts that m lacks are removed, attachments stay. ErrGone means that the message was
// deleted, ErrOldEdit that it is too old for many edits.
func (c *Client) Edit(ctx context.Context, channel, id string, m Message) error {
	return c.edit(ctx, newCall("edit the message", "PATCH"+oneMessage, channel, id), m.replacing(), nil)
}

// Buttons replaces only the buttons of a message.
func (c *Client) Buttons(ctx context.Context, channel, id string, rows []discordgo.MessageComponent) error {
	p := (&Message{Components: rows}).replacing()
	p.Content, p.Embeds = nil, nil
	return c.edit(ctx, newCall("change the buttons", "PATCH"+oneMessage, channel, id), p, nil)
}

// edit changes a message in a channel or the answer to an interaction.
func (c *Client) edit(ctx context.Context, k *call, p payload, files []File) error {
	k.fill(p, files)
	k.again = true
	return c.do(ctx, k)
}

// Delete deletes a message; ErrGone means that it was already deleted.
func (c *Client) Delete(ctx context.Context, channel, id string) error {
	return c.remove(ctx, newCall("delete the message", "DELETE"+oneMessage, channel, id))
}

// remove deletes a message in a channel or the answer to an interaction.
func (c *Client) remove(ctx context.Context, k *call) error {
	k.again, k.done = true, discordgo.ErrCodeUnknownMessage
	return c.do(ctx, k)
}

// React adds a reaction of the bot.
func (c *Client) React(ctx context.Context, channel, id, emoji string) error {
	return c.reaction(ctx, "PUT", channel, id, emoji)
}

// Unreact removes the bot's own reaction. ErrGone means that it or its message does not exist.
func (c *Client) Unreact(ctx context.Context, channel, id, emoji string) error {
	return c.reaction(ctx, "DELETE", channel, id, emoji)
}

// reactTries is how often a reaction is tried: it matters less than the messages.
const reactTries = 2

func (c *Client) reaction(ctx context.Context, method string, at ...string) error {
	k := newCall("react to the message", method+oneMessage+"/reactions/{}/@me", at...)
	k.again, k.tries, k.shares = true, reactTries, reactions
	return c.do(ctx, k)
}

// Typing shows for ten seconds that the bot is typing. It is tried once and does not wait
// for long.
func (c *Client) Typing(ctx context.Context, channel string) error {
	k := newCall("show that the bot is typing", "POST /channels/{}/typing", channel)
	k.tries, k.patience, k.time = 1, 2*time.Second, 5*time.Second
	return c.do(ctx, k)
}

// Text returns the text of a message as it was sent. ErrGone means that it was deleted.
func (c *Client) Text(ctx context.Context, channel, id string) (string, error) {
	k := newCall("read the message", "GET"+oneMessage, channel, id)
	var said struct {
		Content string `json:"content"`
	}
	k.again, k.decode = true, into(&said)
	err := c.do(ctx, k)
	return said.Content, err
}

// After returns up to limit messages that follow a message, oldest first. Discord returns at most a hundred, so call
// it again with last until last is empty. Without an ID it returns the newest messages. Unreadable messages are left
// out and reported to Options.Unreadable; one of them may be the last.
func (c *Client) After(ctx context.Context, channel, after string, limit int) (list []*discordgo.Message, last string, err error) {
	k := newCall("read the messages", "GET /channels/{}/messages", channel)
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if after != "" {
		query.Set("after", after)
	}
	k.path += "?" + query.Encode()
	var raw []json.RawMessage
	k.again, k.decode = true, into(&raw)
	if err := c.do(ctx, k); err != nil {
		return nil, "", err
	}
	for _, one := range raw {
		traits := message.TraitsOf(one)
		if message.IsID(traits.ID) && message.Compare(traits.ID, cmp.Or(last, after)) > 0 {
			last = traits.ID
		}
		m, err := message.Decode(one)
		if err != nil {
			c.unread(traits)
			continue
		}
		if message.Compare(m.ID, after) > 0 {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b *discordgo.Message) int { return message.Compare(a.ID, b.ID) })
	return slices.CompactFunc(list, func(a, b *discordgo.Message) bool { return a.ID == b.ID }), last, nil
}

// callTo is a call authorized by an interaction's token, which is valid for 15 minutes.
func callTo(what, rule, of, token string) *call {
	k := newCall(what, rule, of, token)
	k.bare, k.secret = true, token
	// Limits remember the interaction without its token.
	sum := sha256.Sum256([]byte(token))
	k.major = of + "/" + hex.EncodeToString(sum[:8])
	return k
}

// Answer sends the first answer to an interaction, within three seconds: a message or a deferral, for which m may be
// nil. The flag that makes a deferral ephemeral also applies to what follows. ErrExpired means that the interaction
// expired or was already answered.
//
// It is repeated: an interaction accepts only one answer, so a second try cannot add
// another.
func (c *Client) Answer(ctx context.Context, i *discordgo.Interaction, kind discordgo.InteractionResponseType, m *Message) error {
	if m == nil {
		return answer(ctx, c, i, kind, nil)
	}
	return answer(ctx, c, i, kind, m.fresh())
}

// Modal is a window with fields.
type Modal struct {
	CustomID   string                       `json:"custom_id"`
	Title      string                       `json:"title"`
	Components []discordgo.MessageComponent `json:"components"`
}

// Open opens a window as the first answer to an interaction; Discord does not accept one later.
func (c *Client) Open(ctx context.Context, i *discordgo.Interaction, m Modal) error {
	return answer(ctx, c, i, discordgo.InteractionResponseModal, m)
}

// Suggest answers partial input of a field with suggestions.
func (c *Client) Suggest(ctx context.Context, i *discordgo.Interaction, list []*discordgo.ApplicationCommandOptionChoice) error {
	data := map[string]any{"choices": append([]*discordgo.ApplicationCommandOptionChoice{}, list...)} // never null
	return answer(ctx, c, i, discordgo.InteractionApplicationCommandAutocompleteResult, data)
}

func answer(ctx context.Context, c *Client, i *discordgo.Interaction, kind discordgo.InteractionResponseType, data any) error {
	k := callTo("answer the interaction", "POST /interactions/{}/{}/callback", i.ID, i.Token)
	said := struct {
		Type discordgo.InteractionResponseType `json:"type"`
		Data any                               `json:"data,omitempty"`
	}{Type: kind, Data: data}
	k.fill(said, nil)
	k.again, k.done = true, discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged
	return c.do(ctx, k)
}

const theAnswer = " /webhooks/{}/{}/messages/@original"

// EditAnswer replaces the answer to an interaction or completes a deferral, with its files. If it is too late, the
// error is ErrExpired: send a message instead.
func (c *Client) EditAnswer(ctx context.Context, i *discordgo.Interaction, m Message) error {
	p := m.replacing()
	p.Attachments = m.described()
	return c.edit(ctx, callTo("edit the answer", "PATCH"+theAnswer, i.AppID, i.Token), p, m.Files)
}

// DeleteAnswer deletes the answer to an interaction.
func (c *Client) DeleteAnswer(ctx context.Context, i *discordgo.Interaction) error {
	return c.remove(ctx, callTo("delete the answer", "DELETE"+theAnswer, i.AppID, i.Token))
}

// FollowUp adds a message to the answer of an interaction. Discord does not accept a nonce here, so a try that may
// have been executed is not repeated: after ErrTransient, the message may exist.
func (c *Client) FollowUp(ctx context.Context, i *discordgo.Interaction, m Message) error {
	k := callTo("follow up", "POST /webhooks/{}/{}", i.AppID, i.Token)
	k.fill(m.fresh(), m.Files)
	k.path += "?wait=true"
	k.decode = decodeID(new(string))
	return c.do(ctx, k)
}

// Commands returns the application's commands as registered with Discord.
func (c *Client) Commands(ctx context.Context, app string) ([]discordgo.ApplicationCommand, error) {
	k := newCall("list the commands", "GET /applications/{}/commands", app)
	var list []discordgo.ApplicationCommand
	k.again, k.decode = true, into(&list)
	err := c.do(ctx, k)
	return list, err
}

// PutCommands replaces all commands. Discord limits this, so compare with Same first.
func (c *Client) PutCommands(ctx context.Context, app string, list []discordgo.ApplicationCommand) error {
	k := newCall("register the commands", "PUT /applications/{}/commands", app)
	k.fill(withoutNull(list), nil)
	k.again = true
	return c.do(ctx, k)
}

// withoutNull returns what a list is encoded as, without the keys whose value is null: Discord's description of its API
// does not have them.
func withoutNull(list []discordgo.ApplicationCommand) any {
	var all []any
	data, err := json.Marshal(list)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil { // a command can always be encoded
		return list
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			maps.DeleteFunc(v, func(_ string, v any) bool { return v == nil })
			for _, inner := range v {
				strip(inner)
			}
		case []any:
			for _, inner := range v {
				strip(inner)
			}
		}
	}
	strip(all)
	return append([]any{}, all...) // never null
}

// Same reports whether two lists are equivalent for Discord, in any order.
func Same(a, b []discordgo.ApplicationCommand) bool {
	have, err := essence(a)
	want, err2 := essence(b)
	return err == nil && err2 == nil && bytes.Equal(have, want)
}

// essence is the part of a list of commands that Same compares, sorted.
func essence(list []discordgo.ApplicationCommand) ([]byte, error) {
	out := make([]discordgo.ApplicationCommand, 0, len(list))
	for _, c := range list {
		out = append(out, discordgo.ApplicationCommand{
			Type: cmp.Or(c.Type, discordgo.ChatApplicationCommand), Name: c.Name, Description: c.Description, Options: c.Options,
			Contexts: ordered(c.Contexts), IntegrationTypes: ordered(c.IntegrationTypes),
		})
	}
	slices.SortFunc(out, func(a, b discordgo.ApplicationCommand) int { return cmp.Compare(a.Name, b.Name) })
	return json.Marshal(out)
}

func ordered[T cmp.Ordered](list *[]T) *[]T {
	if list == nil {
		return nil
	}
	out := slices.Sorted(slices.Values(*list))
	return &out
}
