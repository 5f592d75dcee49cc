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

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/web"
	"ollimbot/discord/message"
)

// The opcodes of Discord's gateway that are used here.
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
	// version of the gateway, the same as the REST API's, so that messages have the same
	// form.
	version = "10"
	// dialWithin limits connecting. A network that drops every packet must not delay the next attempt, which may
	// succeed.
	dialWithin = 5 * time.Second
	// writeWithin limits writing a packet.
	writeWithin = 5 * time.Second
	// byeWithin is how long Discord may take to close the connection.
	byeWithin = time.Second
	// heartbeatMax is far above the 41 s that Discord asks for.
	heartbeatMax = 10 * time.Minute
	// maxPacket is far above any packet of Discord, in bytes.
	maxPacket = 16 << 20
	intents   = discordgo.IntentsDirectMessages | discordgo.IntentsDirectMessageReactions
)

// packet is a packet from Discord, or the error that ended the reader.
type packet struct {
	discordgo.Event
	end *cause
}

// cause is the reason why a connection ended or was not established, as a sentence, and how to continue. It
// implements Discord's table of close codes and its rules for op 7 and 9.
type cause struct {
	reason string
	fresh  bool // start a new session: the old one is lost or may be the reason
	then   next
}

// next says when to try again.
type next int

const (
	tryAgain   next = iota // later with each refusal
	tryOften               // Discord was not reached, so trying causes no load there
	pauseFirst             // op 9: Discord asks for a pause
	moveOn                 // op 7: Discord moves the bot to another server; this does not count as a refusal
	giveUp                 // the user has to act
)

func unreachable(err error) *cause {
	return &cause{reason: fmt.Sprintf(textUnreachable, brief(err)), then: tryOften}
}

// nonsense returns the cause for invalid data. It starts a new session, because the old one may be the reason.
func nonsense(format string, args ...any) *cause {
	return &cause{reason: fmt.Sprintf(textNonsense, fmt.Sprintf(format, args...)), fresh: true}
}

func closed(code int) *cause {
	switch code {
	case 4003, 4007, 4009:
		return &cause{reason: closeSentence(code), fresh: true}
	}
	if stopSentences[code] != "" {
		return &cause{reason: closeSentence(code), then: giveUp}
	}
	return &cause{reason: closeSentence(code)}
}

// conn is one connection. It belongs to one goroutine; a second one reads.
type conn struct {
	l       *Link
	ws      *websocket.Conn
	packets chan packet
	done    chan struct{} // closed when no more packets are read from the channel
	reader  sync.WaitGroup

	interval time.Duration // 0 until HELLO
	beat     *time.Timer
	sent     time.Time // time of the unanswered heartbeat, or zero
	up       time.Time // when READY or RESUMED arrived, or zero
}

// connect opens the socket within ctx.
func (l *Link) connect(ctx context.Context, address string) (*conn, *cause) {
	target, err := socketAddress(address)
	if err != nil {
		return nil, unreachable(err)
	}
	// The library ignores the context while it waits for the answer.
	var watch []func() bool
	dialer := websocket.Dialer{Proxy: proxy, NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		limited, cancel := context.WithTimeout(ctx, dialWithin)
		defer cancel()
		raw, err := l.o.Dial(limited, network, addr)
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
		_ = answer.Body.Close() // the library has read what it needs
	}
	if err != nil && answer != nil {
		err = errors.New(answer.Status)
	}
	if err != nil {
		return nil, unreachable(err)
	}
	ws.SetReadLimit(maxPacket)
	// The default handler would answer 1000, which ends the session.
	ws.SetCloseHandler(func(int, string) error { return nil })
	c := &conn{l: l, ws: ws, packets: make(chan packet), done: make(chan struct{}), beat: time.NewTimer(time.Hour)}
	c.beat.Stop()
	c.reader.Go(c.read)
	return c, nil
}

// ErrNoGreeting means that the server answered but is not a gateway.
var ErrNoGreeting = errors.New(textNoGreeting)

