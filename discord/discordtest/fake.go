// Package discordtest is a Discord on loopback for tests: gateway and REST in one
// server, with state, clocks, rate limits and fault plans.
//
// It owns what a bot can see of Discord: channels, messages, nonces,
// interactions, commands, sessions and their replay. Every request is held
// against Discord's own description of its API and against the rules which that
// description lacks; so is every answer of the fake, which keeps it from
// drifting. It must not know the bot: it imports nothing of ours, and only tests
// import it.
package discordtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Options say what the application and its owner look like. The zero value is
// a bot with the token "token" and an owner called "owner".
type Options struct {
	Token string // bot token without its "Bot " prefix
	Owner User   // who Server.User plays; an empty ID is filled in
	Team  *Team  // the application belongs to a team, and the team to the owner
	// Heartbeat is the interval that HELLO asks for; 0 means Discord's 41.25 s.
	Heartbeat time.Duration
	// Now replaces the clock of everything that has a deadline; nil is time.Now.
	// Server.Advance works on top of either.
	Now func() time.Time
	// Limits enforces rate limits: 5 creates and 5 edits per channel in 5 s, 50
	// requests a second, one IDENTIFY in 5 s.
	Limits bool
	// AnyPresence takes presences with keys that Discord's documentation does not list, as
	// discordgo sends them. Discord itself ignores the keys.
	AnyPresence bool
	// SessionStarts is how many IDENTIFYs /gateway/bot says are left; 0 is 1000.
	SessionStarts int
	// NoContract switches off the check against Discord's description, which
	// costs milliseconds a request. The rules of rules.go stay on.
	NoContract bool
}

// Server is one running fake. All methods are safe for concurrent use.
type Server struct {
	o        Options
	app      string // application id; the bot's user has the same
	bot      User
	base, ws string
	contract *contract // nil: not checked
	gate     *gate
	server   *http.Server
	stop     context.CancelFunc
	stopped  context.Context // ends with Close; handlers that wait watch it
	skew     atomic.Int64    // nanoseconds that Advance added
	served   sync.WaitGroup  // Serve itself
	tb       testing.TB      // nil in StartProcess

	mu       sync.Mutex // guards everything below
	closed   bool
	handlers sync.WaitGroup // Add only under mu and while not closed
	changed  chan struct{}  // closed at the next change
	token    string
	world
	gateway
	faults []*fault
	holds  map[string]chan struct{}
	limits map[string]*window
}

// Start runs a fake on 127.0.0.1 until the test ends. Whatever breaks the
// contract is an error of t. It stops the test when the description of the API
// is required (OLLIM_REQUIRE_CONTRACT=1) and absent.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := start(t, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// StartProcess runs a fake without a test around it, for stories over the real
// binary. Violations collects what Start would report; Close ends it.
func StartProcess(o Options) (*Server, error) { return start(nil, o) }

func start(t testing.TB, o Options) (*Server, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the fake: %w", err)
	}
	s := &Server{
		o: withDefaults(o), tb: t, gate: &gate{Listener: l}, changed: make(chan struct{}),
		base: "http://" + l.Addr().String(), ws: "ws://" + l.Addr().String() + "/",
		holds: make(map[string]chan struct{}), limits: make(map[string]*window),
	}
	s.token = s.o.Token
	s.stopped, s.stop = context.WithCancel(context.Background())
	s.world = newWorld()
	s.gateway = gateway{sessions: make(map[string]*session), startsLeft: s.o.SessionStarts}
	s.app = s.next(s.now())
	s.bot = User{ID: s.app, Username: "ollim", Bot: true}
	if s.o.Owner.ID == "" {
		s.o.Owner.ID = s.next(s.now())
	}
	s.users[s.o.Owner.ID], s.users[s.app] = s.o.Owner, s.bot
	if !o.NoContract {
		if s.contract, err = openContract(t, theContract); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	s.served.Go(func() {
		if err := s.server.Serve(s.gate); !errors.Is(err, http.ErrServerClosed) {
			s.violate("the server stopped: %v", err)
		}
	})
	return s, nil
}

