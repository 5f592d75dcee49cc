package discordtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

// User is a person or a bot.
type User struct {
	ID       string // snowflake
	Username string
	Bot      bool
}

// Team owns an application in place of a person. The options' owner owns it.
type Team struct {
	Name string
}

// Message is one message as it stands. Values of this type are never changed:
// an edit makes a new one.
type Message struct {
	ID, ChannelID string
	GuildID       string // empty in a direct message
	Author        User
	Type          discordgo.MessageType
	Content       string
	Flags         discordgo.MessageFlags
	ReplyTo       string // id of the message that it answers
	Interaction   string // id of the interaction that it answers
	Embeds        []discordgo.MessageEmbed
	Buttons       []discordgo.Button // in reading order, whatever rows they stand in
	Attachments   []Attachment
	Reactions     []Reaction
	Extra         object    // further properties, as Discord writes them: stickers, a call
	Deleted       time.Time // zero while it stands

	created, edited    time.Time
	nonce              json.RawMessage // as it was sent, string or number
	embeds, components json.RawMessage // as they go out
}

// Ephemeral reports whether only the person who caused it sees it.
func (m *Message) Ephemeral() bool { return m.Flags&discordgo.MessageFlagsEphemeral != 0 }

// Loading reports whether it still says that the application is thinking.
func (m *Message) Loading() bool { return m.Flags&discordgo.MessageFlagsLoading != 0 }

// Reaction is one emoji on a message and who gave it, in order.
type Reaction struct {
	Emoji string
	users []string // ids
}

// Request is one REST request. Path has no /api/vN in front; Body is JSON, of
// an upload its payload_json. Status is 0 until the answer is decided, and 0 for
// ever where the connection was cut instead of one.
type Request struct {
	Method, Path string
	Status       int
	Body         []byte
}

// Interaction is a command or a click and how far it was answered.
type Interaction struct {
	ID, Token string
	Type      discordgo.InteractionType
	ChannelID string
	MessageID string                            // that the button stands on
	Callback  discordgo.InteractionResponseType // the first answer, 0 without one
	Original  string                            // id of the message that @original means
	Followups int

	at time.Time
}

// Identify is one op 2 as it was asked for.
type Identify struct {
	Connection int // number of the connection, from 1
	At         time.Time
	Intents    discordgo.Intent
	Presence   json.RawMessage
	Accepted   bool // READY followed
}

// Resume is one op 6.
type Resume struct {
	Accepted bool // the replay and RESUMED followed
}

// Connection is one websocket.
type Connection struct {
	Number     int
	Closed     time.Time // zero while it is up
	Heartbeats int
	Ready      bool // READY or RESUMED was sent
}

// Command is a registered command.
type Command struct {
	ID, Name string

	raw json.RawMessage // as GET returns it
}

// State is everything at one instant. What it holds never changes afterwards.
type State struct {
	Messages     []*Message // oldest first; deleted ones are kept
	Requests     []*Request
	Interactions []Interaction
	Connections  []Connection
	Identifies   []Identify
	Resumes      []Resume
	Presences    []string // op 3 payloads
	Commands     []Command
	CommandPuts  int // bulk overwrites
	Limited      int // answers 429 that Options.Limits caused
	Violations   []string
}

// Message is the message with this id, nil without one.
func (st State) Message(id string) *Message {
	for _, m := range slices.Backward(st.Messages) {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// Sent are the standing messages that a user wrote, oldest first. With
// Server.Bot it is what the bot under test has said and not taken back.
func (st State) Sent(by User) []*Message {
	var sent []*Message
	for _, m := range st.Messages {
		if m.Author.ID == by.ID && m.Deleted.IsZero() {
			sent = append(sent, m)
		}
	}
	return sent
}

// Said reports whether a standing message of this user contains the text, in
// its content or in an embed.
func (st State) Said(by User, text string) bool {
	return slices.ContainsFunc(st.Sent(by), func(m *Message) bool {
		return strings.Contains(m.Content, text) || slices.ContainsFunc(m.Embeds, func(e discordgo.MessageEmbed) bool {
			return strings.Contains(e.Title, text) || strings.Contains(e.Description, text)
		})
	})
}

// Count is how many requests had this method and a path that the pattern
// matches as in Match.PathPrefix.
func (st State) Count(method, pathPrefix string) int {
	n := 0
	for _, r := range st.Requests {
		if r.Method == method && matchesPath(pathPrefix, r.Path) {
			n++
		}
	}
	return n
}

// Up reports whether a connection is past READY or RESUMED and still open.
func (st State) Up() bool {
	return slices.ContainsFunc(st.Connections, func(c Connection) bool { return c.Ready && c.Closed.IsZero() })
}

// String describes the state in a few lines, newest things last.
func (st State) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d connections, %d identifies, %d resumes, %d requests, %d interactions\n",
		len(st.Connections), len(st.Identifies), len(st.Resumes), len(st.Requests), len(st.Interactions))
	for _, r := range last(st.Requests, 12) {
		fmt.Fprintf(&b, "  %s %s -> %d %.200s\n", r.Method, r.Path, r.Status, r.Body)
	}
	for _, m := range last(st.Messages, 12) {
		gone := ""
		if !m.Deleted.IsZero() {
			gone = " (deleted)"
		}
		fmt.Fprintf(&b, "  %s%s: %.200q, %d embeds\n", m.Author.Username, gone, m.Content, len(m.Embeds))
	}
	for _, v := range last(st.Violations, 5) {
		fmt.Fprintf(&b, "  violation: %s\n", v)
	}
	return b.String()
}

