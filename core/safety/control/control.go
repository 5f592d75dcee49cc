package control

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
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
	"ollimbot/core/base/fault"
)

// The variables of a session's environment.
const (
	SocketVar  = "OLLIM_SOCKET"  // the path of the socket
	SessionVar = "OLLIM_SESSION" // the token of the session
)

// Options of a server. Dir is required.
type Options struct {
	// Dir is a private folder of this bot. It contains the socket, if its path is short
	// enough.
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

// New returns a server that is not yet open.
func New(o Options) *Server {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Server{o: o, log: o.Log, tokens: map[*Token]struct{}{}}
}

// Open creates the socket and replaces the one of an earlier run. Call it before starting
// a process that uses the socket, and call Serve after it, which removes the socket.
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

// Path returns the path of the socket while it is open, and "" before and after.
func (s *Server) Path() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.socket == nil {
		return ""
	}
	return s.socket.path
}

// Serve answers calls until ctx ends, then removes the socket and waits for the
// running calls.
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
			// Probably out of file descriptors, which is temporary.
			if !down {
				s.log.Warn("control socket accepts no connections; retrying every second", "error", err)
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

// reply writes the answer, unless the caller has left or does not read.
func (s *Server) reply(conn net.Conn, r agent.CommandResult) {
	line, err := json.Marshal(answer(r))
	if err != nil {
		s.log.Error("answer to a command could not be written", "error", err)
		return
	}
	_ = conn.SetWriteDeadline(time.Now().Add(patience)) // a closed connection fails in Write
	if _, err := conn.Write(append(line, '\n')); err != nil {
		s.log.Debug("answer to a command was not taken", "error", err)
	}
}

func (s *Server) answer(ctx context.Context, conn net.Conn) agent.CommandResult {
	_ = conn.SetReadDeadline(time.Now().Add(patience)) // likewise in Read
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

// cancelWhenGone cancels a call whose caller has left, so that the user is not asked about
// an abandoned command. The function it returns stops watching.
func cancelWhenGone(conn net.Conn, cancel context.CancelFunc) (stop func()) {
	_ = conn.SetReadDeadline(time.Time{}) // Read reports it
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

// warnToken logs an unknown token, once a minute at most.
func (s *Server) warnToken() {
	s.mu.Lock()
	quiet := time.Since(s.warned) < time.Minute
	if !quiet {
		s.warned = time.Now()
	}
	s.mu.Unlock()
	if !quiet {
		s.log.Warn("command with an unknown token")
	}
}

// Issue returns a token that is valid at once. Its calls are run by c; a nil c refuses
// them. A nil server issues nil.
func (s *Server) Issue(c Command) *Token {
	if s == nil {
		return nil
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	t := &Token{value: base64.RawURLEncoding.EncodeToString(secret[:]), server: s, command: c}
	t.life, t.end = context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[t] = struct{}{}
	return t
}

// token returns the token with this value, or nil. It compares all of them in constant
// time, so that timing reveals nothing.
func (s *Server) token(value string) *Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *Token
	for t := range s.tokens {
		if subtle.ConstantTimeCompare([]byte(t.value), []byte(value)) == 1 {
			found = t
		}
	}
	return found
}

// Command runs an ollim-bot command line for one session if the session may run it. It may
// block until the user answers, and ends with ctx.
type Command func(ctx context.Context, args []string) agent.CommandResult

// Token identifies one session. A nil token belongs to a session without a socket: its
// methods do nothing.
type Token struct {
	value   string
	server  *Server
	command Command
	life    context.Context
	end     context.CancelFunc
}

// Env returns the environment variables for the session's process; none if the socket
// could not be opened.
func (t *Token) Env() []string {
	path, value := t.Door()
	if path == "" {
		return nil
	}
	return []string{SocketVar + "=" + path, SessionVar + "=" + value}
}

// Door returns the path of the socket and the token's value; both are empty without a
// socket.
func (t *Token) Door() (path, value string) {
	if t == nil {
		return "", ""
	}
	if path = t.server.Path(); path == "" {
		return "", ""
	}
	return path, t.value
}

// Revoke ends the token: running calls are cancelled, later ones are refused. It does not
// wait and is idempotent.
func (t *Token) Revoke() {
	if t == nil {
		return
	}
	t.server.mu.Lock()
	delete(t.server.tokens, t)
	t.server.mu.Unlock()
	t.end()
}

// call runs a command for the session; revoking the token cancels it.
func (t *Token) call(ctx context.Context, args []string) agent.CommandResult {
	if t.command == nil {
		return refusal(textNoWay)
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	defer context.AfterFunc(t.life, cancel)()
	if t.life.Err() != nil {
		return refusal(textUnknown)
	}
	return t.command(ctx, args)
}
