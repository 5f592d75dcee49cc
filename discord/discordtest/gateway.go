package discordtest

import (
	"encoding/json"
	"fmt"
	"slices"
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

const (
	intentsPrivileged = discordgo.IntentGuildMembers | discordgo.IntentGuildPresences | discordgo.IntentMessageContent
	intentsAll        = 1<<26 - 1
)

// packet is what goes to a client: one frame, or the end of the connection.
type packet struct {
	data  []byte
	close int // a close code in place of a frame
}

// session outlives the connections that carry it.
type session struct {
	id       string
	intents  discordgo.Intent
	log      []packet // dispatch n is log[n-1]
	attached *socket  // nil while no connection carries it
}

// gateway is what the server remembers of sockets and sessions. The server's
// lock guards it.
type gateway struct {
	sockets    []*socket // all that ever were
	sessions   map[string]*session
	reconnects int // IDENTIFYs and RESUMEs that op 7 answers
	startsLeft int
	lastStart  time.Time
	dispatches []dispatched
}

// dispatched is an event that was handed to the sessions.
type dispatched struct {
	event string
	data  json.RawMessage
}

// dispatch hands an event to every session that asked for its kind. Callers
// hold the lock.
func (s *Server) dispatch(event, guild string, body object) {
	data := encode(body)
	s.dispatches = append(s.dispatches, dispatched{event, data})
	for _, se := range s.sessions {
		if se.wants(event, guild) {
			se.send(event, data)
		}
	}
	s.change()
}

// wants applies the intents. What has none here goes to everybody.
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

// send gives an event its number, keeps it for a replay, and sends it to the
// connection, if there is one.
func (se *session) send(event string, data json.RawMessage) {
	p := packet{data: fmt.Appendf(nil, `{"op":0,"t":%q,"s":%d,"d":%s}`, event, len(se.log)+1, data)}
	se.log = append(se.log, p)
	if se.attached != nil {
		se.attached.enqueue(p)
	}
}

func control(op int, data any) packet { return packet{data: encode(object{"op": op, "d": data})} }

// begin makes a session and greets it. Sessions without a connection end with
// it, because nobody will come back for them. Callers hold the lock.
func (s *Server) begin(k *socket, intents discordgo.Intent) {
	for id, se := range s.sessions {
		if se.attached == nil || se.attached == k {
			delete(s.sessions, id)
		}
	}
	se := &session{id: "session" + s.next(s.now()), intents: intents}
	s.sessions[se.id] = se
	se.send("READY", encode(object{
		"v": 10, "user": wireUser(s.bot), "session_id": se.id, "session_type": "normal", "resume_gateway_url": s.ws,
		"application": object{"id": s.app, "flags": 0}, "guilds": []any{}, "shard": []int{0, 1},
	}))
	k.carry(se, 0)
}

// resume replays what a session missed and attaches it. It reports false for a
// session that cannot go on. Callers hold the lock.
func (s *Server) resume(k *socket, id string, seq int) bool {
	se := s.sessions[id]
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

// carry attaches a session and sends what came after this number.
func (k *socket) carry(se *session, seq int) {
	se.attached, k.session, k.info.Ready = k, se, true
	for _, p := range se.log[seq:] {
		k.enqueue(p)
	}
}

// forget ends a session for good. Callers hold the lock.
func (s *Server) forget(se *session) {
	if se == nil {
		return
	}
	delete(s.sessions, se.id)
	if se.attached != nil {
		se.attached.session = nil
		se.attached = nil
	}
}

// everySocket does something to all open sockets under the lock.
func (s *Server) everySocket(do func(*socket)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.sockets {
		if k.info.Closed.IsZero() {
			do(k)
		}
	}
	s.change()
}

// DropSocket resets every gateway connection. Sessions can be resumed.
func (s *Server) DropSocket() {
	s.everySocket(func(k *socket) { reset(k.ws.NetConn()) })
}

// SendOp7 asks the clients to reconnect and resume.
func (s *Server) SendOp7() {
	s.everySocket(func(k *socket) { k.enqueue(control(opReconnect, nil)) })
}

// Op7First answers the next IDENTIFY or RESUME by asking to reconnect.
func (s *Server) Op7First() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reconnects++
}

// Op9 says that the session is invalid. Unless it is resumable, it has ended,
// and the connection waits for another IDENTIFY.
func (s *Server) Op9(resumable bool) {
	s.everySocket(func(k *socket) {
		if !resumable {
			s.forget(k.session)
		}
		k.enqueue(control(opInvalid, resumable))
	})
}

// CloseWith closes the open connections with this code.
func (s *Server) CloseWith(code int) {
	s.everySocket(func(k *socket) { k.enqueue(packet{close: code}) })
}

// EndSessions forgets all sessions, so that the next RESUME fails.
func (s *Server) EndSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, se := range s.sessions {
		s.forget(se)
	}
}

// Dispatch hands an event to all sessions, whatever it says and whether anybody
// asked for it.
func (s *Server) Dispatch(event string, data json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dispatches = append(s.dispatches, dispatched{event, data})
	for _, se := range s.sessions {
		se.send(event, data)
	}
	s.change()
}

// Again dispatches the newest event of this type once more under a new number,
// as Discord sometimes does. It reports whether there was one.
func (s *Server) Again(event string) bool {
	s.mu.Lock()
	all := slices.Clone(s.dispatches)
	s.mu.Unlock()
	for _, d := range slices.Backward(all) {
		if d.event == event {
			s.Dispatch(event, d.data)
			return true
		}
	}
	return false
}

// Repeat sends the last n packets of each session again, numbers and all.
func (s *Server) Repeat(n int) {
	s.everySocket(func(k *socket) {
		if k.session == nil {
			return
		}
		for _, p := range last(k.session.log, n) {
			k.enqueue(p)
		}
	})
}
