package attach

import (
	"context"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/fault"
	"ollimbot/core/safety/access"
	"ollimbot/core/safety/audit"
)

// Options of a server. All but Listen, Host and Commands are required.
type Options struct {
	Bot *core.Bot
	Log *slog.Logger
	// Socket opens the socket, whose clients must present Token.
	Socket func() (net.Listener, error)
	// Token authenticates clients of the socket. The user can read it in the data directory; a model's command cannot.
	// Empty rejects every client.
	Token func() string
	// Listen is the address of the port, host:port; empty opens none.
	Listen string
	// HostKey returns the bot's host key, Find the line for a key offered by a client.
	HostKey func() (ssh.Signer, error)
	Find    func(ssh.PublicKey) (access.Key, bool, error)
	// Host is this machine, for the top line of remote viewers.
	Host string
	// Environ is the environment of the editor: the bot's own.
	Environ []string
	// Settings is the directory of the user's settings, with a folder for the choices of each key. Empty saves nothing.
	Settings string
	// Tidy is called some seconds after the number of viewers has changed.
	Tidy func()
	// Commands runs a read-only command for a client.
	Commands func(ctx context.Context, args []string) agent.CommandResult
}

// The limits before and after authentication.
const (
	handshakeTime = 10 * time.Second
	authTries     = 3
	maxPending    = 48 // handshakes at a time
	maxPerAddress = 32 // from one address, more than a household starts at once
	maxRefusals   = 16 // refused connections at a time that get a reason
	maxConns      = 64
	maxViewers    = 40
	maxSessions   = 4 // of one connection
	// An idle connection is pinged, and closed after keptMissing pings without an answer.
	keepalive   = 15 * time.Second
	keptMissing = 8
	// tidyAfter is how long the number of viewers must be unchanged before Options.Tidy is called.
	tidyAfter = 3 * time.Second
	// unknownGap is the minimum interval of logging an address that offers unknown keys.
	unknownGap = time.Hour
)

// Server accepts viewers. Use New.
type Server struct {
	o      Options
	key    func() (ssh.Signer, error) // once
	online sync.WaitGroup             // connections
	tidy   *time.Timer                // runs after the number of viewers has changed

	conns, viewers, serial, refusals atomic.Int32

	busy rate.Sometimes // logs refused connections

	mu      sync.Mutex
	pending map[string]int       // handshakes by address
	unknown map[string]time.Time // when an address was last logged
}

// New returns a server that is not open yet.
func New(o Options) *Server {
	tidy := time.AfterFunc(tidyAfter, o.Tidy)
	tidy.Stop()
	return &Server{
		o: o, key: sync.OnceValues(o.HostKey), tidy: tidy, busy: rate.Sometimes{Interval: time.Minute},
		pending: map[string]int{}, unknown: map[string]time.Time{},
	}
}

// Run accepts viewers until ctx ends, then notifies them and waits until they have left. If the socket or the port
// cannot be opened, the log says why and the bot works without it.
func (s *Server) Run(ctx context.Context) error {
	var g errgroup.Group
	serve := func(name string, open func() (net.Listener, error), config func() *ssh.ServerConfig) {
		l, err := open()
		if err != nil {
			s.o.Log.Error("attaching is not possible", "where", name, "error", err)
			return
		}
		if name == "port" {
			s.o.Log.Info("viewers can attach", "address", l.Addr().String())
		}
		g.Go(fault.Guard("the door of viewers", func() error { s.accept(ctx, l, config); return nil }))
	}
	serve("socket", s.o.Socket, s.socketConfig)
	if s.o.Listen != "" {
		serve("port", func() (net.Listener, error) { return net.Listen("tcp", s.o.Listen) }, s.portConfig)
	}
	err := g.Wait()
	s.online.Wait()
	return err
}

// accept serves the connections of a listener, and closes it at the end.
func (s *Server) accept(ctx context.Context, l net.Listener, config func() *ssh.ServerConfig) {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })() // Accept reports the end
	failing := rate.Sometimes{Interval: time.Minute}
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			_ = l.Close()
			return
		case err != nil: // probably no file descriptors left; this is temporary
			failing.Do(func() { s.o.Log.Warn("no viewer can attach; trying again each second", "error", err) })
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			continue
		}
		from := address(conn)
		if !s.admit(from) {
			s.busy.Do(func() { s.o.Log.Warn("viewers are refused: too many connect at once", "address", from) })
			s.online.Go(func() { s.refuse(ctx, conn) })
			continue
		}
		s.online.Go(func() {
			defer fault.Rescue("a viewer", func(f *fault.Error) { s.o.Log.Error("a viewer's connection broke", "error", f) })
			defer s.conns.Add(-1)
			defer func() { _ = conn.Close() }()
			s.connection(ctx, conn, from, config())
		})
	}
}

