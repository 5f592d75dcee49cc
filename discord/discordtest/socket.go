package discordtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

// maxPacket is how many bytes a client may send at once (events/gateway).
const maxPacket = 4096

// socket is one connection of a client. The server's lock guards its fields.
type socket struct {
	ws      *websocket.Conn
	info    Connection
	session *session
	queue   []packet      // goes out in order; never blocks who enqueues
	more    chan struct{} // capacity 1
	gone    chan struct{} // closed by the reader when it ends
	recent  []time.Time   // packets of the last minute but heartbeats
}

// enqueue never waits for the client. Callers hold the server's lock.
func (k *socket) enqueue(p packet) {
	k.queue = append(k.queue, p)
	select {
	case k.more <- struct{}{}:
	default:
	}
}

// serveGateway is one connection from upgrade to end: this goroutine reads, a
// second one writes and is waited for.
func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if _, ok := errors.AsType[websocket.HandshakeError](err); ok {
		s.violate("gateway: %v", err)
	}
	if err != nil {
		return // with any other error the client has left
	}
	k := &socket{ws: ws, more: make(chan struct{}, 1), gone: make(chan struct{})}
	s.mu.Lock()
	k.info = Connection{Number: len(s.sockets) + 1}
	s.sockets = append(s.sockets, k)
	k.enqueue(control(opHello, object{"heartbeat_interval": s.o.Heartbeat.Milliseconds()}))
	if v := r.URL.Query().Get("v"); v != "" && v != "9" && v != "10" {
		k.enqueue(packet{close: 4012})
	}
	s.change()
	s.mu.Unlock()
	var writer sync.WaitGroup
	writer.Go(func() {
		defer s.noPanic()
		s.writeTo(k)
	})
	defer writer.Wait()
	defer close(k.gone)
	for {
		_, data, err := ws.ReadMessage()
		if err != nil {
			s.disconnect(k, err)
			return
		}
		s.receive(k, data)
	}
}

// disconnect notes the end of a connection. Codes 1000 and 1001 from the client
// end its session; after any other end it can be resumed.
func (s *Server) disconnect(k *socket, err error) {
	_ = k.ws.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	k.info.Closed = s.now()
	if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
		s.forget(k.session)
	}
	if k.session != nil {
		k.session.attached, k.session = nil, nil
	}
	s.change()
}

// writeTo sends what is queued until the reader has ended.
func (s *Server) writeTo(k *socket) {
	for {
		select {
		case <-k.more:
		case <-k.gone:
			return
		}
		s.mu.Lock()
		batch := k.queue
		k.queue = nil
		s.mu.Unlock()
		for _, p := range batch {
			if !k.write(p) {
				_ = k.ws.Close() // the reader sees it and cleans up
				return
			}
		}
	}
}

func (k *socket) write(p packet) bool {
	deadline := time.Now().Add(patience)
	if p.close != 0 {
		_ = k.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(p.close, ""), deadline)
		return false
	}
	return k.ws.SetWriteDeadline(deadline) == nil && k.ws.WriteMessage(websocket.TextMessage, p.data) == nil
}

// receive takes one packet of a client.
func (s *Server) receive(k *socket, data []byte) {
	var p struct {
		Op int             `json:"op"`
		D  json.RawMessage `json:"d"`
	}
	err := json.Unmarshal(data, &p)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.change()
	switch {
	case err != nil || len(data) > maxPacket:
		k.enqueue(packet{close: 4002})
	case p.Op == opHeartbeat:
		k.info.Heartbeats++
		k.enqueue(control(opAck, nil))
	case k.tooMany(time.Now()):
		k.enqueue(packet{close: 4008})
	case p.Op == opIdentify:
		s.identify(k, p.D)
	case p.Op == opResume:
		s.takeResume(k, p.D)
	case p.Op == opPresence && !s.takesPresence(p.D):
		k.enqueue(packet{close: 4002})
	case p.Op == opPresence:
		s.all.Presences = append(s.all.Presences, string(p.D))
	default:
		k.enqueue(packet{close: 4001})
	}
}

// takesPresence reports whether a presence has the keys that Discord's documentation lists
// for it, and of an activity those that a bot may set
// (https://discord.com/developers/docs/events/gateway-events#update-presence).
func (s *Server) takesPresence(raw json.RawMessage) bool {
	if s.o.AnyPresence {
		return true
	}
	var p struct {
		Since      *int64 `json:"since"`
		Activities []struct {
			Name  string `json:"name"`
			State string `json:"state"`
			Type  int    `json:"type"`
			URL   string `json:"url"`
		} `json:"activities"`
		Status string `json:"status"`
		AFK    bool   `json:"afk"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	return dec.Decode(&p) == nil && slices.Contains([]string{"online", "dnd", "idle", "invisible", "offline"}, p.Status)
}

// tooMany counts a packet: Discord takes 120 in 60 s on a connection.
func (k *socket) tooMany(now time.Time) bool {
	k.recent = slices.DeleteFunc(k.recent, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	k.recent = append(k.recent, now)
	return len(k.recent) > 120
}

// identify answers op 2: with READY, or with what the token or the intents
// earn. Callers hold the lock.
func (s *Server) identify(k *socket, raw json.RawMessage) {
	var in struct {
		Token    string           `json:"token"`
		Intents  discordgo.Intent `json:"intents"`
		Presence json.RawMessage  `json:"presence"`
	}
	err := json.Unmarshal(raw, &in)
	id := Identify{Connection: k.info.Number, At: s.now(), Intents: in.Intents, Presence: in.Presence}
	// max_concurrency is 1 for a bot of one shard
	// (https://discord.com/developers/docs/events/gateway#rate-limiting).
	tooSoon := s.o.Limits && s.now().Sub(s.lastStart) < 5*time.Second
	s.lastStart = s.now()
	s.startsLeft--
	switch {
	case err != nil, in.Presence != nil && !s.takesPresence(in.Presence):
		k.enqueue(packet{close: 4002})
	case k.session != nil:
		k.enqueue(packet{close: 4005})
	case strings.TrimPrefix(in.Token, "Bot ") != s.token || s.startsLeft < 0:
		k.enqueue(packet{close: 4004}) // who identifies too often loses the token
	case in.Intents&^intentsAll != 0:
		k.enqueue(packet{close: 4013})
	case in.Intents&intentsPrivileged != 0:
		k.enqueue(packet{close: 4014})
	case tooSoon:
		k.enqueue(control(opInvalid, false))
	case s.reconnects > 0:
		s.reconnects--
		k.enqueue(control(opReconnect, nil))
	default:
		s.begin(k, in.Intents)
		id.Accepted = true
	}
	s.all.Identifies = append(s.all.Identifies, id)
}

// takeResume answers op 6. Callers hold the lock.
func (s *Server) takeResume(k *socket, raw json.RawMessage) {
	var in struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int    `json:"seq"`
	}
	err := json.Unmarshal(raw, &in)
	r := Resume{}
	switch {
	case err != nil:
		k.enqueue(packet{close: 4002})
	case strings.TrimPrefix(in.Token, "Bot ") != s.token:
		k.enqueue(packet{close: 4004})
	case s.reconnects > 0:
		s.reconnects--
		k.enqueue(control(opReconnect, nil))
	case s.resume(k, in.SessionID, in.Seq):
		r.Accepted = true
	default:
		k.enqueue(control(opInvalid, false))
	}
	s.all.Resumes = append(s.all.Resumes, r)
}
