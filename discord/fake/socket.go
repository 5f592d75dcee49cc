package fake

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// maxPacket is how many bytes a client may send at once (events/gateway).
const maxPacket = 4096

// socket is one connection of a client. The server's lock guards its fields.
type socket struct {
	ws      *websocket.Conn
	info    Connection
	script  Script
	session *session
	silent  bool          // half-open: it neither hears nor answers
	queue   []packet      // goes out in order; never blocks who enqueues
	more    chan struct{} // capacity 1
	gone    chan struct{} // closed by the reader when it ends
	recent  []time.Time   // packets of the last minute but heartbeats
}

// enqueue never waits for the client. A half-open socket loses what it is given
// from then on. Callers hold the server's lock.
func (k *socket) enqueue(p packet) {
	if k.silent {
		return
	}
	k.queue = append(k.queue, p)
	select {
	case k.more <- struct{}{}:
	default:
	}
}

// serveGateway is one connection from upgrade to end: this goroutine reads, a
// second one writes and is waited for.
func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	script := s.takeScript()
	if script.Refuse != 0 {
		w.WriteHeader(script.Refuse)
		return
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	var handshake websocket.HandshakeError
	if errors.As(err, &handshake) {
		s.violate("gateway: %v", err)
	}
	if err != nil {
		return // with any other error the client has left
	}
	k := s.connect(ws, script)
	if v := r.URL.Query().Get("v"); v != "" && v != "9" && v != "10" {
		s.mu.Lock()
		k.enqueue(packet{close: 4012})
		s.mu.Unlock()
	}
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

func (s *Server) connect(ws *websocket.Conn, script Script) *socket {
	k := &socket{ws: ws, script: script, more: make(chan struct{}, 1), gone: make(chan struct{})}
	// The default would answer a close frame; a half-open peer does not.
	ws.SetCloseHandler(func(int, string) error { return nil })
	s.mu.Lock()
	defer s.mu.Unlock()
	k.info = Connection{Number: len(s.sockets) + 1, Opened: s.now()}
	s.sockets = append(s.sockets, k)
	if !script.NoHello {
		k.enqueue(control(opHello, object{"heartbeat_interval": s.o.Heartbeat.Milliseconds()}))
	}
	s.change()
	return k
}

// disconnect notes the end of a connection. Codes 1000 and 1001 from the client
// end its session; after any other end it can be resumed.
func (s *Server) disconnect(k *socket, err error) {
	_ = k.ws.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	k.info.Closed = s.now()
	var end *websocket.CloseError
	if errors.As(err, &end) && end.Code != websocket.CloseAbnormalClosure {
		k.info.CloseCode = end.Code
	}
	if k.session != nil {
		orderly := k.info.CloseCode == websocket.CloseNormalClosure || k.info.CloseCode == websocket.CloseGoingAway
		if orderly && !k.silent {
			s.forget(k.session)
		} else {
			k.session.attached = nil
		}
		k.session = nil
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
		_ = k.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(p.close, closeText[p.close]), deadline)
		return false
	}
	kind := websocket.TextMessage
	if p.binary {
		kind = websocket.BinaryMessage
	}
	return k.ws.SetWriteDeadline(deadline) == nil && k.ws.WriteMessage(kind, p.data) == nil
}

// The reasons that Discord gives (topics/opcodes-and-status-codes).
var closeText = map[int]string{
	4001: "Unknown opcode.", 4002: "Error while decoding payload.", 4003: "Not authenticated.", 4004: "Authentication failed.",
	4005: "Already authenticated.", 4007: "Invalid seq.", 4008: "Rate limited.", 4009: "Session timed out.",
	4012: "Invalid API version.", 4013: "Invalid intent(s).", 4014: "Disallowed intent(s).",
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
	case k.silent:
		return
	case err != nil || len(data) > maxPacket:
		k.enqueue(packet{close: 4002})
		return
	case p.Op != opHeartbeat && k.tooMany(time.Now()):
		k.enqueue(packet{close: 4008})
		return
	}
	switch p.Op {
	case opHeartbeat:
		k.info.Heartbeats++
		if !k.script.HelloOnly {
			k.enqueue(control(opAck, nil))
		}
	case opIdentify:
		s.identify(k, p.D)
	case opResume:
		s.takeResume(k, p.D)
	case opPresence:
		s.presences = append(s.presences, string(p.D))
	default:
		k.enqueue(packet{close: 4001})
	}
}

// tooMany counts a packet: Discord takes 120 in 60 s on a connection.
func (k *socket) tooMany(now time.Time) bool {
	k.recent = slices.DeleteFunc(k.recent, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	k.recent = append(k.recent, now)
	return len(k.recent) > 120
}

// identify answers op 2: with READY, or with what the script, the token or the
// intents earn. Callers hold the lock.
func (s *Server) identify(k *socket, raw json.RawMessage) {
	var in struct {
		Token    string          `json:"token"`
		Intents  int             `json:"intents"`
		Compress bool            `json:"compress"`
		Presence json.RawMessage `json:"presence"`
	}
	err := json.Unmarshal(raw, &in)
	id := Identify{Connection: k.info.Number, At: s.now(), Intents: in.Intents, Compress: in.Compress, Presence: in.Presence}
	tooSoon := s.o.Limits && s.now().Sub(s.lastStart) < 5*time.Second
	s.lastStart = s.now()
	s.startsLeft--
	switch {
	case k.script.HelloOnly:
	case err != nil:
		k.enqueue(packet{close: 4002})
	case k.script.CloseWith != 0:
		k.enqueue(packet{close: k.script.CloseWith})
	case k.session != nil:
		k.enqueue(packet{close: 4005})
	case strings.TrimPrefix(in.Token, "Bot ") != s.token || s.startsLeft < 0:
		k.enqueue(packet{close: 4004}) // who identifies too often loses the token
	case in.Intents&^intentsAll != 0:
		k.enqueue(packet{close: 4013})
	case in.Intents&intentsPrivileged != 0 && !s.o.Privileged:
		k.enqueue(packet{close: 4014})
	case s.takeOp9() || tooSoon:
		k.enqueue(control(opInvalid, false))
	case k.script.FirstOp7:
		k.enqueue(control(opReconnect, nil))
	default:
		s.begin(k, in.Intents, in.Compress)
		id.Accepted = true
		k.silent = k.script.Silent
	}
	s.identifies = append(s.identifies, id)
}

// takeResume answers op 6. Callers hold the lock.
func (s *Server) takeResume(k *socket, raw json.RawMessage) {
	var in struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int64  `json:"seq"`
	}
	err := json.Unmarshal(raw, &in)
	r := Resume{Connection: k.info.Number, At: s.now(), SessionID: in.SessionID, Seq: in.Seq}
	switch {
	case k.script.HelloOnly:
	case err != nil:
		k.enqueue(packet{close: 4002})
	case k.script.CloseWith != 0:
		k.enqueue(packet{close: k.script.CloseWith})
	case strings.TrimPrefix(in.Token, "Bot ") != s.token:
		k.enqueue(packet{close: 4004})
	case k.script.FirstOp7:
		k.enqueue(control(opReconnect, nil))
	case !s.takeOp9() && s.resume(k, in.SessionID, in.Seq):
		r.Accepted = true
	default:
		k.enqueue(control(opInvalid, false))
	}
	s.resumes = append(s.resumes, r)
}
