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

// listen serves until ctx ends. If the address cannot be listened on, or the listener
// fails, it reports that once and tries again until it works.
func (s *Server) listen(ctx context.Context, listen func(context.Context) (net.Listener, error)) {
	for {
		l, err := listen(ctx)
		if err == nil {
			s.setAddr(l.Addr().String())
			s.o.Log.Info("webhooks are on", "addr", l.Addr().String())
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

// accepted handles the result of an Accept. Trouble is over after a minute without
// errors: file handles can run out and be freed with each connection.
func (s *Server) accepted(err error) {
	switch {
	case errors.Is(err, net.ErrClosed): // the server stops, or listen reports it
	case err != nil:
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			s.conns.evict()
		}
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

// notAccepting reports once why no connection can be accepted.
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

// acceptingAgain reports that connections are accepted again.
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

// serve answers requests on the listener until ctx ends.
func (s *Server) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ConnContext:    func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ConnState:      s.conns.changed,
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
	err := server.Serve(reporting{l, s.accepted})
	ended()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, closer.Wait())
}

// maxConnections is how many connections are open at once.
const maxConnections = 256

// reporting is a listener that reports the result of each Accept.
type reporting struct {
	net.Listener
	accepted func(error)
}

func (l reporting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	l.accepted(err)
	return c, err
}

// connections are the open connections of the server. When there are too many, or the
// process has no file handle left, it closes the oldest one on which no delivery is being
// saved. A limit that made new connections wait would let slow clients block deliveries.
type connections struct {
	room int

	mu     sync.Mutex
	open   []net.Conn // oldest first
	saving map[net.Conn]bool
}

func newConnections(room int) *connections {
	return &connections{room: room, saving: map[net.Conn]bool{}}
}

// changed follows the state of a connection, as http.Server.ConnState does.
func (g *connections) changed(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		g.mu.Lock()
		full := len(g.open) >= g.room
		g.mu.Unlock()
		if full && !g.evict() {
			_ = c.Close() // a delivery is being saved on each of the others
			return
		}
		g.mu.Lock()
		g.open = append(g.open, c)
		g.mu.Unlock()
	case http.StateClosed, http.StateHijacked:
		g.remove(c)
	}
}

// remove takes a connection out of the list.
func (g *connections) remove(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.open, c); i >= 0 {
		g.open = slices.Delete(g.open, i, i+1)
	}
	delete(g.saving, c)
}

// evict closes the oldest connection on which no delivery is being saved, if there is one.
func (g *connections) evict() bool {
	g.mu.Lock()
	i := slices.IndexFunc(g.open, func(c net.Conn) bool { return !g.saving[c] })
	if i < 0 {
		g.mu.Unlock()
		return false
	}
	out := g.open[i]
	g.open = slices.Delete(g.open, i, i+1)
	g.mu.Unlock()
	_ = out.Close() // its client gets no answer
	return true
}

// connKey is the context key of a request's connection, which net/http does not expose.
type connKey struct{}

// protect keeps the request's connection from being closed until the returned function
// is called.
func (g *connections) protect(r *http.Request) (release func()) {
	c, ok := r.Context().Value(connKey{}).(net.Conn)
	if !ok { // a request without a connection, in a test
		return func() {}
	}
	g.mu.Lock()
	g.saving[c] = true
	g.mu.Unlock()
	return func() {
		g.mu.Lock()
		delete(g.saving, c)
		g.mu.Unlock()
	}
}
