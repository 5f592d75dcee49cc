package discordtest

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// world is Discord's stored state. Its lock also guards sessions and rate limits, because a request and its event are
// one step. Callers of its methods hold it, unless a comment says otherwise.
type world struct {
	app   string // application id; the bot's user has the same
	bot   User
	owner User
	team  bool
	base  string           // URL of the fake
	now   func() time.Time // the clock of the fake
	tb    testing.TB       // nil in StartProcess

	// dispatch passes an event to the gateway's sessions.
	dispatch func(event, guild string, body object)

	mu           sync.Mutex    // guards everything below
	closed       bool          // violations are only noted
	changed      chan struct{} // closed at the next change
	token        string        // of the bot, without "Bot "
	all          State         // except for the parts that look copies
	ids          int64         // last snowflake
	users        map[string]User
	channels     map[string]*channel
	place        map[string]int // message id -> index in all.Messages
	nonces       map[string]noted
	files        map[string]File // by path
	interactions []*Interaction
	connections  []*Connection
}

type channel struct {
	id, guild, user string // user: the other user of a direct message
}

// noted is a used nonce.
type noted struct {
	message string
	at      time.Time
}

func newWorld(t testing.TB, o Options, base string) *world {
	return &world{
		tb: t, base: base, token: o.Token, team: o.Team, changed: make(chan struct{}),
		users: make(map[string]User), channels: make(map[string]*channel), place: make(map[string]int),
		nonces: make(map[string]noted), files: make(map[string]File),
	}
}

// populate creates the bot and its owner, once the clock is set. It needs no lock.
func (w *world) populate(owner User) {
	w.app = w.next()
	w.bot = User{ID: w.app, Username: "ollim", Bot: true}
	w.owner = owner
	w.owner.ID = cmp.Or(owner.ID, w.next())
	w.users[w.owner.ID], w.users[w.app] = w.owner, w.bot
}

// look returns the state and a channel that is closed at the next change.
func (w *world) look() (State, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := w.all // append-only slices may share their arrays
	st.Messages, st.Requests = slices.Clone(st.Messages), slices.Clone(st.Requests)
	for _, k := range w.connections {
		st.Connections = append(st.Connections, *k)
	}
	for _, i := range w.interactions {
		st.Interactions = append(st.Interactions, *i)
	}
	return st, w.changed
}

// next returns a snowflake for the current time: it contains the time in milliseconds and is greater than all
// previous ones.
func (w *world) next() string {
	w.ids = max(w.ids+1, (w.now().UnixMilli()-epoch)<<22)
	return strconv.FormatInt(w.ids, 10)
}

// violate records a breach of the contract. Callers do not hold mu.
func (w *world) violate(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.mu.Lock()
	w.all.Violations = append(w.all.Violations, text)
	late := w.closed
	w.change()
	w.mu.Unlock()
	if w.tb != nil && !late {
		w.tb.Errorf("discord: %s", text)
	}
}

// noPanic turns a panic of a goroutine into a violation, except for a handler
// that aborts its connection on purpose.
func (w *world) noPanic() {
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler:
		panic(v)
	default:
		w.violate("the fake panicked: %v", v)
	}
}

// change wakes all waiters.
func (w *world) change() {
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *world) somebody(u User) *Person {
	w.mu.Lock()
	defer w.mu.Unlock()
	u.ID = w.next()
	w.users[u.ID] = u
	return &Person{w: w, User: u}
}

// directChannel returns the channel between the bot and this user.
func (w *world) directChannel(u User) *channel { return w.open(channel{user: u.ID}) }

// open finds a channel, or creates it on first use.
func (w *world) open(want channel) *channel {
	for _, c := range w.channels {
		if c.guild == want.guild && c.user == want.user {
			return c
		}
	}
	want.id = w.next()
	w.channels[want.id] = &want
	return &want
}

// message returns the message with this ID, or nil if it was deleted or never existed.
func (w *world) message(id string) *Message {
	if i, ok := w.place[id]; ok && w.all.Messages[i].Deleted.IsZero() {
		return w.all.Messages[i]
	}
	return nil
}

// add stores and dispatches a new message and returns it with its id.
func (w *world) add(m Message) *Message {
	m.created = w.now()
	if m.ID == "" {
		m.ID = w.next()
	}
	w.place[m.ID] = len(w.all.Messages)
	w.all.Messages = append(w.all.Messages, &m)
	w.announce("MESSAGE_CREATE", &m)
	return &m
}

// replace stores a changed copy of a message.
func (w *world) replace(m *Message) { w.all.Messages[w.place[m.ID]] = m }

// edit stores a changed copy of a message.
func (w *world) edit(m Message) *Message {
	m.edited = w.now()
	w.replace(&m)
	w.announce("MESSAGE_UPDATE", &m)
	return &m
}

