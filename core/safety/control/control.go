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
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/fault"
)

// Variables in a session's environment.
const (
	SocketVar  = "OLLIM_SOCKET"  // the path of the session's door
	SessionVar = "OLLIM_SESSION" // the token of the session
)

// Options of a server. Dir is required.
type Options struct {
	// Dir is a private folder of this bot. It contains the doors if the file system supports them.
	Dir string
	Log *slog.Logger // nil logs nothing
}

// Server is the bot's side of the doors. Use New, then Open, then Serve.
type Server struct {
	o     Options
	log   *slog.Logger
	calls sync.WaitGroup // one for each door and each call
	life  context.Context
	end   context.CancelFunc

	mu     sync.Mutex
	place  *place // nil until Open and after Serve
	tokens map[*Token]struct{}
	issued int
	warned time.Time // when a wrong token was last logged
}

// New returns a server that is not yet open.
func New(o Options) *Server {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Server{o: o, log: o.Log, tokens: map[*Token]struct{}{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Open creates the folder of the doors and replaces the one of an earlier run. Call it before the
// first Issue, and call Serve afterwards, which removes the folder.
func (s *Server) Open() error {
	p, err := openPlace(s.o.Dir)
	if err != nil {
		return fmt.Errorf("open the folder for commands: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place = &p
	return nil
}

// Serve accepts calls until ctx ends, then removes the doors and waits for the running calls.
func (s *Server) Serve(ctx context.Context) error {
	s.mu.Lock()
	p := s.place
	s.mu.Unlock()
	if p == nil {
		return errors.New("serve commands: the folder for them was never opened")
	}
	<-ctx.Done()
	s.end()
	s.mu.Lock()
	s.place = nil
	for t := range s.tokens {
		t.shut()
	}
	s.mu.Unlock()
	s.calls.Wait()
	return p.close()
}

// let serves the callers at a session's door until it is closed.
func (s *Server) let(t *Token) {
	slots := make(chan struct{}, atOnce)
	down := false
	for {
		conn, err := t.door.Accept()
		switch {
		case t.life.Err() != nil || s.life.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return
		case err != nil:
			// Probably out of file descriptors, which is temporary.
			if !down {
				s.log.Warn("a session's commands cannot be accepted; retrying every second", "error", err)
			}
			down = true
			select {
			case <-time.After(time.Second):
			case <-t.life.Done():
			case <-s.life.Done():
			}
			continue
		}
		down = false
		slots <- struct{}{}
		s.calls.Go(func() {
			defer func() { <-slots }()
			s.serve(s.life, t, conn)
		})
	}
}

// serve answers one call.
func (s *Server) serve(ctx context.Context, t *Token, conn conn) {
	defer func() { _ = conn.Close() }()
	defer fault.Rescue("a call", func(f *fault.Error) {
		s.log.Error("a command panicked", "error", f)
		s.reply(conn, refusal(textFault))
	})
	s.reply(conn, s.answer(ctx, t, conn))
}

// reply writes the answer, unless the caller has left or does not read it.
func (s *Server) reply(conn conn, r agent.CommandResult) {
	line, err := json.Marshal(answer(r))
	if err != nil {
		s.log.Error("answer to a command could not be written", "error", err)
		return
	}
	_ = conn.SetWriteDeadline(time.Now().Add(patience)) // a closed connection fails in Write
	if _, err := conn.Write(append(line, '\n')); err != nil {
		s.log.Debug("answer to a command was not read", "error", err)
	}
}

func (s *Server) answer(ctx context.Context, t *Token, conn conn) agent.CommandResult {
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
	if subtle.ConstantTimeCompare([]byte(t.value), []byte(r.Token)) != 1 {
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
func cancelWhenGone(conn conn, cancel context.CancelFunc) (stop func()) {
	_ = conn.SetReadDeadline(time.Time{}) // Read reports the error
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

// warnToken logs an unknown token, at most once a minute.
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

// Issue returns a token that is valid immediately. c runs its calls; if c is nil, they are refused.
// A nil server issues nil.
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
	if s.place == nil {
		return t
	}
	s.issued++
	door, err := openDoor(filepath.Join(s.place.folder, strconv.Itoa(s.issued)))
	if err != nil {
		s.log.Error("a session's commands cannot reach the bot", "error", err)
		return t
	}
	t.door = door
	s.tokens[t] = struct{}{}
	s.calls.Go(func() { s.let(t) })
	return t
}

// Command runs an ollim-bot command line for one session if the session may run it. It may block
// until the user answers, and ends with ctx.
type Command func(ctx context.Context, args []string) agent.CommandResult

// Token identifies one session. A nil token belongs to a session without a door; its methods do
// nothing.
type Token struct {
	value   string
	server  *Server
	command Command
	door    *door // nil without one
	life    context.Context
	end     context.CancelFunc
}

// Env returns the environment variables for the session's process; none if it has no
// door.
func (t *Token) Env() []string {
	path, value := t.Door()
	if path == "" {
		return nil
	}
	return []string{SocketVar + "=" + path, SessionVar + "=" + value}
}

// Door returns the path of the door and the token's value; both are empty without a door,
// and after the server has ended.
func (t *Token) Door() (path, value string) {
	if t == nil || t.door == nil || t.server.life.Err() != nil {
		return "", ""
	}
	return t.door.Path(), t.value
}

// Revoke ends the token: running calls are cancelled and later ones refused. It does not wait and
// is idempotent.
func (t *Token) Revoke() {
	if t == nil {
		return
	}
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	t.shut()
}

// shut ends the token. The server's lock is held.
func (t *Token) shut() {
	t.end()
	if _, open := t.server.tokens[t]; !open {
		return
	}
	delete(t.server.tokens, t)
	if err := t.door.Close(); err != nil {
		t.server.log.Warn("a session's door for commands was not removed", "error", err)
	}
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
