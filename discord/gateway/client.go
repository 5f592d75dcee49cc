package gateway

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"ollimbot/core/fault"
)

// client is one session of the library: what can be opened, lost, and resumed.
// It is used by one goroutine; only the handlers run in others.
type client struct {
	dg     *discordgo.Session
	dialer *dialer
	timing Timing
	accept func(Event, verdict) // what to do with an event
	starts *starts

	up      chan bool     // true after Ready, false after Resumed; room for one
	gone    chan struct{} // the library has let go of a connection; room for one
	known   atomic.Bool   // Discord has given the session an id: it can be resumed
	retired atomic.Bool   // its events are no longer wanted

	log *slog.Logger

	mu      sync.Mutex // guards what follows
	attempt context.Context
	wire    *wire
}

// silentLibrary is below the library's lowest level: it writes to the process's
// standard error otherwise, in the middle of the dashboard, and at its highest
// level it writes the token.
const silentLibrary = -1

// gatewayAnswer bounds the answer to GET /gateway, in bytes.
const gatewayAnswer = 64 << 10

func newClient(s *Supervisor, d *dialer) (*client, error) {
	dg, err := discordgo.New("Bot " + s.o.Token)
	if err != nil {
		return nil, err
	}
	c := &client{
		dg: dg, dialer: d, timing: s.o.Timing, accept: s.accept, log: s.o.Log, starts: s.starts,
		up: make(chan bool, 1), gone: make(chan struct{}, 1),
	}
	dg.LogLevel = silentLibrary
	dg.ShouldReconnectOnError = false
	dg.ShouldReconnectVoiceOnSessionError = false
	dg.ShouldRetryOnRateLimit = false
	dg.MaxRestRetries = 0
	dg.SyncEvents = true // keeps the order; the handlers only push
	dg.StateEnabled = false
	dg.Compress = false // a few bytes more, and the wire can read them
	dg.Identify.Compress = false
	dg.Identify.Intents = discordgo.IntentsDirectMessages | discordgo.IntentsDirectMessageReactions
	dg.Identify.Presence = discordgo.GatewayStatusUpdate{
		Status: string(discordgo.StatusOnline),
		Game:   discordgo.Activity{Name: watching, Type: discordgo.ActivityTypeWatching},
	}
	dg.Client = &http.Client{
		Transport:     c.transport(s.o.Transport),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	dg.Dialer = &websocket.Dialer{
		HandshakeTimeout:  s.o.Timing.Open,
		NetDialContext:    c.dial(d.plain),
		NetDialTLSContext: c.dial(d.secure),
	}
	dg.AddHandler(c.onEvent)
	dg.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) {
		select {
		case c.gone <- struct{}{}:
		default:
		}
	})
	return c, nil
}

// onEvent runs inside the library's reader: it decodes and pushes, and waits for
// nothing. Our own decoding, instead of the library's structs, is what keeps
// half-read events out.
func (c *client) onEvent(_ *discordgo.Session, e *discordgo.Event) {
	defer func() {
		if err := fault.Of("an event of Discord", recover()); err != nil {
			c.log.Error("an event was dropped", "type", e.Type, "error", err)
			c.accept(Event{}, broke) // a panic here would end the program
		}
	}()
	if c.retired.Load() {
		return
	}
	ev, v := decode(e.Type, e.RawData)
	if v == ignored && e.Struct == nil {
		v = broke // not even the library knows the type
	}
	ev.At = time.Now()
	if ev.Kind == Ready {
		c.known.Store(hasSession(e.RawData))
	}
	c.accept(ev, v)
	if v == wanted && (ev.Kind == Ready || ev.Kind == Resumed) {
		select {
		case c.up <- ev.Kind == Ready:
		default:
		}
	}
}

// dial makes the library's connections end with the attempt that asked for them.
func (c *client) dial(open func(ctx context.Context, network, addr string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(_ context.Context, network, addr string) (net.Conn, error) {
		ctx, _ := c.current()
		conn, err := open(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		w := newWire(conn, c.timing.Idle, func() { c.starts.note(time.Now()) })
		c.mu.Lock()
		c.wire = w
		c.mu.Unlock()
		if ctx.Err() != nil { // whoever cuts the wire may have looked before
			w.end(cause{end: endLeft})
			return nil, ctx.Err()
		}
		return w, nil
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// transport makes the library's requests end with the attempt too; the library
// itself knows no context there.
func (c *client) transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		ctx, _ := c.current()
		resp, err := base.RoundTrip(r.WithContext(ctx))
		if err != nil {
			return nil, err
		}
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, gatewayAnswer), resp.Body}
		return resp, nil
	})
}