// local is the address of a connection over the socket.
const local = "socket"

// address is the connection's remote host, without the port.
func address(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return local
	}
	return host
}

// admit counts a new connection, which starts with a handshake, if the limits allow it.
func (s *Server) admit(from string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := 0
	for _, n := range s.pending {
		all += n
	}
	if all >= maxPending || from != local && s.pending[from] >= maxPerAddress || s.conns.Load() >= maxConns {
		return false
	}
	s.pending[from]++
	s.conns.Add(1)
	return true
}

// refuse closes a connection above the limit. It sends the reason, unless too many are being refused.
func (s *Server) refuse(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	defer s.refusals.Add(-1)
	if s.refusals.Add(1) > maxRefusals {
		return
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_ = conn.SetDeadline(time.Now().Add(farewell)) // a closed one fails below
	if _, err := conn.Write(disconnect(textBusy)); err != nil {
		return
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // it is closed next
	}
	_, _ = io.Copy(io.Discard, conn) // unread bytes would reset it before the reason arrives
}

// disconnect returns the bytes that a server sends to end before the handshake: its version, and a message with the
// reason "too many connections" (RFC 4253, 6 and 11.1).
func disconnect(text string) []byte {
	payload := ssh.Marshal(struct {
		Reason         uint32 `sshtype:"1"`
		Text, Language string
	}{Reason: tooMany, Text: text})
	padding := 16 - (5+len(payload))%8
	packet := binary.BigEndian.AppendUint32([]byte(version+"\r\n"), uint32(1+len(payload)+padding))
	packet = append(append(packet, byte(padding)), payload...)
	return append(packet, make([]byte, padding)...)
}

// tooMany is the reason of a disconnect: SSH_DISCONNECT_TOO_MANY_CONNECTIONS.
const tooMany = 12

// shaken records the end of a handshake.
func (s *Server) shaken(from string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending[from]--; s.pending[from] <= 0 {
		delete(s.pending, from)
	}
}

// viewer counts a viewer in or out, and returns their number.
func (s *Server) viewer(by int32) int32 {
	s.tidy.Reset(tidyAfter)
	return s.viewers.Add(by)
}

// connection serves one connection: handshake, then sessions.
func (s *Server) connection(ctx context.Context, conn net.Conn, from string, config *ssh.ServerConfig) {
	sshConn, channels, requests, err := s.handshake(ctx, conn, from, config)
	if err != nil {
		s.o.Log.Debug("no viewer", "address", from, "error", err)
		return
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := &client{server: s, conn: sshConn, from: from}
	var all sync.WaitGroup
	all.Go(func() { ssh.DiscardRequests(requests) })
	all.Go(func() { KeepAlive(ctx, sshConn, keepalive*keptMissing) })
	c.serve(ctx, channels, &all)
	stop()
	_ = conn.Close() // ends everything still using it
	all.Wait()
}

// serve accepts sessions until the connection ends. It closes an idle connection, and every
// connection once ctx and its sessions have ended.
func (c *client) serve(ctx context.Context, channels <-chan ssh.NewChannel, all *sync.WaitGroup) {
	var open atomic.Int32
	hangUp := func() { _ = c.conn.Close() }
	unused := func() {
		if open.Load() == 0 {
			hangUp()
		}
	}
	idle := time.AfterFunc(handshakeTime, unused)
	defer idle.Stop()
	defer context.AfterFunc(ctx, func() {
		unused()
		time.AfterFunc(3*farewell, hangUp) // frees the session of a client that does not read, after its own farewell
	})()
	for channel := range channels {
		switch {
		case channel.ChannelType() != "session":
			_ = channel.Reject(ssh.Prohibited, textNoForwarding)
		case open.Load() >= maxSessions || ctx.Err() != nil:
			_ = channel.Reject(ssh.ResourceShortage, textManySessions)
		default:
			open.Add(1)
			all.Go(func() {
				defer func() {
					open.Add(-1)
					idle.Reset(handshakeTime)
					if ctx.Err() != nil {
						unused()
					}
				}()
				defer fault.Rescue("a viewer", func(f *fault.Error) { c.server.o.Log.Error("a viewer broke", "error", f) })
				c.session(ctx, channel)
			})
		}
	}
}

// handshake authenticates the client within handshakeTime.
func (s *Server) handshake(ctx context.Context, conn net.Conn, from string, config *ssh.ServerConfig) (
	*ssh.ServerConn, <-chan ssh.NewChannel, <-chan *ssh.Request, error,
) {
	defer s.shaken(from)
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	key, err := s.key()
	if err != nil {
		s.o.Log.Error("attaching is not possible", "error", err)
		return nil, nil, nil, err
	}
	config.AddHostKey(key)
	if err := conn.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return nil, nil, nil, err
	}
	c, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return nil, nil, nil, err
	}
	return c, channels, requests, conn.SetDeadline(time.Time{})
}