func withDefaults(o Options) Options {
	o.Token = cmp.Or(o.Token, "token")
	o.Owner.Username = cmp.Or(o.Owner.Username, "owner")
	o.Heartbeat = cmp.Or(o.Heartbeat, 41250*time.Millisecond)
	o.SessionStarts = cmp.Or(o.SessionStarts, 1000)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Close cuts every connection and waits until nothing of the fake runs. It is
// safe to call more than once.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.stop()
	err := s.server.Close()
	s.gate.shut(true)
	s.served.Wait()
	s.handlers.Wait()
	if err != nil {
		return fmt.Errorf("close the fake: %w", err)
	}
	return nil
}

// URL is the base that a transport sends every request for discord.com and its
// CDN to: scheme and host only, the path stays as it is.
func (s *Server) URL() string { return s.base }

// Checked reports whether requests are held against Discord's description.
func (s *Server) Checked() bool { return s.contract != nil }

// Bot is the user that the token belongs to. Its ID is the application's too.
func (s *Server) Bot() User { return s.bot }

// Owner is the person whom Server.User plays.
func (s *Server) Owner() User { return s.o.Owner }

// Advance moves the clock of the fake: ids, nonces, interactions and rate
// limits grow older by d. Heartbeats and delays keep to real time.
func (s *Server) Advance(d time.Duration) {
	s.skew.Add(int64(d))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change()
}

// ResetToken makes another token the valid one, as a person does in the
// Developer Portal. Connections that are up stay up until they are closed.
func (s *Server) ResetToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

// Violations are the breaches of the contract so far, in words.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all.Violations)
}

// now is the time on the clock of the fake.
func (s *Server) now() time.Time { return s.o.Now().Add(time.Duration(s.skew.Load())) }

// violate notes a breach of the contract. Callers do not hold mu.
func (s *Server) violate(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	s.all.Violations = append(s.all.Violations, text)
	late := s.closed
	s.change()
	s.mu.Unlock()
	if s.tb != nil && !late {
		s.tb.Errorf("discord: %s", text)
	}
}

// change wakes whoever waits for one. Callers hold mu.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// ServeHTTP is the whole of Discord: gateway, attachments, REST.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.handlers.Add(1)
	s.mu.Unlock()
	defer s.handlers.Done()
	defer s.noPanic()
	switch {
	case r.Header.Get("Upgrade") != "":
		s.serveGateway(w, r)
	case strings.HasPrefix(r.URL.Path, attachmentRoot):
		s.serveAttachment(w, r)
	default:
		s.serveREST(w, r)
	}
}

// noPanic turns a panic of one of our goroutines into a violation. A handler
// that gives up its connection on purpose is none.
func (s *Server) noPanic() {
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler:
		panic(v)
	default:
		s.violate("the fake panicked: %v", v)
	}
}

// gate is a listener that can play a server which is down. It keeps the port,
// so that no other test can take it meanwhile, and resets whatever knocks.
type gate struct {
	net.Listener

	mu   sync.Mutex // guards what follows
	down bool
	open []net.Conn // all that came in since it was down last
}

// Accept hands out the next connection that may come in.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		g.mu.Lock()
		down := g.down
		if !down {
			g.open = append(g.open, c)
		}
		g.mu.Unlock()
		if !down {
			return c, nil
		}
		reset(c)
	}
}

// shut cuts what is open and lets nothing in until it is called with false.
func (g *gate) shut(down bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.down = down; down {
		for _, c := range g.open {
			reset(c)
		}
		g.open = nil
	}
}

// reset ends a connection the hard way: the peer sees neither an answer nor an
// orderly end. What the closing reports does not matter any more.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// Down plays an outage: open connections are reset, new ones are turned away
// until Up.
func (s *Server) Down() { s.gate.shut(true) }

// Up ends an outage.
func (s *Server) Up() { s.gate.shut(false) }
