package discordtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

// Gateway operations.
const (
	opHeartbeat = 1
	opIdentify  = 2
	opPresence  = 3
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// packet is sent to a client: one frame, or the end of the connection.
type packet struct {
	data  []byte
	close int // a close code instead of a frame
}

// session outlives its connections.
type session struct {
	id       string
	intents  discordgo.Intent
	log      []packet // dispatch n is log[n-1]
	attached *socket  // nil while it has no connection
}

// gateway is the websocket half of Discord: sockets, sessions and their replay. The world's lock guards its state.
type gateway struct {
	w  *world
	o  Options
	ws string // its own URL

	sockets    []*socket // including closed ones
	sessions   map[string]*session
	reconnects int // IDENTIFYs and RESUMEs that op 7 answers
	startsLeft int
	lastStart  time.Time
	dispatches []dispatched
}

func newGateway(w *world, o Options) *gateway {
	g := &gateway{w: w, o: o, ws: "ws" + strings.TrimPrefix(w.base, "http") + "/", sessions: make(map[string]*session), startsLeft: o.SessionStarts}
	w.dispatch = g.dispatch
	return g
}

// dispatched is an event that was passed to the sessions.
type dispatched struct {
	event string
	data  json.RawMessage
}

// dispatch passes an event to every session whose intents include its kind.
func (g *gateway) dispatch(event, guild string, body object) {
	data := encode(body)
	g.dispatches = append(g.dispatches, dispatched{event, data})
	for _, se := range g.sessions {
		if se.wants(event, guild) {
			se.send(event, data)
		}
	}
	g.w.change()
}

// wants applies the intents. Events without one here go to every session.
func (se *session) wants(event, guild string) bool {
	need := discordgo.IntentsNone
	switch event {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE":
		need = discordgo.IntentDirectMessages
		if guild != "" {
			need = discordgo.IntentGuildMessages
		}
	case "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE":
		need = discordgo.IntentDirectMessageReactions
		if guild != "" {
			need = discordgo.IntentGuildMessageReactions
		}
	}
	return se.intents&need == need
}

// send numbers an event, keeps it for a replay, and sends it to the connection, if there is one.
func (se *session) send(event string, data json.RawMessage) {
	p := packet{data: fmt.Appendf(nil, `{"op":0,"t":%q,"s":%d,"d":%s}`, event, len(se.log)+1, data)}
	se.log = append(se.log, p)
	if se.attached != nil {
		se.attached.enqueue(p)
	}
}

func control(op int, data any) packet { return packet{data: encode(object{"op": op, "d": data})} }

// begin creates a session and greets it. It ends sessions without a connection, because no client will resume them.
func (g *gateway) begin(k *socket, intents discordgo.Intent) {
	for id, se := range g.sessions {
		if se.attached == nil || se.attached == k {
			delete(g.sessions, id)
		}
	}
	se := &session{id: "session" + g.w.next(), intents: intents}
	g.sessions[se.id] = se
	se.send("READY", encode(object{
		"v": 10, "user": wireUser(g.w.bot), "session_id": se.id, "session_type": "normal", "resume_gateway_url": g.ws,
		"application": object{"id": g.w.app, "flags": 0}, "guilds": []any{}, "shard": []int{0, 1},
	}))
	k.carry(se, 0)
}

// resume replays what a session missed and attaches it. It reports false for a
// session that cannot be resumed.
func (g *gateway) resume(k *socket, id string, seq int) bool {
	se := g.sessions[id]
	if se == nil || seq > len(se.log) || seq < 0 {
		return false
	}
	if old := se.attached; old != nil && old != k {
		old.session = nil
	}
	k.carry(se, seq)
	se.send("RESUMED", encode(object{"_trace": []string{}}))
	return true
}

// carry attaches a session to the socket and sends the events after this number.
func (k *socket) carry(se *session, seq int) {
	se.attached, k.session, k.info.Ready = k, se, true
	for _, p := range se.log[seq:] {
		k.enqueue(p)
	}
}

// forget ends a session permanently.
func (g *gateway) forget(se *session) {
	if se == nil {
		return
	}
	delete(g.sessions, se.id)
	if se.attached != nil {
		se.attached.session = nil
		se.attached = nil
	}
}

// everySocket calls do for all open sockets under the lock.
func (g *gateway) everySocket(do func(*socket)) {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	for _, k := range g.sockets {
		if k.info.Closed.IsZero() {
			do(k)
		}
	}
	g.w.change()
}

// DropSocket resets every gateway connection. Sessions can be resumed.
func (g *gateway) DropSocket() {
	g.everySocket(func(k *socket) { reset(k.ws.NetConn()) })
}

// SendOp7 asks the clients to reconnect and resume.
func (g *gateway) SendOp7() {
	g.everySocket(func(k *socket) { k.enqueue(control(opReconnect, nil)) })
}

// Op7First answers the next IDENTIFY or RESUME by asking to reconnect.
func (g *gateway) Op7First() {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	g.reconnects++
}

// Op9 reports that the session is invalid. Unless it is resumable, it has ended, and the connection waits for another
// IDENTIFY.
func (g *gateway) Op9(resumable bool) {
	g.everySocket(func(k *socket) {
		if !resumable {
			g.forget(k.session)
		}
		k.enqueue(control(opInvalid, resumable))
	})
}

// CloseWith closes the open connections with this code.
func (g *gateway) CloseWith(code int) {
	g.everySocket(func(k *socket) { k.enqueue(packet{close: code}) })
}

// EndSessions forgets all sessions, so that the next RESUME fails.
func (g *gateway) EndSessions() {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	for _, se := range g.sessions {
		g.forget(se)
	}
}

// Dispatch passes an event to all sessions, without checking it or their intents.
func (g *gateway) Dispatch(event string, data json.RawMessage) {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	g.dispatches = append(g.dispatches, dispatched{event, data})
	for _, se := range g.sessions {
		se.send(event, data)
	}
	g.w.change()
}

// Again dispatches the newest event of this type once more under a new number,
// as Discord sometimes does. It reports whether there was one.
func (g *gateway) Again(event string) bool {
	g.w.mu.Lock()
	all := slices.Clone(g.dispatches)
	g.w.mu.Unlock()
	for _, d := range slices.Backward(all) {
		if d.event == event {
			g.Dispatch(event, d.data)
			return true
		}
	}
	return false
}

// Repeat sends the last n packets of each session again, with the same numbers.
func (g *gateway) Repeat(n int) {
	g.everySocket(func(k *socket) {
		if k.session == nil {
			return
		}
		for _, p := range last(k.session.log, n) {
			k.enqueue(p)
		}
	})
}