// remove marks a message as deleted.
func (w *world) remove(old *Message) {
	m := *old
	m.Deleted = w.now()
	w.replace(&m)
	o := object{"id": m.ID, "channel_id": m.ChannelID}
	if m.GuildID != "" {
		o["guild_id"] = m.GuildID
	}
	w.dispatch("MESSAGE_DELETE", m.GuildID, o)
}

// announce dispatches a message event. Messages in guilds are sent empty, because our bot may not read them;
// ephemeral ones are not dispatched.
func (w *world) announce(event string, m *Message) {
	if m.Ephemeral() {
		return
	}
	o := w.wireMessage(m)
	if m.GuildID != "" {
		o["guild_id"], o["member"] = m.GuildID, wireMember(m.Author)
		if m.Author.ID != w.bot.ID {
			o["content"], o["embeds"], o["components"], o["attachments"] = "", []any{}, []any{}, []any{}
		}
	}
	w.dispatch(event, m.GuildID, o)
}

// react adds one reaction, unless it exists.
func (w *world) react(old *Message, u User, emoji string) {
	m, i := withReactions(old, emoji)
	if i < 0 {
		m.Reactions, i = append(m.Reactions, Reaction{Emoji: emoji}), len(m.Reactions)
	}
	if slices.Contains(m.Reactions[i].users, u.ID) {
		return
	}
	m.Reactions[i].users = append(slices.Clip(m.Reactions[i].users), u.ID)
	w.replace(m)
	w.announceReaction("MESSAGE_REACTION_ADD", m, u, emoji)
}

// unreact removes one reaction and reports whether it existed.
func (w *world) unreact(old *Message, u User, emoji string) bool {
	m, i := withReactions(old, emoji)
	if i < 0 || !slices.Contains(m.Reactions[i].users, u.ID) {
		return false
	}
	left := slices.DeleteFunc(slices.Clone(m.Reactions[i].users), func(id string) bool { return id == u.ID })
	if m.Reactions[i].users = left; len(left) == 0 {
		m.Reactions = slices.Delete(m.Reactions, i, i+1)
	}
	w.replace(m)
	w.announceReaction("MESSAGE_REACTION_REMOVE", m, u, emoji)
	return true
}

// withReactions returns a copy with a modifiable list of reactions, and the index of an emoji in it, or -1.
func withReactions(old *Message, emoji string) (*Message, int) {
	m := *old
	m.Reactions = slices.Clone(old.Reactions)
	return &m, slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Emoji == emoji })
}

func (w *world) announceReaction(event string, m *Message, u User, emoji string) {
	o := object{
		"user_id": u.ID, "channel_id": m.ChannelID, "message_id": m.ID, "message_author_id": m.Author.ID,
		"emoji": object{"id": nil, "name": emoji}, "burst": false, "type": 0,
	}
	if m.GuildID != "" {
		o["guild_id"], o["member"] = m.GuildID, wireMember(u)
	}
	w.dispatch(event, m.GuildID, o)
}

// interaction finds an interaction by its token.
func (w *world) interaction(token string) *Interaction {
	i := slices.IndexFunc(w.interactions, func(k *Interaction) bool { return k.Token == token })
	if i < 0 {
		return nil
	}
	return w.interactions[i]
}

// attachmentRoot is the path of files, on Discord's CDN and here.
const attachmentRoot = "/attachments/"

var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// keep stores a file and returns it as an attachment.
func (w *world) keep(channel string, f File) Attachment {
	a := Attachment{ID: w.next(), File: f}
	a.Size = cmp.Or(f.Size, len(f.Data))
	a.Name = cmp.Or(f.Name, "unknown")
	// A name that could leave its folder is cleaned, as Discord does.
	path := attachmentRoot + channel + "/" + a.ID + "/" + unsafeInName.ReplaceAllString(a.Name, "_")
	w.files[path] = f
	if a.URL == "" {
		a.path, a.URL = path, w.signed(path)
	}
	return a
}

// signed returns the address of a file with its expiry in hexadecimal seconds (reference#signed-attachment-cdn-urls).
func (w *world) signed(path string) string {
	now := w.now()
	return fmt.Sprintf("%s%s?ex=%x&is=%x&hm=0", w.base, path, now.Add(linkLife).Unix(), now.Unix())
}

// arrive records a request before it is processed.
func (w *world) arrive(c *call) int {
	r := &Request{Method: c.method, Path: c.path, Body: c.body}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all.Requests = append(w.all.Requests, r)
	w.change()
	return len(w.all.Requests) - 1
}

// decide records the answer to a request.
func (w *world) decide(entry int, a *Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := *w.all.Requests[entry]
	r.Status = a.Status
	w.all.Requests[entry] = &r
	w.change()
}
