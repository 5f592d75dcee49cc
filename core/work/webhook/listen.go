package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/fault"
)

// listen answers until ctx ends. A listener that dies, or that cannot be had, is
// told once and replaced as soon as that is possible.
func (s *Server) listen(ctx context.Context, listen func(context.Context) (net.Listener, error)) {
	for {
		l, err := listen(ctx)
		if err == nil {
			s.setAddr(l.Addr().String())
			s.o.Log.Info("webhooks are taken", "addr", l.Addr().String())
			s.acceptingAgain()
			err = s.serve(ctx, l)
			s.setAddr("")
		}
		if ctx.Err() != nil {
			return
		}
		s.notAccepting(err)
		select {
		case <-time.After(retryEvery):
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) setAddr(addr string) {
	s.mu.Lock()
	s.addr = addr
	s.mu.Unlock()
	s.o.Changed()
}

// accepted is told what came of each Accept. After trouble a minute of calm
// means that it is over: handles may come and go by the connection.
func (s *Server) accepted(err error) {
	switch {
	case errors.Is(err, net.ErrClosed): // the end, or listen tells it
	case err != nil:
		s.notAccepting(err)
	default:
		s.mu.Lock()
		calm := s.trouble == "" || time.Since(s.troubled) > time.Minute
		s.mu.Unlock()
		if calm {
			s.acceptingAgain()
		}
	}
}

// notAccepting tells, once, why no connection can be accepted.
func (s *Server) notAccepting(err error) {
	why := acceptTrouble(err)
	s.mu.Lock()
	known := s.trouble == why
	s.trouble, s.troubled = why, time.Now()
	s.mu.Unlock()
	if !known {
		s.o.Log.Error(textNotTaken, "error", why)
	}
}

// acceptingAgain tells that connections are accepted again.
func (s *Server) acceptingAgain() {
	s.mu.Lock()
	again := s.trouble != ""
	s.trouble = ""
	s.mu.Unlock()
	if again {
		s.o.Log.Info(textTakenAgain)
		s.o.Notice(textTakenAgain)
	}
}

// serve answers on the listener until ctx ends.
func (s *Server) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ConnContext:    func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ErrorLog:       slog.NewLogLogger(quiet{s.o.Log.Handler()}, slog.LevelDebug),
	}
	serving, ended := context.WithCancel(ctx)
	var closer errgroup.Group
	closer.Go(fault.Guard("the webhooks' listener", func() error {
		<-serving.Done()
		patience, release := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer release()
		if server.Shutdown(patience) != nil {
			return server.Close()
		}
		return nil
	}))
	err := server.Serve(newEvictor(l, maxConnections, s.accepted))
	ended()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, closer.Wait())
}

// maxConnections is how many connections are held at once.
const maxConnections = 256

// evictor is a listener with room for a fixed number of connections. When it is
// full, or the process has no file handle left, the oldest goes on which no
// delivery is being written down: thousands of idle or slow connections cost
// nothing but themselves, and whoever has something to deliver gets through. A
// limit that lets new ones wait would let the slow ones keep them waiting.
type evictor struct {
	net.Listener
	room int
	// accepted is told what came of each Accept.
	accepted func(error)

	mu    sync.Mutex
	conns []*conn // the oldest first
}

// conn is one connection.
type conn struct {
	net.Conn
	of      *evictor
	serving bool // guarded by of.mu
}

func newEvictor(l net.Listener, room int, accepted func(error)) *evictor {
	return &evictor{Listener: l, room: room, accepted: accepted}
}

// Accept waits for the next connection that there is room for. Errors are those
// of the listener as they are: net/http knows by their type which will pass, and
// tries those again.
func (g *evictor) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		g.accepted(err)
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			g.evict()
		}
		if err != nil {
			return nil, err
		}
		one := &conn{Conn: c, of: g}
		out, ok := g.admit(one)
		if out != nil {
			_ = out.Conn.Close() // nobody is answered on it
		}
		if ok {
			return one, nil
		}
		_ = c.Close() // the same
	}
}

// admit takes a connection in, if need be in the place of another, which is to be
// closed. Not ok: all are being answered.
func (g *evictor) admit(one *conn) (out *conn, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.conns) >= g.room {
		if out = g.oldestIdle(); out == nil {
			return nil, false
		}
	}
	g.conns = append(g.conns, one)
	return out, true
}

// evict closes the oldest connection that can go, for its file handle.
func (g *evictor) evict() {
	g.mu.Lock()
	out := g.oldestIdle()
	g.mu.Unlock()
	if out != nil {
		_ = out.Conn.Close() // nobody is answered on it
	}
}

// oldestIdle takes out the oldest connection that is not being answered; nil where
// there is none. mu is held.
func (g *evictor) oldestIdle() *conn {
	for i, c := range g.conns {
		if !c.serving {
			g.conns = slices.Delete(g.conns, i, i+1)
			return c
		}
	}
	return nil
}

// Close closes the connection and makes room.
func (c *conn) Close() error {
	c.of.mu.Lock()
	if i := slices.Index(c.of.conns, c); i >= 0 {
		c.of.conns = slices.Delete(c.of.conns, i, i+1)
	}
	c.of.mu.Unlock()
	return c.Conn.Close()
}

func (c *conn) serve(on bool) {
	c.of.mu.Lock()
	c.serving = on
	c.of.mu.Unlock()
}

// connKey finds a request's connection: net/http has no other way to it.
type connKey struct{}

// serving marks the request's connection as one that a delivery is being written
// down for, and returns the function that takes the mark away.
func serving(r *http.Request) func() {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return func() {}
	}
	c.serve(true)
	return func() { c.serve(false) }
}
