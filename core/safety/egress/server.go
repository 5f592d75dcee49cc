package egress

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"
	"golang.org/x/net/netutil"
	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/fault"
	"ollimbot/core/base/hosts"
)

// Options of a Server.
type Options struct {
	Log *slog.Logger // logs refusals; may be nil
	// Lookup resolves names; nil means the system's resolver.
	Lookup Lookup
}

// Server is the bot's side for all sandboxes. Its methods may be called concurrently.
type Server struct {
	lookup Lookup
	log    *refusalLog
	key    []byte // signs the passes
	group  errgroup.Group

	mu       sync.Mutex // guards the fields below
	closed   bool
	sessions map[*yamux.Session]bool
	listener net.Listener // for passes; nil until the first one is issued
}

// New returns a Server. It starts nothing.
func New(o Options) *Server {
	if o.Lookup == nil {
		o.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	return &Server{lookup: o.Lookup, log: newRefusalLog(o.Log), key: key, sessions: map[*yamux.Session]bool{}}
}

// Pair returns the link of a new sandbox, for Run inside it. It is served until all copies of it
// are closed.
func (s *Server) Pair(list hosts.List) (*os.File, error) {
	syscall.ForkLock.RLock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf(errNoProxy, err)
	}
	here, there := os.NewFile(uintptr(pair[0]), "link"), os.NewFile(uintptr(pair[1]), "link")
	conn, err := net.FileConn(here)
	if err := errors.Join(err, here.Close()); err != nil {
		return nil, fmt.Errorf(errNoProxy, errors.Join(err, there.Close()))
	}
	if err := s.start(func() { s.serve(conn, list) }); err != nil {
		return nil, errors.Join(err, conn.Close(), there.Close())
	}
	return there, nil
}

// Pass allows its holder to open a link with Join. It is valid as long as the Server.
type Pass struct {
	Address string // the bot's address on loopback
	Line    string // the list, signed
}

// Pass returns a pass for a list.
func (s *Server) Pass(list hosts.List) (Pass, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return Pass{}, fmt.Errorf(errNoProxy, err)
		}
		s.listener = l
		if err := s.startLocked(func() { s.receive(l) }); err != nil {
			return Pass{}, errors.Join(err, l.Close())
		}
	}
	text := list.String()
	return Pass{Address: s.listener.Addr().String(), Line: s.sign(text) + " " + text}, nil
}

func (s *Server) sign(text string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// start starts a goroutine that Close waits for.
func (s *Server) start(f func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.startLocked(f)
}

func (s *Server) startLocked(f func()) error {
	if s.closed {
		return fmt.Errorf(errNoProxy, net.ErrClosed)
	}
	s.group.Go(fault.Guard("the way out of a sandbox", func() error {
		f()
		return nil
	}))
	return nil
}

const (
	passTime = 10 * time.Second
	// maxPass is longer than the pass of the longest list, in bytes.
	maxPass = 64 << 10
)

// receive accepts links that present a pass.
func (s *Server) receive(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if s.start(func() { s.admit(conn) }) != nil {
			_ = conn.Close()
			return
		}
	}
}

// admit serves a link whose first line is a pass.
func (s *Server) admit(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(passTime))
	// No byte after the line is read: the other side waits for the answer.
	line, err := bufio.NewReader(io.LimitReader(conn, maxPass)).ReadString('\n')
	mac, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	if err != nil || !hmac.Equal([]byte(mac), []byte(s.sign(text))) {
		_ = conn.Close()
		return
	}
	list, err := hosts.Parse(text)
	if err == nil {
		_, err = conn.Write([]byte{passed})
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = conn.Close()
		return
	}
	s.serve(conn, list)
}

// serve runs the proxy of one sandbox until its link ends.
func (s *Server) serve(link net.Conn, list hosts.List) {
	session, err := yamux.Server(link, muxed())
	if err != nil {
		_ = link.Close()
		return
	}
	s.mu.Lock()
	late := s.closed
	s.sessions[session] = true
	s.mu.Unlock()
	if late {
		_ = session.Close()
	}
	newProxy(&gate{hosts: list, lookup: s.lookup, dial: dial, refused: s.log.perSandbox()}).serve(netutil.LimitListener(session, maxConnections))
	_ = session.Close()
	s.mu.Lock()
	delete(s.sessions, session)
	s.mu.Unlock()
}

// muxed returns the settings of a link. Both ends are on one machine, so a link that exists works.
func muxed() *yamux.Config {
	c := yamux.DefaultConfig()
	c.EnableKeepAlive, c.LogOutput = false, io.Discard
	c.ConnectionWriteTimeout = time.Minute // on a busy machine
	c.StreamCloseTimeout = time.Hour       // one side may have ended long before the other
	return c
}

func dial(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", at.String())
}

// Close ends all connections of all sandboxes, and returns when they have ended.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	if s.listener != nil {
		_ = s.listener.Close()
	}
	for session := range s.sessions {
		_ = session.Close()
	}
	s.mu.Unlock()
	_ = s.group.Wait()
}
