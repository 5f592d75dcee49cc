// Package discordtest is a Discord on loopback for tests: gateway and REST in one
// server, with state, clocks, rate limits and planned faults.
//
// It owns everything of Discord that a bot can see. world is the state, rest and gateway are the two interfaces to
// it, and rules.go has Discord's documented rules. Requests, and the fake's own answers, are checked against
// Discord's description of its API. The package must not know the bot: it does not import our packages, and only
// tests import it.
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

// Options describe the application and its owner. The zero value is a bot with the token "token" and an owner called
// "owner".
type Options struct {
	Token string // bot token without its "Bot " prefix
	Owner User   // the user played by Server.User; an empty ID is filled in
	Team  bool   // the application belongs to a team, and the team to the owner
	// Heartbeat is the interval in HELLO; 0 means Discord's 41.25 s.
	Heartbeat time.Duration
	// Now replaces the clock for deadlines; nil is time.Now. Server.Advance works on top of either.
	Now func() time.Time
	// Limits enforces rate limits: 5 creates and 5 edits per channel in 5 s, 50
	// requests a second, one IDENTIFY in 5 s.
	Limits bool
	// AnyPresence accepts presences with undocumented keys, such as those that discordgo sends. Discord itself ignores
	// the keys.
	AnyPresence bool
	// SessionStarts is the number of remaining IDENTIFYs that /gateway/bot reports; 0 is 1000.
	SessionStarts int
	// NoContract switches off the check against Discord's description, which
	// costs milliseconds a request. The rules of rules.go stay on.
	NoContract bool
}

// Server is one running fake. All methods are safe for concurrent use.
type Server struct {
	*gateway // DropSocket, Op9, Dispatch and other actions on connections
	*faults  // Fault, NoFaults, Release

	world   *world
	rest    *rest
	gate    *gate
	http    *http.Server
	stop    context.CancelFunc // ends the context of every request
	stopped context.Context
	skew    atomic.Int64   // nanoseconds that Advance added
	served  sync.WaitGroup // Serve itself

	handlers sync.WaitGroup // Add only under the world's lock and while it is not closed
}

// Start runs a fake on 127.0.0.1 until the test ends. A breach of the contract fails t.
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

// StartProcess runs a fake outside of a test, for stories with the real binary. Violations returns the breaches that
// Start would report; Close ends the fake.
func StartProcess(o Options) (*Server, error) { return start(nil, o) }

func start(t testing.TB, o Options) (*Server, error) {
	o = withDefaults(o)
	var k *contract
	if !o.NoContract {
		var err error
		if k, err = theContract(); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the fake: %w", err)
	}
	s := &Server{gate: &gate{Listener: l}, faults: &faults{holds: make(map[string]chan struct{})}}
	s.stopped, s.stop = context.WithCancel(context.Background())
	s.world = newWorld(t, o, "http://"+l.Addr().String())
	s.world.now = func() time.Time { return o.Now().Add(time.Duration(s.skew.Load())) }
	s.world.populate(o.Owner)
	s.gateway = newGateway(s.world, o)
	s.rest = &rest{w: s.world, gateway: s.gateway, faults: s.faults, contract: k, limits: &limiter{w: s.world, on: o.Limits, windows: make(map[string]*window)}}
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return s.stopped },
	}
	s.served.Go(func() {
		if err := s.http.Serve(s.gate); !errors.Is(err, http.ErrServerClosed) {
			s.world.violate("the server stopped: %v", err)
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

// Close cuts every connection and waits until the fake has stopped. It is safe to call more than once.
func (s *Server) Close() error {
	s.world.mu.Lock()
	if s.world.closed {
		s.world.mu.Unlock()
		return nil
	}
	s.world.closed = true
	s.world.mu.Unlock()
	s.stop()
	err := s.http.Close()
	s.gate.shut(true)
	s.served.Wait()
	s.handlers.Wait()
	if err != nil {
		return fmt.Errorf("close the fake: %w", err)
	}
	return nil
}

// ServeHTTP serves all of Discord: gateway, attachments, REST.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.world.mu.Lock()
	if s.world.closed {
		s.world.mu.Unlock()
		return
	}
	s.handlers.Add(1)
	s.world.mu.Unlock()
	defer s.handlers.Done()
	defer s.world.noPanic()
	switch {
	case r.Header.Get("Upgrade") != "":
		s.serveSocket(w, r)
	case strings.HasPrefix(r.URL.Path, attachmentRoot):
		s.rest.serveAttachment(w, r)
	default:
		s.rest.serve(w, r)
	}
}

// URL is the base to which a transport sends every request for discord.com and its CDN: scheme and host only; the
// path stays unchanged.
func (s *Server) URL() string { return s.world.base }

// Bot is the user of the token. Its ID is also the application's.
func (s *Server) Bot() User { return s.world.bot }

// Owner is the user played by Server.User.
func (s *Server) Owner() User { return s.world.owner }

// Advance moves the clock of the fake: IDs, nonces, interactions and rate limits age by d. Heartbeats and delays use
// real time.
func (s *Server) Advance(d time.Duration) {
	s.skew.Add(int64(d))
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	s.world.change()
}

// ResetToken replaces the valid token, as in the Developer Portal. Open connections stay up until they are closed.
func (s *Server) ResetToken(token string) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	s.world.token = token
}

// Violations returns descriptions of all breaches of the contract so far.
func (s *Server) Violations() []string {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	return slices.Clone(s.world.all.Violations)
}

// State returns the current state.
func (s *Server) State() State {
	st, _ := s.world.look()
	return st
}

// patience is how long Wait waits for an event that should happen at once. It is long because the machine may be
// busy.
const patience = 10 * time.Second

var errClosed = errors.New("the fake is closed")

// Wait returns the first state that satisfies ok. It checks at every change, and after 10 s fails the test with the
// last state.
func (s *Server) Wait(t testing.TB, what string, ok func(State) bool) State {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	st, err := s.WaitContext(ctx, what, ok)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// WaitContext is Wait with the caller's deadline. The error wraps the one
// of the context and describes the last state.
func (s *Server) WaitContext(ctx context.Context, what string, ok func(State) bool) (State, error) {
	for {
		st, changed := s.world.look()
		if ok(st) {
			return st, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return st, fmt.Errorf("wait for %s: %w\n%s", what, ctx.Err(), st)
		case <-s.stopped.Done():
			return st, fmt.Errorf("wait for %s: %w", what, errClosed)
		}
	}
}

// User is the owner of the application, in the direct messages with the bot.
func (s *Server) User() *Person { return &Person{w: s.world, User: s.world.owner} }

// Stranger returns a new user with separate direct messages.
func (s *Server) Stranger() *Person { return s.world.somebody(User{Username: "stranger"}) }

// OtherBot returns a new bot that writes to ours.
func (s *Server) OtherBot() *Person { return s.world.somebody(User{Username: "other", Bot: true}) }

// Down simulates an outage: open connections are reset and new ones refused
// until Up.
func (s *Server) Down() { s.gate.shut(true) }

// Up ends an outage.
func (s *Server) Up() { s.gate.shut(false) }
