package control

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/fault"
)

// Options of a server. Dir is required.
type Options struct {
	// Dir is a private folder of the bot's, which no two running bots share. The
	// socket is put there where the path is short enough.
	Dir string
	Log *slog.Logger // nil logs nothing
}

// Server is the bot's end of the socket. Use New, then Open, then Serve.
type Server struct {
	o   Options
	log *slog.Logger

	mu     sync.Mutex
	tokens map[*Token]struct{}
	socket *socket   // nil until Open
	warned time.Time // when a wrong token was last logged
}

// New returns a server that is not open yet.
func New(o Options) *Server {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Server{o: o, log: o.Log, tokens: map[*Token]struct{}{}}
}

// Open makes the socket, before the first process is started that is to reach
// it. What an earlier run of the bot has left in its place goes. It is followed
// by Serve, which removes it.
func (s *Server) Open() error {
	socket, err := listen(s.o.Dir)
	if err != nil {
		return fmt.Errorf("open the control socket: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.socket = socket
	return nil
}

// Path is where the socket is, the same for as long as it is open; empty before
// and after.
func (s *Server) Path() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.socket == nil {
		return ""
	}
	return s.socket.path
}

// Serve answers calls until ctx ends, then removes the socket and waits for the
// calls that are under way.
func (s *Server) Serve(ctx context.Context) error {
	s.mu.Lock()
	socket := s.socket
	s.mu.Unlock()
	if socket == nil {
		return errors.New("serve the control socket: it was never opened")
	}
	var calls sync.WaitGroup
	defer calls.Wait()
	closed := make(chan error, 1)
	context.AfterFunc(ctx, func() { closed <- socket.close() })
	slots := make(chan struct{}, atOnce)
	down := false
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		conn, err := socket.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			s.mu.Lock()
			s.socket = nil
			s.mu.Unlock()
			return <-closed
		case err != nil:
			// No handles left, most likely: that passes.
			if !down {
				s.log.Warn("control socket takes no connections; trying again each second", "error", err)
			}
			down = true
			<-slots
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			continue
		}
		down = false
		calls.Go(func() {
			defer func() { <-slots }()
			s.serve(ctx, conn)
		})
	}
}

// serve answers one connection.
func (s *Server) serve(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	defer fault.Rescue("a call", func(f *fault.Error) {
		s.log.Error("control socket: a call panicked", "error", f)
		s.reply(conn, refusal(textFault))
	})
	s.reply(conn, s.answer(ctx, conn))
}

// reply writes the answer. A caller that is gone, or does not read, goes without.
func (s *Server) reply(conn net.Conn, r agent.CommandResult) {
	line, err := json.Marshal(answer(r))
	if err != nil {
		s.log.Error("answer to a command could not be written", "error", err)
		return
	}
	_ = conn.SetWriteDeadline(time.Now().Add(patience)) // a connection that is gone tells with Write
	if _, err := conn.Write(append(line, '\n')); err != nil {
		s.log.Debug("answer to a command was not taken", "error", err)
	}
}

func (s *Server) answer(ctx context.Context, conn net.Conn) agent.CommandResult {
	_ = conn.SetReadDeadline(time.Now().Add(patience)) // likewise with Read
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })()
	line, err := bufio.NewReader(io.LimitReader(conn, maxRequest)).ReadBytes('\n')
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refusal(fmt.Sprintf(textSlow, patience))
	case errors.Is(err, io.EOF) && len(line) == maxRequest:
		return refusal(fmt.Sprintf(textTooLarge, maxRequest>>10))
	case err != nil && !errors.Is(err, io.EOF):
		return refusal(textGarbage)
	}
	var r request
	if err := json.Unmarshal(bytes.TrimSpace(line), &r); err != nil || r.Token == "" {
		return refusal(textGarbage)
	}
	t := s.token(r.Token)
	if t == nil {
		s.warnToken()
		return refusal(textUnknown)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer cancelWhenGone(conn, cancel)()
	return t.call(ctx, r.Args)
}

// cancelWhenGone cancels a call whose caller is gone: nobody is to be asked for the
// permission of a command that was given up. The function it returns ends it.
func cancelWhenGone(conn net.Conn, cancel context.CancelFunc) (stop func()) {
	_ = conn.SetReadDeadline(time.Time{}) // Read tells
	var watch sync.WaitGroup
	watch.Go(func() {
		var more [1]byte
		if _, err := conn.Read(more[:]); !errors.Is(err, os.ErrDeadlineExceeded) {
			cancel()
		}
	})
	return func() {
		_ = conn.SetReadDeadline(time.Now())
		watch.Wait()
	}
}

// warnToken logs a token that nobody has, once a minute at most.
func (s *Server) warnToken() {
	s.mu.Lock()
	quiet := time.Since(s.warned) < time.Minute
	if !quiet {
		s.warned = time.Now()
	}
	s.mu.Unlock()
	if !quiet {
		s.log.Warn("a command came with a token that no open session has")
	}
}
