package control

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/storage/store"
)

const socketName = "control.sock"

// socket is a listener with what must be removed behind it.
type socket struct {
	net.Listener
	path   string
	folder string // made for it alone, or empty
}

// listen opens the socket in dir, or in a fresh private folder where the path
// would be too long or the file system has no sockets.
func listen(dir string) (*socket, error) {
	if path := filepath.Join(dir, socketName); len(path) <= store.MaxSocketPath {
		if l, err := store.ListenSocket(path); err == nil {
			return &socket{Listener: l, path: path}, nil
		}
	}
	folder, err := freshFolder(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, socketName)
	l, err := store.ListenSocket(path)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return &socket{Listener: l, path: path, folder: folder}, nil
}

// freshFolder makes a folder that only we can enter, and removes those of earlier
// runs: all over the same directory, and over others where no bot listens any more.
// Where others can write too, the folder's name cannot be foreseen.
func freshFolder(dir string) (string, error) {
	sum := sha256.Sum256([]byte(dir))
	prefix := "ollim-" + hex.EncodeToString(sum[:4]) + "-"
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		if !filepath.IsAbs(parent) || len(filepath.Join(parent, prefix+"0123456789", socketName)) > store.MaxSocketPath {
			continue
		}
		left, _ := filepath.Glob(filepath.Join(parent, "ollim-*-*")) // tidying only
		for _, folder := range left {
			if strings.HasPrefix(filepath.Base(folder), prefix) || store.Abandoned(filepath.Join(folder, socketName)) {
				_ = os.RemoveAll(folder) // another user's stays
			}
		}
		if folder, err := os.MkdirTemp(parent, prefix); err == nil {
			return folder, nil
		}
	}
	return "", errors.New(textNoPlace)
}

// close removes the socket, and the folder that was made for it.
func (s *socket) close() error {
	err := s.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if s.folder != "" {
		err = errors.Join(err, os.RemoveAll(s.folder))
	}
	return err
}

// Command runs the bot's own command line for one session, and decides whether
// the session may. It may block while a person thinks and ends with ctx.
type Command func(ctx context.Context, args []string) agent.CommandResult

// Token stands for one session. Nil is the token of a session without a socket:
// its methods do nothing.
type Token struct {
	value   string
	server  *Server
	command Command
	life    context.Context
	end     context.CancelFunc
}

// Issue makes a token that counts from now on, for calls that c carries out; nil
// refuses them. A nil server issues nil.
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

// Env is what the environment of the session's process carries; nothing where
// the socket could not be opened.
func (t *Token) Env() []string {
	path, value := t.Door()
	if path == "" {
		return nil
	}
	return []string{SocketVar + "=" + path, SessionVar + "=" + value}
}

// Door is the path of the socket and the token's value; both are empty while there
// is no socket.
func (t *Token) Door() (path, value string) {
	if t == nil {
		return "", ""
	}
	if path = t.server.Path(); path == "" {
		return "", ""
	}
	return path, t.value
}

// Revoke ends the token: calls under way are cancelled, later ones refused. It
// waits for nobody and is idempotent.
func (t *Token) Revoke() {
	if t == nil {
		return
	}
	t.server.mu.Lock()
	delete(t.server.tokens, t)
	t.server.mu.Unlock()
	t.end()
}

// token is the one with this value, or nil. All are compared, each in constant
// time, so that the time tells nothing.
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

// call runs a command for the session; the end of the token cancels it.
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
