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

	"ollimbot/core/fault"
)

// listen answers until ctx ends. A listener that dies, or that cannot be had, is
// told once and replaced as soon as that is possible.
func (s *Server) listen(ctx context.Context, listen func(context.Context) (net.Listener, error)) {
	for {
		l, err := listen(ctx)
		if err == nil {
			s.setAddr(l.Addr().String())
			s.o.Log.Info("webhooks are taken", "addr", l.Addr().String())
			s.taken()
			err = s.serve(ctx, l)
			s.setAddr("")
		}
		if ctx.Err() != nil {
			return
		}
		s.notTaken(err)
		pause := time.NewTimer(retryEvery)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
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
		s.notTaken(err)
	default:
		s.mu.Lock()
		calm := s.trouble == "" || time.Since(s.troubled) > time.Minute
		s.mu.Unlock()
		if calm {
			s.taken()
		}
	}
}

// notTaken tells, once, why no connection can be accepted.
func (s *Server) notTaken(err error) {
	why := acceptTrouble(err)
	s.mu.Lock()
	known := s.trouble == why
	s.trouble, s.troubled = why, time.Now()
	s.mu.Unlock()
	if !known {
		s.o.Log.Error(textNotTaken, "error", why)
	}
}

// taken tells that connections are accepted again.
func (s *Server) taken() {
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
		ConnContext:    withGuest,
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
	err := server.Serve(newGate(l, maxConnections, s.accepted))
	ended()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, closer.Wait())
}

// maxConnections is how many connections are held at once.
const maxConnections = 256

// gate is a listener with room for a fixed number of connections. When it is
// full, or the process has no file handle left, the oldest goes on which no
// delivery is being written down: thousands of idle or slow connections cost
// nothing but themselves, and whoever has something to deliver gets through. A
// limit that lets new ones wait would let the slow ones keep them waiting.
type gate struct {
	net.Listener
	room int
	// accepted is told what came of each Accept.
	accepted func(error)

	mu     sync.Mutex
	guests []*guest // the oldest first
}

// guest is one connection.
type guest struct {
	net.Conn
	gate    *gate
	serving bool // guarded by gate.mu
}

func newGate(l net.Listener, room int, accepted func(error)) *gate {
	return &gate{Listener: l, room: room, accepted: accepted}
}

// Accept waits for the next connection that there is room for. Errors are those
// of the listener as they are: net/http knows by their type which will pass, and
// tries those again.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		g.accepted(err)
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			g.evict()
		}
		if err != nil {
			return nil, err
		}
		one := &guest{Conn: c, gate: g}
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

// admit takes a guest in, if need be in the place of another, which is to be
// closed. Not ok: all are being answered.
func (g *gate) admit(one *guest) (out *guest, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.guests) >= g.room {
		i := slices.IndexFunc(g.guests, func(o *guest) bool { return !o.serving })
		if i < 0 {
			return nil, false
		}
		out = g.guests[i]
		g.guests = slices.Delete(g.guests, i, i+1)
	}
	g.guests = append(g.guests, one)
	return out, true
}

// evict closes the oldest connection that can go, for its file handle.
func (g *gate) evict() {
	g.mu.Lock()
	i := slices.IndexFunc(g.guests, func(o *guest) bool { return !o.serving })
	var out *guest
	if i >= 0 {
		out = g.guests[i]
		g.guests = slices.Delete(g.guests, i, i+1)
	}
	g.mu.Unlock()
	if out != nil {
		_ = out.Conn.Close() // nobody is answered on it
	}
}

// Close closes the connection and makes room.
func (c *guest) Close() error {
	c.gate.mu.Lock()
	if i := slices.Index(c.gate.guests, c); i >= 0 {
		c.gate.guests = slices.Delete(c.gate.guests, i, i+1)
	}
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

func (c *guest) serve(on bool) {
	c.gate.mu.Lock()
	c.serving = on
	c.gate.mu.Unlock()
}

// guestKey finds a request's connection: net/http has no other way to it.
type guestKey struct{}

func withGuest(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, guestKey{}, c)
}

// serving marks the request's connection as one that a delivery is being written
// down for, and returns the function that takes the mark away.
func serving(r *http.Request) func() {
	c, ok := r.Context().Value(guestKey{}).(*guest)
	if !ok {
		return func() {}
	}
	c.serve(true)
	return func() { c.serve(false) }
}
