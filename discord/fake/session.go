package fake

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Gateway operations.
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opPresence  = 3
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// Intents that the fake knows (events/gateway).
const (
	intentGuildMessages   = 1 << 9
	intentGuildReactions  = 1 << 10
	intentDirectMessages  = 1 << 12
	intentDirectReactions = 1 << 13
	intentDirectTyping    = 1 << 14
	intentsPrivileged     = 1<<1 | 1<<8 | 1<<15
	intentsAll            = 1<<26 - 1
)

// packet is what goes to a client: one frame, or the end of the connection.
type packet struct {
	data   []byte
	binary bool
	close  int // a close code in place of a frame
}

// session outlives the connections that carry it.
type session struct {
	id       string
	intents  int
	seq      int64
	log      []packet // dispatch n is log[n-1]
	attached *socket  // nil while no connection carries it
}

// gateway is what the server remembers of sockets and sessions. The server's
// lock guards it.
type gateway struct {
	sockets    []*socket // all that ever were
	sessions   map[string]*session
	scripts    []Script
	op9left    int // below 0: for ever
	startsLeft int
	lastStart  time.Time
	identifies []Identify
	resumes    []Resume
	presences  []string
	dispatches []Dispatch
}

func newGateway(starts int) gateway {
	return gateway{sessions: make(map[string]*session), startsLeft: starts}
}

func (g *gateway) connections() []Connection {
	out := make([]Connection, 0, len(g.sockets))
	for _, k := range g.sockets {
		out = append(out, k.info)
	}
	return out
}

// dispatch hands an event to every session that asked for its kind. Callers
// hold the lock.
func (s *Server) dispatch(event, guild string, data json.RawMessage) {
	s.dispatches = append(s.dispatches, Dispatch{Type: event, Data: data, At: s.now()})
	for _, se := range s.sessions {
		if se.wants(event, guild) {
			se.send(event, data)
		}
	}
	s.change()
}

// wants applies the intents. What has none here goes to everybody.
func (se *session) wants(event, guild string) bool {
	need := 0
	switch event {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE":
		need = intentDirectMessages
		if guild != "" {
			need = intentGuildMessages
		}
	case "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE":
		need = intentDirectReactions
		if guild != "" {
			need = intentGuildReactions
		}
	case "TYPING_START":
		need = intentDirectTyping
	}
	return se.intents&need == need
}

// send gives an event its number, keeps it for a replay, and sends it to the
// connection, if there is one.
func (se *session) send(event string, data json.RawMessage) {
	se.seq++
	p := packet{data: dispatchPacket(event, se.seq, data)}
	se.log = append(se.log, p)
	if se.attached != nil {
		se.attached.enqueue(p)
	}
}

func dispatchPacket(event string, seq int64, data json.RawMessage) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"op":0,"t":%s,"s":%d,"d":`, encode(event), seq)
	b.Write(data)
	b.WriteByte('}')
	return b.Bytes()
}

func control(op int, data any) packet { return packet{data: encode(object{"op": op, "d": data})} }

// begin makes a session and greets it. Sessions without a connection end with
// it, because nobody will come back for them. Callers hold the lock.
func (s *Server) begin(k *socket, intents int, compress bool) {
	for id, se := range s.sessions {
		if se.attached == nil || se.attached == k {
			delete(s.sessions, id)
		}
	}
	se := &session{id: "session" + s.next(s.now()), intents: intents, attached: k}
	s.sessions[se.id] = se
	k.session = se
	k.info.Ready = true
	data := encode(object{
		"v": 10, "user": wireUser(s.bot), "session_id": se.id, "session_type": "normal", "resume_gateway_url": s.ws,
		"application": object{"id": s.app, "flags": 0}, "guilds": []any{}, "private_channels": []any{}, "relationships": []any{},
		"user_settings": object{}, "presences": []any{}, "shard": []int{0, 1},
	})
	se.seq++
	p := packet{data: dispatchPacket("READY", se.seq, data)}
	if compress && s.o.Compress {
		p = packet{data: deflate(p.data), binary: true}
	}
	se.log = append(se.log, p)
	k.enqueue(p)
}

// resume replays what a session missed and attaches it. It reports false for a
// session that cannot go on. Callers hold the lock.
func (s *Server) resume(k *socket, id string, seq int64) bool {
	se := s.sessions[id]
	if se == nil || seq > se.seq || seq < 0 {
		return false
	}
	if old := se.attached; old != nil && old != k {
		old.session = nil
	}
	for _, p := range slices.Clone(se.log[seq:]) {
		k.enqueue(p)
	}
	se.attached, k.session = k, se
	k.info.Ready = true
	se.send("RESUMED", encode(object{"_trace": []string{}}))
	return true
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

func deflate(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data) // into memory
	_ = w.Close()
	return b.Bytes()
}
