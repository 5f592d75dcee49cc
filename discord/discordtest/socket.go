package discordtest

import (
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

// socket is one connection of a client. The world's lock guards its fields.
type socket struct {
	ws      *websocket.Conn
	info    *Connection
	session *session
	queue   []packet      // sent in order; enqueueing never blocks
	more    chan struct{} // capacity 1
	gone    chan struct{} // closed by the reader when it ends
	recent  []time.Time   // packets of the last minute except heartbeats
}

// enqueue never waits for the client. Callers hold the world's lock.
func (k *socket) enqueue(p packet) {
	k.queue = append(k.queue, p)
	select {
	case k.more <- struct{}{}:
	default:
	}
}

// serveSocket handles one connection from upgrade to end: this goroutine reads, and waits for a second one that
// writes.
func (g *gateway) serveSocket(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if _, ok := errors.AsType[websocket.HandshakeError](err); ok {
		g.w.violate("gateway: %v", err)
	}
	if err != nil {
		return // any other error means that the client has disconnected
	}
	k := &socket{ws: ws, more: make(chan struct{}, 1), gone: make(chan struct{})}
	g.w.mu.Lock()
	k.info = &Connection{Number: len(g.sockets) + 1}
	g.w.connections = append(g.w.connections, k.info)
	g.sockets = append(g.sockets, k)
	k.enqueue(control(opHello, object{"heartbeat_interval": g.o.Heartbeat.Milliseconds()}))
	if v := r.URL.Query().Get("v"); v != "" && v != "9" && v != "10" {
		k.enqueue(packet{close: 4012})
	}
	g.w.change()
	g.w.mu.Unlock()
	var writer sync.WaitGroup
	writer.Go(func() {
		defer g.w.noPanic()
		g.writeTo(k)
	})
	defer writer.Wait()
	defer close(k.gone)
	for {
		_, data, err := ws.ReadMessage()
		if err != nil {
			g.disconnect(k, err)
			return
		}
		g.receive(k, data)
	}
}

// disconnect records the end of a connection. Codes 1000 and 1001 from the client end its session; after any other
// end it can be resumed.
func (g *gateway) disconnect(k *socket, err error) {
	_ = k.ws.Close()
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	k.info.Closed = g.w.now()
	if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
		g.forget(k.session)
	}
	if k.session != nil {
		k.session.attached, k.session = nil, nil
	}
	g.w.change()
}

// writeTo sends queued packets until the reader has ended.
func (g *gateway) writeTo(k *socket) {
	for {
		select {
		case <-k.more:
		case <-k.gone:
			return
		}
		g.w.mu.Lock()
		batch := k.queue
		k.queue = nil
		g.w.mu.Unlock()
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

// receive handles one packet of a client.
func (g *gateway) receive(k *socket, data []byte) {
	var p struct {
		Op int             `json:"op"`
		D  json.RawMessage `json:"d"`
	}
	err := json.Unmarshal(data, &p)
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	defer g.w.change()
	switch {
	case err != nil || len(data) > maxPacket:
		k.enqueue(packet{close: 4002})
	case p.Op == opHeartbeat:
		k.info.Heartbeats++
		k.enqueue(control(opAck, nil))
	case k.tooMany(time.Now()):
		k.enqueue(packet{close: 4008})
	case p.Op == opIdentify:
		g.identify(k, p.D)
	case p.Op == opResume:
		g.takeResume(k, p.D)
	case p.Op == opPresence && !g.accepts(p.D):
		k.enqueue(packet{close: 4002})
	case p.Op == opPresence:
		g.w.all.Presences = append(g.w.all.Presences, string(p.D))
	default:
		k.enqueue(packet{close: 4001})
	}
}

// accepts reports whether a presence is valid or AnyPresence is set.
func (g *gateway) accepts(presence json.RawMessage) bool {
	return g.o.AnyPresence || validPresence(presence)
}

// tooMany counts a packet.
func (k *socket) tooMany(now time.Time) bool {
	k.recent = slices.DeleteFunc(k.recent, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	k.recent = append(k.recent, now)
	return len(k.recent) > maxPackets
}

// identify answers op 2: with READY, or with a refusal of the token or the intents.
func (g *gateway) identify(k *socket, raw json.RawMessage) {
	var in struct {
		Token    string           `json:"token"`
		Intents  discordgo.Intent `json:"intents"`
		Presence json.RawMessage  `json:"presence"`
	}
	err := json.Unmarshal(raw, &in)
	id := Identify{Connection: k.info.Number, At: g.w.now(), Intents: in.Intents, Presence: in.Presence}
	tooSoon := g.o.Limits && g.w.now().Sub(g.lastStart) < startSpan
	g.lastStart = g.w.now()
	g.startsLeft--
	switch {
	case err != nil, in.Presence != nil && !g.accepts(in.Presence):
		k.enqueue(packet{close: 4002})
	case k.session != nil:
		k.enqueue(packet{close: 4005})
	case strings.TrimPrefix(in.Token, "Bot ") != g.w.token || g.startsLeft < 0:
		k.enqueue(packet{close: 4004}) // identifying too often invalidates the token
	case in.Intents&^intentsAll != 0:
		k.enqueue(packet{close: 4013})
	case in.Intents&intentsPrivileged != 0:
		k.enqueue(packet{close: 4014})
	case tooSoon:
		k.enqueue(control(opInvalid, false))
	case g.reconnects > 0:
		g.reconnects--
		k.enqueue(control(opReconnect, nil))
	default:
		g.begin(k, in.Intents)
		id.Accepted = true
	}
	g.w.all.Identifies = append(g.w.all.Identifies, id)
}

// takeResume answers op 6.
func (g *gateway) takeResume(k *socket, raw json.RawMessage) {
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
	case strings.TrimPrefix(in.Token, "Bot ") != g.w.token:
		k.enqueue(packet{close: 4004})
	case g.reconnects > 0:
		g.reconnects--
		k.enqueue(control(opReconnect, nil))
	case g.resume(k, in.SessionID, in.Seq):
		r.Accepted = true
	default:
		k.enqueue(control(opInvalid, false))
	}
	g.w.all.Resumes = append(g.w.all.Resumes, r)
}