func last[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }

// epoch is where Discord's clock begins: the first second of 2015.
const epoch = 1420070400000

// Time is the instant that a snowflake carries; zero for what is none.
func Time(id string) time.Time {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n>>22 + epoch)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// encode is for values that are made here and cannot fail.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

type object = map[string]any

func wireUser(u User) object {
	return object{
		"id": u.ID, "username": u.Username, "discriminator": "0", "global_name": nil, "avatar": nil,
		"bot": u.Bot, "public_flags": 0, "flags": 0, "primary_guild": nil,
	}
}

func wireMember(u User) object {
	return object{
		"user": wireUser(u), "roles": []string{}, "joined_at": stamp(time.UnixMilli(epoch)), "deaf": false, "mute": false,
		"flags": 0, "nick": nil, "avatar": nil, "permissions": "0",
	}
}

func (s *Server) wireChannel(c *channel) object {
	if c.guild != "" {
		return object{
			"id": c.id, "type": 0, "guild_id": c.guild, "name": "general", "position": 0, "flags": 0, "nsfw": false,
			"permission_overwrites": []any{}, "parent_id": nil, "topic": nil, "last_message_id": nil,
		}
	}
	return object{
		"id": c.id, "type": 1, "flags": 0, "last_message_id": nil,
		"recipients": []object{wireUser(s.users[c.user])},
	}
}

// wireMessage is a message as REST answers it; events add to it.
func (s *Server) wireMessage(m *Message) object {
	o := object{
		"id": m.ID, "channel_id": m.ChannelID, "type": m.Type, "author": wireUser(m.Author), "content": m.Content,
		"embeds": []any{}, "components": []any{}, "attachments": s.wireAttachments(m.Attachments),
		"flags": m.Flags, "timestamp": stamp(m.created), "edited_timestamp": nil, "pinned": false, "tts": false,
		"mention_everyone": false, "mentions": []object{}, "mention_roles": []string{},
	}
	if m.embeds != nil {
		o["embeds"] = m.embeds
	}
	if m.components != nil {
		o["components"] = m.components
	}
	if !m.edited.IsZero() {
		o["edited_timestamp"] = stamp(m.edited)
	}
	if m.nonce != nil {
		o["nonce"] = m.nonce
	}
	maps.Copy(o, m.Extra)
	if m.Interaction != "" {
		o["webhook_id"], o["application_id"] = s.app, s.app
	}
	if len(m.Reactions) > 0 {
		o["reactions"] = s.wireReactions(m.Reactions)
	}
	if m.ReplyTo != "" {
		o["message_reference"] = object{"type": 0, "channel_id": m.ChannelID, "message_id": m.ReplyTo}
		o["referenced_message"] = nil // of one that was deleted
		if to := s.message(m.ReplyTo); to != nil {
			flat := *to
			flat.ReplyTo = "" // replies are not followed any further
			o["referenced_message"] = s.wireMessage(&flat)
		}
	}
	return o
}

// wireAttachments signs the addresses anew, as Discord does for every look.
func (s *Server) wireAttachments(all []Attachment) []object {
	out := make([]object, 0, len(all))
	for _, a := range all {
		url := a.URL
		if a.path != "" {
			url = s.signed(a.path)
		}
		o := object{"id": a.ID, "filename": a.Name, "size": a.Size, "url": url, "proxy_url": url}
		if a.Type != "" {
			o["content_type"] = a.Type
		}
		out = append(out, o)
	}
	return out
}

func (s *Server) wireReactions(all []Reaction) []object {
	out := make([]object, 0, len(all))
	for _, r := range all {
		out = append(out, object{
			"emoji": object{"id": nil, "name": r.Emoji}, "count": len(r.users), "me": slices.Contains(r.users, s.app), "me_burst": false,
			"count_details": object{"burst": 0, "normal": len(r.users)}, "burst_colors": []string{},
		})
	}
	return out
}

func (s *Server) wireApplication() object {
	owner, team := wireUser(s.o.Owner), any(nil)
	if s.o.Team != nil {
		// The owner of a team's application is a placeholder that nobody can
		// write to (Discord, topics/teams).
		const id = "1"
		member := object{"user": owner, "team_id": id, "membership_state": 2, "role": "admin", "permissions": []string{"*"}}
		team = object{"id": id, "icon": nil, "name": s.o.Team.Name, "owner_user_id": s.o.Owner.ID, "members": []object{member}}
		owner = wireUser(User{ID: id, Username: "team" + id})
	}
	return object{
		"id": s.app, "name": s.bot.Username, "icon": nil, "description": "", "type": nil, "bot": wireUser(s.bot),
		"bot_public": false, "bot_require_code_grant": false, "verify_key": "00", "flags": 0, "flags_new": "0",
		"redirect_uris": []string{}, "interactions_endpoint_url": nil, "role_connections_verification_url": nil,
		"owner": owner, "team": team, "approximate_guild_count": 1, "approximate_user_install_count": 1,
		"approximate_user_authorization_count": 0, "explicit_content_filter": 0, "eligible_oauth2_scopes": []string{},
		"integration_types_config": object{"0": object{}, "1": object{}},
	}
}
