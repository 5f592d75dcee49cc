package discordtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"
)

// patience is how long Wait waits for something that should happen at once. It
// is long because a loaded machine is no fault of the bot.
const patience = 10 * time.Second

var errClosed = errors.New("the fake is closed")

// world is what the server remembers. The server's lock guards it, and all
// methods that read or change it want it held.
type world struct {
	all          State // but for what is asked of others in look
	ids          int64 // last snowflake
	users        map[string]User
	channels     map[string]*channel
	place        map[string]int // message id -> index in all.Messages
	nonces       map[string]noted
	files        map[string]File // by path
	interactions []*Interaction
}

type channel struct {
	id, guild, user string // user: the other side of a direct message
}

// noted is a nonce that was used.
type noted struct {
	message string
	at      time.Time
}

func newWorld() world {
	return world{
		users: make(map[string]User), channels: make(map[string]*channel), place: make(map[string]int),
		nonces: make(map[string]noted), files: make(map[string]File),
	}
}

// next is a snowflake for this instant: it carries the clock in milliseconds
// and is greater than every one before.
func (w *world) next(now time.Time) string {
	w.ids = max(w.ids+1, (now.UnixMilli()-epoch)<<22)
	return strconv.FormatInt(w.ids, 10)
}

// State is the state now.
func (s *Server) State() State {
	st, _ := s.look()
	return st
}

// look returns the state and what is closed at the next change.
func (s *Server) look() (State, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.all // what is only ever appended to may share its array
	st.Messages, st.Requests = slices.Clone(st.Messages), slices.Clone(st.Requests)
	for _, k := range s.sockets {
		st.Connections = append(st.Connections, k.info)
	}
	for _, i := range s.interactions {
		st.Interactions = append(st.Interactions, *i)
	}
	return st, s.changed
}

// Wait returns the first state that satisfies ok. It looks again at every
// change, stops the test after 10 s, and then says what there was instead.
func (s *Server) Wait(t testing.TB, what string, ok func(State) bool) State {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	st, err := s.WaitContext(ctx, what, ok)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// WaitContext is Wait with a deadline of the caller's. The error wraps the one
// of the context and describes the last state.
func (s *Server) WaitContext(ctx context.Context, what string, ok func(State) bool) (State, error) {
	for {
		st, changed := s.look()
		if ok(st) {
			return st, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return st, fmt.Errorf("wait for %s: %w\n%s", what, ctx.Err(), st)
		case <-s.stopped.Done():
			return st, fmt.Errorf("wait for %s: %w", what, errClosed)
		}
	}
}

// directChannel is the channel between the bot and this user.
func (s *Server) directChannel(u User) *channel { return s.open(channel{user: u.ID}) }

// open finds a channel, or makes it on first use.
func (s *Server) open(want channel) *channel {
	for _, c := range s.channels {
		if c.guild == want.guild && c.user == want.user {
			return c
		}
	}
	want.id = s.next(s.now())
	s.channels[want.id] = &want
	return &want
}

// message is the standing message with this id, nil without one.
func (s *Server) message(id string) *Message {
	if i, ok := s.place[id]; ok && s.all.Messages[i].Deleted.IsZero() {
		return s.all.Messages[i]
	}
	return nil
}

// add stores a new message, tells the gateway and returns it with its id.
func (s *Server) add(m Message) *Message {
	m.created = s.now()
	if m.ID == "" {
		m.ID = s.next(m.created)
	}
	s.place[m.ID] = len(s.all.Messages)
	s.all.Messages = append(s.all.Messages, &m)
	s.tellMessage("MESSAGE_CREATE", &m)
	return &m
}

// replace puts a changed copy in the place of a message.
func (s *Server) replace(m *Message) { s.all.Messages[s.place[m.ID]] = m }

// edit stores a changed copy of a message.
func (s *Server) edit(m Message) *Message {
	m.edited = s.now()
	s.replace(&m)
	s.tellMessage("MESSAGE_UPDATE", &m)
	return &m
}

// remove marks a message as deleted.
func (s *Server) remove(old *Message) {
	m := *old
	m.Deleted = s.now()
	s.replace(&m)
	o := object{"id": m.ID, "channel_id": m.ChannelID}
	if m.GuildID != "" {
		o["guild_id"] = m.GuildID
	}
	s.dispatch("MESSAGE_DELETE", m.GuildID, o)
}

// tellMessage dispatches a message event. Messages in guilds arrive empty, since
// no bot of ours may read them; of ephemeral ones the gateway says nothing.
func (s *Server) tellMessage(event string, m *Message) {
	if m.Ephemeral() {
		return
	}
	o := s.wireMessage(m)
	if m.GuildID != "" {
		o["guild_id"], o["member"] = m.GuildID, wireMember(m.Author)
		if m.Author.ID != s.bot.ID {
			o["content"], o["embeds"], o["components"], o["attachments"] = "", []any{}, []any{}, []any{}
		}
	}
	s.dispatch(event, m.GuildID, o)
}

// react adds one reaction, unless it is there.
func (s *Server) react(old *Message, u User, emoji string) {
	m, i := withReactions(old, emoji)
	if i < 0 {
		m.Reactions, i = append(m.Reactions, Reaction{Emoji: emoji}), len(m.Reactions)
	}
	if slices.Contains(m.Reactions[i].users, u.ID) {
		return
	}
	m.Reactions[i].users = append(slices.Clip(m.Reactions[i].users), u.ID)
	s.replace(m)
	s.tellReaction("MESSAGE_REACTION_ADD", m, u, emoji)
}

// unreact takes one reaction back and reports whether it was there.
func (s *Server) unreact(old *Message, u User, emoji string) bool {
	m, i := withReactions(old, emoji)
	if i < 0 || !slices.Contains(m.Reactions[i].users, u.ID) {
		return false
	}
	left := slices.DeleteFunc(slices.Clone(m.Reactions[i].users), func(id string) bool { return id == u.ID })
	if m.Reactions[i].users = left; len(left) == 0 {
		m.Reactions = slices.Delete(m.Reactions, i, i+1)
	}
	s.replace(m)
	s.tellReaction("MESSAGE_REACTION_REMOVE", m, u, emoji)
	return true
}

// withReactions is a copy whose list of reactions may be changed, and the place
// of an emoji in it, -1 where it is not.
func withReactions(old *Message, emoji string) (*Message, int) {
	m := *old
	m.Reactions = slices.Clone(old.Reactions)
	return &m, slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Emoji == emoji })
}

func (s *Server) tellReaction(event string, m *Message, u User, emoji string) {
	o := object{
		"user_id": u.ID, "channel_id": m.ChannelID, "message_id": m.ID, "message_author_id": m.Author.ID,
		"emoji": object{"id": nil, "name": emoji}, "burst": false, "type": 0,
	}
	if m.GuildID != "" {
		o["guild_id"], o["member"] = m.GuildID, wireMember(u)
	}
	s.dispatch(event, m.GuildID, o)
}