// client is an authenticated connection.
type client struct {
	server *Server
	conn   *ssh.ServerConn
	from   string
}

func (c *client) may(what string) string { return c.conn.Permissions.Extensions[what] }

// saving is how long the file of keys may be incomplete while an editor saves it.
const saving = 300 * time.Millisecond

// less reports whether the client's key may do less now than when it came, also after the time of a save. The
// caller's input waits meanwhile.
func (c *client) less() bool {
	if !c.lessNow() {
		return false
	}
	time.Sleep(saving)
	return c.lessNow()
}

// lessNow is less for the file as it is: the key has become read-only or lost its line, or nothing is
// known about it.
func (c *client) lessNow() bool {
	if c.may(permKey) == "" {
		return false // it came over the socket
	}
	public, err := ssh.ParsePublicKey([]byte(c.may(permPublic)))
	if err != nil {
		return true
	}
	key, ok, err := c.server.o.Find(public)
	return err != nil || !ok || key.ReadOnly && c.may(permReadOnly) == ""
}

// KeepAlive pings the other end until ctx ends, and closes the connection if it does not
// answer in time.
func KeepAlive(ctx context.Context, conn ssh.Conn, answers time.Duration) {
	tick := time.NewTicker(keepalive)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		late := time.AfterFunc(answers, func() { _ = conn.Close() })
		_, _, err := conn.SendRequest("keepalive@openssh.com", true, nil)
		late.Stop()
		if err != nil {
			return
		}
	}
}

// origin adds the viewer's name for the audit log.
func (c *client) origin(ctx context.Context, serial int32) context.Context {
	where := c.may(permName)
	if c.from != local {
		where += " from " + c.from
	}
	return audit.With(ctx, audit.User, fmt.Sprintf("viewer %d: %s", serial, where))
}

// The extensions of a connection's permissions: a key that was offered but not proven must have no effect.
const (
	permName     = "name"
	permReadOnly = "read-only"
	permKey      = "key"
	permPublic   = "public" // the key itself
)

// version is the server version on the socket and on the port.
const version = "SSH-2.0-ollim-bot"

// socketConfig accepts the token.
func (s *Server) socketConfig() *ssh.ServerConfig {
	return &ssh.ServerConfig{
		MaxAuthTries: authTries, ServerVersion: version,
		PasswordCallback: func(_ ssh.ConnMetadata, word []byte) (*ssh.Permissions, error) {
			token := s.o.Token()
			if token == "" || subtle.ConstantTimeCompare([]byte(token), word) != 1 {
				return nil, errors.New("another token")
			}
			return &ssh.Permissions{Extensions: map[string]string{permName: "this machine"}}, nil
		},
	}
}

// portConfig accepts the keys of authorized_keys.
func (s *Server) portConfig() *ssh.ServerConfig {
	return &ssh.ServerConfig{
		MaxAuthTries: authTries, ServerVersion: version,
		PublicKeyAuthAlgorithms: ssh.SupportedAlgorithms().PublicKeyAuths, // only secure ones
		PublicKeyCallback: func(meta ssh.ConnMetadata, public ssh.PublicKey) (*ssh.Permissions, error) {
			mark := ssh.FingerprintSHA256(public)
			key, ok, err := s.o.Find(public)
			if err != nil || !ok {
				s.logUnknown(meta.RemoteAddr().String(), mark, err)
				return nil, errors.New("another key")
			}
			e := map[string]string{permName: strings.TrimSpace(key.Name + " " + mark[:len("SHA256:")+8]), permKey: mark, permPublic: string(public.Marshal())}
			if key.ReadOnly {
				e[permReadOnly] = "yes"
			}
			return &ssh.Permissions{Extensions: e}, nil
		},
	}
}

// logUnknown logs an unknown key, once an hour for each address: a client may offer
// several.
func (s *Server) logUnknown(address, fingerprint string, err error) {
	host, _, _ := net.SplitHostPort(address)
	now := time.Now()
	s.mu.Lock()
	maps.DeleteFunc(s.unknown, func(_ string, at time.Time) bool { return now.Sub(at) >= unknownGap || len(s.unknown) > 10_000 })
	_, known := s.unknown[host]
	if !known {
		s.unknown[host] = now
	}
	s.mu.Unlock()
	switch {
	case known:
	case err != nil:
		s.o.Log.Error("a viewer was refused", "address", host, "error", err)
	default:
		s.o.Log.Warn("a viewer with an unknown key was refused", "address", host, "fingerprint", fingerprint)
	}
}
