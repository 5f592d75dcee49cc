package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"ollimbot/core/clean"
	"ollimbot/core/fault"
)

// The opcodes of Discord's gateway that matter here.
const (
	opDispatch     = 0
	opHeartbeat    = 1
	opIdentify     = 2
	opPresence     = 3
	opResume       = 6
	opReconnect    = 7
	opInvalid      = 9
	opHello        = 10
	opHeartbeatAck = 11
)

const (
	// version of the gateway: that of the REST API, so that both speak of messages
	// in the same way.
	version = "10"
	// dialWithin is how long connecting may take. A network that swallows
	// everything must not hold up the next try, which may meet one that is back.
	dialWithin = 5 * time.Second
	// writeWithin is how long a packet may take to leave.
	writeWithin = 5 * time.Second
	// byeWithin is for how long Discord may take over its last words.
	byeWithin = time.Second
	// heartbeatMax is far beyond the 41 s that Discord asks for.
	heartbeatMax = 10 * time.Minute
	// maxPacket is far beyond anything Discord sends, in bytes.
	maxPacket = 16 << 20
	intents   = discordgo.IntentsDirectMessages | discordgo.IntentsDirectMessageReactions
)

// session is what outlives a connection: with it the next one goes on where this
// one ended. The zero value is none.
type session struct {
	id      string
	address string // where Discord wants it to be resumed
	seq     int64
}