func (c *client) current() (context.Context, *wire) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.attempt, c.wire
}

// begin prepares an attempt: nothing of an earlier one is left.
func (c *client) begin(ctx context.Context) {
	c.mu.Lock()
	c.attempt, c.wire = ctx, nil
	c.mu.Unlock()
	for {
		select {
		case <-c.up:
		case <-c.gone:
		default:
			return
		}
	}
}

// cut ends the attempt's connection, if it has one.
func (c *client) cut(why cause) {
	if _, w := c.current(); w != nil {
		w.end(why)
	}
}

// open connects, and returns when Discord has said Ready (fresh) or Resumed, or
// why it did not come to that. After an error the library is at rest, unless
// the error is endStuck: then one goroutine of the library is lost, and the
// client must not be used again.
func (c *client) open(ctx context.Context) (w *wire, fresh bool, why *cause) {
	limited, cancel := context.WithTimeout(ctx, c.timing.Open)
	defer cancel()
	c.begin(limited)
	if err := c.call(limited); err != nil {
		return nil, false, c.failure(ctx, limited, err)
	}
	_, w = c.current()
	if w == nil {
		return nil, false, &cause{end: endUnreachable}
	}
	select {
	case fresh = <-c.up:
		return w, fresh, nil
	case <-w.done:
	case <-limited.Done():
		w.end(*c.failure(ctx, limited, limited.Err()))
	}
	if !c.settle() {
		return nil, false, &cause{end: endStuck}
	}
	failed := w.cause()
	return nil, false, &failed
}

// failure is the cause of an attempt that did not succeed.
func (c *client) failure(ctx, limited context.Context, err error) *cause {
	_, w := c.current()
	switch {
	case errors.Is(err, errStuck):
		return &cause{end: endStuck}
	case ctx.Err() != nil:
		return &cause{end: endLeft}
	case limited.Err() != nil && w != nil:
		return &cause{end: endSilent, duration: c.timing.Open}
	case limited.Err() != nil: // a network that swallows everything is no reason to lose the session
		return &cause{end: endUnreachable, err: os.ErrDeadlineExceeded}
	case w != nil:
		select {
		case <-w.done:
			if why := w.cause(); why.end != endLost || why.err != nil {
				return &why
			}
		default:
		}
	}
	return &cause{end: endUnreachable, err: err}
}

// errStuck says that the library's Open did not return.
var errStuck = errors.New("open session: the library does not return")

// call opens the library's session in a goroutine of its own, because it knows
// no limit. The goroutine is waited for: first as long as the attempt may take,
// and after that, with its connection gone, for the grace. One that stays away
// even then waits for a lock that it holds itself, and nothing can end it.
func (c *client) call(limited context.Context) error {
	result := make(chan error, 1)
	go func() { result <- fault.Guard("Discord's library", c.dg.Open)() }()
	select {
	case err := <-result:
		return err
	case <-limited.Done():
	}
	c.cut(cause{end: endLeft})
	grace := time.NewTimer(c.timing.Grace)
	defer grace.Stop()
	select {
	case err := <-result:
		if err == nil { // it succeeded at the last moment, on a wire that is cut
			c.settle()
		}
		return limited.Err()
	case <-grace.C:
		return errStuck
	}
}

// lull is how long a session rests between two connections. A goroutine of the
// library that was about to send a heartbeat when the connection ended closes the
// session a second time, and that must not be the next connection.
const lull = 100 * time.Millisecond

// settle waits until the library has let go of the connection that ended: it
// takes a second for that. Only then may it be opened again.
func (c *client) settle() bool {
	grace := time.NewTimer(c.timing.Grace)
	defer grace.Stop()
	select {
	case <-c.gone:
		time.Sleep(lull)
		return true
	case <-grace.C:
		return false
	}
}

// retire makes the client's events unwanted.
func (c *client) retire() { c.retired.Store(true) }
