// Package fakeapi is a Messages API on 127.0.0.1 that the real claude command
// talks to in tests and in stories. It owns the HTTP side: what a request
// holds, which answer it gets, the events of a streamed answer and the ways in
// which an answer can fail. It must not know the claude command's own protocol,
// sessions or the bot, and only tests import it: nothing that ships does.
//
// What the API answers stands in the prompt itself, as a script: a list of
// steps in JSON between "@@" and "@@" (see Script). The server keeps no
// conversation, the history that comes with every request says which step is
// next. So a tool loop, a fork and a resumed session find their place alone.
package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// ErrClosed is what Wait returns when the server was closed first.
var ErrClosed = errors.New("the fake API is closed")

// Options are the choices at the start of a server.
type Options struct {
	Key string       // the one API key that is let in, others get 401; empty lets everybody in
	Log *slog.Logger // one line for each request, without contents; nil logs nothing
}

// Server is a running fake API. All methods may be called at any time and from
// any goroutine.
type Server struct {
	o       Options
	url     string
	http    *http.Server
	end     context.CancelFunc // ends the context of every request
	serving sync.WaitGroup     // the accept loop, ended by Close
	served  error              // how the accept loop ended; read after serving

	mu       sync.Mutex
	closed   bool
	running  sync.WaitGroup // handlers; Add under mu while not closed
	record   []Request
	changed  chan struct{} // closed and made new whenever record changes
	pushed   []Step
	decide   func(Request) (Step, bool)
	failures map[string]int // by key of a step: how often it has failed
	gates    map[string]*gate
}

// Start listens on a free port of 127.0.0.1 and serves until Close.
func Start(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	ctx, end := context.WithCancel(context.Background())
	s := &Server{
		o:        o,
		url:      "http://" + l.Addr().String(),
		end:      end,
		changed:  make(chan struct{}),
		failures: map[string]int{},
		gates:    map[string]*gate{},
	}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
	s.serving.Go(func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.served = err
		}
	})
	return s, nil
}

// URL is the base address, for ANTHROPIC_BASE_URL, without a slash at its end.
func (s *Server) URL() string { return s.url }

// Close ends every connection, held ones too, and returns when no handler is
// left. A second Close does nothing but wait as well.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	if first {
		s.announce()
	}
	s.mu.Unlock()

	s.end()
	err := s.http.Close()
	s.running.Wait()
	s.serving.Wait()
	if err = errors.Join(err, s.served); err != nil {
		return fmt.Errorf("close the fake API: %w", err)
	}
	return nil
}

// enter counts a handler in; false when the server is closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Add(1)
	}
	return !s.closed
}