// packet is the outside of everything that Discord sends.
type packet struct {
	Op   *int            `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
	end  *cause          // in place of a packet: the reader's last word
}

// conn is one connection. It belongs to one goroutine; a second one reads.
type conn struct {
	s       *Supervisor
	se      *session
	ws      *websocket.Conn
	packets chan packet
	done    chan struct{} // closed when nobody takes packets any more
	reader  sync.WaitGroup

	interval time.Duration // 0 until HELLO
	beat     *time.Timer
	sent     time.Time // when the heartbeat left that is not answered yet; zero: none
}

// connect opens the socket, within ctx.
func (s *Supervisor) connect(ctx context.Context, address string, se *session) (*conn, *cause) {
	target, err := socketAddress(address)
	if err != nil {
		return nil, &cause{end: endUnreachable, err: err}
	}
	// The library below watches no context while it waits for the answer.
	var watch []func() bool
	dialer := websocket.Dialer{Proxy: proxy, NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		limited, cancel := context.WithTimeout(ctx, dialWithin)
		defer cancel()
		raw, err := s.o.Dial(limited, network, addr)
		if err == nil {
			watch = append(watch, context.AfterFunc(ctx, func() { _ = raw.Close() }))
		}
		return raw, err
	}}
	ws, answer, err := dialer.DialContext(ctx, target, nil)
	for _, stop := range watch {
		stop()
	}
	if answer != nil {
		_ = answer.Body.Close() // the library has read what it keeps of it
	}
	if err != nil && answer != nil {
		err = errors.New(answer.Status)
	}
	if err != nil {
		return nil, &cause{end: endUnreachable, err: err}
	}
	ws.SetReadLimit(maxPacket)
	// The default answers a close frame in kind, and 1000 from us ends a session.
	ws.SetCloseHandler(func(int, string) error { return nil })
	c := &conn{s: s, se: se, ws: ws, packets: make(chan packet), done: make(chan struct{}), beat: time.NewTimer(time.Hour)}
	c.beat.Stop()
	c.reader.Go(c.read)
	return c, nil
}

// socketAddress is an address as we open it. An unencrypted one leads to this
// machine only: the token goes over the line.
func socketAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "ws" && u.Scheme != "wss" {
		return "", errors.New(textBadAddress)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "ws" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", errors.New(textPlain)
	}
	u.RawQuery = url.Values{"v": {version}, "encoding": {"json"}}.Encode()
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

// proxy is that of the environment. Its error would show the address, and a
// password in it.
func proxy(r *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(r)
	if err != nil {
		return nil, errors.New(textBadProxy)
	}
	return u, nil
}

// read hands over packets until the socket ends, and says at last why it did.
func (c *conn) read() {
	defer close(c.packets)
	for {
		var p packet
		if err := fault.Guard("the connection to Discord", func() error { return c.next(&p) })(); err != nil {
			p = packet{end: ending(err)}
		}
		select {
		case c.packets <- p:
		case <-c.done:
			return
		}
		if p.end != nil {
			return
		}
	}
}

func (c *conn) next(p *packet) error {
	_, data, err := c.ws.ReadMessage()
	if err != nil {
		return err
	}
	if json.Unmarshal(data, p) != nil || p.Op == nil {
		p.end = &cause{end: endNonsense, err: errors.New(textBadPacket)}
	}
	return nil
}

// ending is the cause behind an error of the socket.
func ending(err error) *cause {
	var closed *websocket.CloseError
	switch {
	case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		return &cause{end: endClosed, code: closed.Code}
	case errors.Is(err, websocket.ErrReadLimit):
		return &cause{end: endNonsense, err: fmt.Errorf(textTooLong, maxPacket)}
	}
	return &cause{end: endLost, err: err}
}

// close ends the socket without a word, which lets the session live, and waits
// for the reader.
func (c *conn) close() {
	c.beat.Stop()
	close(c.done)
	_ = c.ws.Close() // given up either way
	c.reader.Wait()
}

// leave says goodbye, so that Discord shows the bot as offline at once.
func (c *conn) leave() {
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	over := time.Now().Add(byeWithin)
	if c.ws.WriteControl(websocket.CloseMessage, bye, over) != nil {
		return
	}
	t := time.NewTimer(time.Until(over))
	defer t.Stop()
	for {
		select {
		case _, more := <-c.packets:
			if !more {
				return
			}
		case <-t.C:
			return
		}
	}
}

// send writes a packet. Where that fails, the reader is left a moment: the close
// code that says why is often there already.
func (c *conn) send(op int, data any) {
	err := c.ws.SetWriteDeadline(time.Now().Add(writeWithin))
	if err == nil {
		err = c.ws.WriteJSON(struct {
			Op   int `json:"op"`
			Data any `json:"d"`
		}{op, data})
	}
	if err != nil {
		_ = c.ws.SetReadDeadline(time.Now().Add(byeWithin)) // it fails when the socket is gone, which the reader sees
	}
}

// hello begins the heartbeat, the first one at a random moment of its interval
// so that not all bots beat at once, and logs in.
func (c *conn) hello(data json.RawMessage) *cause {
	var hello struct {
		Interval int64 `json:"heartbeat_interval"` // milliseconds
	}
	if json.Unmarshal(data, &hello) != nil || hello.Interval <= 0 || hello.Interval > heartbeatMax.Milliseconds() {
		return &cause{end: endNonsense, err: fmt.Errorf(textBadHello, hello.Interval)}
	}
	c.interval = time.Duration(hello.Interval) * time.Millisecond
	c.beat.Reset(rand.N(c.interval))
	if c.se.id != "" {
		c.send(opResume, map[string]any{"token": c.s.o.Token, "session_id": c.se.id, "seq": c.se.seq})
		return nil
	}
	c.s.starts.note(time.Now())
	c.send(opIdentify, map[string]any{
		"token": c.s.o.Token, "intents": intents, "compress": false, "presence": c.s.presence.tell(),
		"properties": map[string]string{"os": runtime.GOOS, "browser": "ollim-bot", "device": "ollim-bot"},
	})
	return nil
}

// heartbeat sends one, unless the one before was not answered: then the
// connection is dead, whatever else still comes.
func (c *conn) heartbeat() *cause {
	if !c.sent.IsZero() {
		return &cause{end: endZombie}
	}
	c.sent = time.Now()
	c.beat.Reset(c.interval)
	c.pulse()
	return nil
}

// pulse is the packet of a heartbeat.
func (c *conn) pulse() {
	if c.se.seq == 0 {
		c.send(opHeartbeat, nil)
		return
	}
	c.send(opHeartbeat, c.se.seq)
}

// take handles a packet. kind is Ready or Resumed when one of these has come.
func (c *conn) take(p packet) (kind Kind, end *cause) {
	switch *p.Op {
	case opDispatch:
		c.se.seq = max(c.se.seq, p.Seq)
		return c.dispatch(p), nil
	case opHello:
		return 0, c.hello(p.Data)
	case opHeartbeat:
		c.pulse()
	case opHeartbeatAck:
		if !c.sent.IsZero() {
			c.s.board.latency(time.Since(c.sent))
			c.sent = time.Time{}
		}
	case opReconnect:
		return 0, &cause{end: endReconnect}
	case opInvalid:
		return 0, &cause{end: endInvalid, goesOn: string(p.Data) == "true"}
	}
	return 0, nil
}

// dispatch hands an event on.
func (c *conn) dispatch(p packet) Kind {
	var e Event
	v := broke
	err := fault.Guard("an event of Discord", func() error {
		e, v = decode(p.Type, p.Data)
		return nil
	})()
	if err != nil { // one event must not cost the connection
		c.s.o.Log.Error("an event of discord could not be read", "type", clean.Cut(clean.Line(p.Type), 60), "error", err)
	}
	e.At = time.Now()
	if e.Kind == Ready {
		var to struct {
			ID      string `json:"session_id"`
			Address string `json:"resume_gateway_url"`
		}
		_ = json.Unmarshal(p.Data, &to) // without an id the next connection begins anew
		c.se.id, c.se.address = to.ID, to.Address
	}
	c.s.accept(e, v)
	if e.Kind == Ready || e.Kind == Resumed {
		return e.Kind
	}
	return 0
}
