// Package control owns the control socket: the way on which the bot's own
// commands, called in the model's shell, reach the bot that runs. Such a command
// needs neither state/ nor .env nor a token of the user's in its sight, and what
// it may do is decided by the session that called it.
//
// A token stands for one session. Whoever starts the session's process gives it
// the token in its environment, and revokes it at the end. The package owns the socket, the wire format and the limits. It
// must not know what a command means, nor who may run which.
//
// A request is one line of JSON, and so is its answer. What is no request gets
// an answer with a sentence and does no harm.
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
	"ollimbot/core/base/fault"
)

// The variables of a session's environment.
const (
	SocketVar  = "OLLIM_SOCKET"  // the path of the socket
	SessionVar = "OLLIM_SESSION" // the token of the session
)

const (
	// maxRequest is more than a command line holds that a model writes.
	maxRequest = 1 << 20
	// maxAnswer is what the client reads of an answer: a long session's history,
	// as JSON in JSON.
	maxAnswer = 64 << 20
	// atOnce is how many connections are served at the same time; more wait.
	atOnce = 16
	// patience is how long the other end may take for a line.
	patience = 5 * time.Second
	// callLimit is how long a call may take: a minute until the user has answered,
	// and a minute for the command.
	callLimit = 2 * time.Minute
)

// request is what the client sends.
type request struct {
	Token string   `json:"token"`
	Args  []string `json:"args"`
}

// answer is what it gets: what the command printed and its exit status.
type answer struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Exit   int    `json:"exit"`
}

// refusal is an answer that says why nothing was done.
func refusal(text string) agent.CommandResult {
	return agent.CommandResult{Stderr: "ollim-bot: " + text + "\n", Exit: 1}
}

// Call asks the bot behind the socket to run a command line, and waits for its
// end. The error says what to do.
func Call(path, token string, args []string) (agent.CommandResult, error) {
	conn, err := net.DialTimeout("unix", path, patience)
	if err != nil {
		return agent.CommandResult{}, fmt.Errorf(textGone, err)
	}
	defer conn.Close()
	limit := callLimit + patience
	_ = conn.SetDeadline(time.Now().Add(limit)) // a connection that is gone tells with Write
	line, err := json.Marshal(request{Token: token, Args: args})
	if err != nil {
		return agent.CommandResult{}, fmt.Errorf("write the request: %w", err)
	}
	// The answer may come before all was read: a request that is too long.
	_, sent := conn.Write(append(line, '\n'))
	data, err := io.ReadAll(io.LimitReader(conn, maxAnswer))
	if len(data) == 0 {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		if sent != nil {
			err = sent
		}
		return agent.CommandResult{}, fmt.Errorf(textNoAnswer, limit, err)
	}
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return agent.CommandResult{}, fmt.Errorf(textBadWords, err)
	}
	return agent.CommandResult(a), nil
}

// What a caller is told. Each says what to do.
const (
	textGarbage  = "this is no request: the socket is for the ollim-bot command"
	textTooLarge = "the command line is longer than %d KiB: shorten it"
	textSlow     = "no request came within %s"
	textUnknown  = "this session has ended, or never was one: commands work while the session that they were started in is open"
	textNoWay    = "this session takes no commands"
	textFault    = "the command failed with an internal fault: the bot's log says more"

	textGone     = "the bot that started this session has ended, so its commands cannot be run: start the bot again (%w)"
	textNoAnswer = "the bot did not answer: it has ended in the meantime, or the command took longer than %s (%w)"
	textBadWords = "the bot's answer could not be read: is the command as new as the bot? (%w)"

	textNoPlace = "no folder has a path that is short enough for a socket: set TMPDIR to a short one"
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