// Greets connects to a gateway and waits for its greeting, without sending anything.
func Greets(ctx context.Context, address string) error {
	c, failed := New(Options{}).connect(ctx, address)
	if failed != nil {
		return errors.New(failed.reason)
	}
	defer c.close()
	select {
	case p := <-c.packets:
		if p.end != nil {
			return errors.New(p.end.reason)
		}
		if p.Operation != opHello {
			return ErrNoGreeting
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// socketAddress validates the address. An unencrypted one must be on this machine, because
// the token is sent over it.
func socketAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "ws" && u.Scheme != "wss" {
		return "", errors.New(textBadAddress)
	}
	if u.Scheme == "ws" && !web.Loopback(u.Hostname()) {
		return "", errors.New(textPlain)
	}
	u.RawQuery = url.Values{"v": {version}, "encoding": {"json"}}.Encode()
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

// proxy returns the environment's proxy. It hides the original error, which would show the address, because that may
// contain a password.
func proxy(r *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(r)
	if err != nil {
		return nil, errors.New(textBadProxy)
	}
	return u, nil
}

// read delivers packets until the socket ends, then the reason.
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
	if json.Unmarshal(data, &p.Event) != nil || p.Operation == opDispatch && p.Type == "" {
		p.end = nonsense(textBadPacket)
	}
	return nil
}

// ending returns the cause for a socket error.
func ending(err error) *cause {
	var said *websocket.CloseError
	switch {
	case errors.As(err, &said) && said.Code != websocket.CloseAbnormalClosure:
		return closed(said.Code)
	case errors.Is(err, websocket.ErrReadLimit):
		return nonsense(textTooLong, maxPacket)
	}
	return &cause{reason: fmt.Sprintf(textLost, brief(err))}
}

// follow handles a connection until it ends. late is closed if it does not come up in time.
func (c *conn) follow(ctx context.Context, late <-chan struct{}) (end *cause) {
	var shown time.Time
	var show <-chan time.Time // when to send the presence
	for end == nil {
		select {
		case p := <-c.packets:
			if end = p.end; end == nil {
				end = c.handle(ctx, p.Event)
			}
			if late != nil && !c.up.IsZero() {
				late, show = nil, time.After(0)
			}
		case <-c.beat.C:
			end = c.heartbeat()
		case <-c.l.shown:
			show = time.After(time.Until(shown.Add(presenceEvery)))
		case <-show:
			if show = nil; !c.up.IsZero() && c.l.stale() {
				shown = time.Now()
				c.send(opPresence, c.l.status())
			}
		case <-late:
			end = &cause{reason: fmt.Sprintf(textSilent, openWithin), fresh: true}
		case <-ctx.Done():
			if !c.up.IsZero() {
				c.sayGoodbye()
			}
			end = &cause{}
		}
	}
	return end
}

// close closes the socket without a close frame, which keeps the session alive, and waits
// for the reader.
func (c *conn) close() {
	c.beat.Stop()
	close(c.done)
	_ = c.ws.Close() // given up either way
	c.reader.Wait()
}

// sayGoodbye sends a close frame, so that Discord shows the bot as offline at once.
func (c *conn) sayGoodbye() {
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

// send writes a packet. If that fails, the reader gets a moment to read the close code, which has often already
// arrived.
func (c *conn) send(op int, data any) {
	err := c.ws.SetWriteDeadline(time.Now().Add(writeWithin))
	if err == nil {
		err = c.ws.WriteJSON(struct {
			Op   int `json:"op"`
			Data any `json:"d"`
		}{op, data})
	}
	if err != nil {
		_ = c.ws.SetReadDeadline(time.Now().Add(byeWithin)) // this fails only if the socket is closed, which the reader notices
	}
}

// hello starts the heartbeat and logs in. The first heartbeat is at a random moment of its interval, so that many
// bots do not send them at the same time.
func (c *conn) hello(data json.RawMessage) *cause {
	var hello struct {
		Interval int64 `json:"heartbeat_interval"` // milliseconds
	}
	if json.Unmarshal(data, &hello) != nil || hello.Interval <= 0 || hello.Interval > heartbeatMax.Milliseconds() {
		return nonsense(textBadHello, hello.Interval)
	}
	c.interval = time.Duration(hello.Interval) * time.Millisecond
	c.beat.Reset(rand.N(c.interval))
	if se := c.l.session; se.id != "" {
		c.send(opResume, map[string]any{"token": c.l.o.Token, "session_id": se.id, "seq": se.seq})
		return nil
	}
	now := time.Now()
	c.l.o.Started(now)
	begun := append(c.l.starts, now)
	c.l.starts = begun[max(0, len(begun)-startsInHour):]
	c.send(opIdentify, map[string]any{
		"token": c.l.o.Token, "intents": intents, "compress": false, "presence": c.l.status(),
		"properties": map[string]string{"os": runtime.GOOS, "browser": "ollim-bot", "device": "ollim-bot"},
	})
	return nil
}

// heartbeat sends a heartbeat. If the previous one was not answered, the connection is dead.
func (c *conn) heartbeat() *cause {
	if !c.sent.IsZero() {
		return &cause{reason: textZombie}
	}
	c.sent = time.Now()
	c.beat.Reset(c.interval)
	c.pulse()
	return nil
}

// pulse sends the packet of a heartbeat.
func (c *conn) pulse() {
	if c.l.session.seq == 0 {
		c.send(opHeartbeat, nil)
		return
	}
	c.send(opHeartbeat, c.l.session.seq)
}

func (c *conn) handle(ctx context.Context, p discordgo.Event) *cause {
	switch p.Operation {
	case opDispatch:
		c.l.session.seq = max(c.l.session.seq, p.Sequence)
		c.dispatch(ctx, p)
	case opHello:
		return c.hello(p.RawData)
	case opHeartbeat:
		c.pulse()
	case opHeartbeatAck:
		if !c.sent.IsZero() {
			latency := time.Since(c.sent)
			c.l.change(func(s *State) { s.Latency = latency })
			c.sent = time.Time{}
		}
	case opReconnect:
		return &cause{reason: textReconnect, then: moveOn}
	case opInvalid:
		return &cause{reason: textInvalid, fresh: string(p.RawData) != "true", then: pauseFirst}
	}
	return nil
}

// dispatch delivers an event. An unreadable one is skipped.
func (c *conn) dispatch(ctx context.Context, p discordgo.Event) {
	e := Event{At: time.Now()}
	err := fault.Guard("an event of Discord", func() (err error) {
		e.Data, err = decode(p.Type, p.RawData)
		return err
	})()
	if err != nil { // one event must not end the connection, nor many fill the log
		c.l.o.Log.Debug("an event of discord could not be read", "type", clean.Cut(clean.Line(p.Type), 60))
	}
	if p.Type == "MESSAGE_CREATE" {
		traits := message.TraitsOf(p.RawData)
		e.Nonce = traits.Nonce
		if err != nil {
			e.Data, err = Unreadable{traits}, nil
		}
	}
	switch data := e.Data.(type) {
	case *discordgo.Ready:
		c.l.session.id = data.SessionID // without one the next connection starts a new session
		var to struct {
			Address string `json:"resume_gateway_url"`
		}
		_ = json.Unmarshal(p.RawData, &to)
		c.l.session.address = to.Address
		c.admitted(true)
	case *discordgo.Resumed:
		c.admitted(false)
	}
	if err == nil && e.Data != nil {
		select {
		case c.l.events <- e:
		case <-ctx.Done():
		}
	}
}

// admitted records that the bot is logged in.
func (c *conn) admitted(anew bool) {
	if c.up.IsZero() {
		c.up = time.Now()
		c.l.enter(Up, "")
		c.l.o.Log.Log(context.Background(), c.l.news.back(), "discord connected", "new_session", anew)
	}
}
