package attach

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"ollimbot/core"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/unixsocket"
)

// ServerOptions are the options of a server. All but Host and Settings are required.
type ServerOptions struct {
	Bot     *core.Bot
	Log     *slog.Logger
	Version string // of the program
	// Listen opens the socket.
	Listen func() (net.Listener, error)
	// Token is what clients must send. Empty refuses every client.
	Token func() string
	// Host is this machine, for the top line of viewers on another one.
	Host string
	// Settings is the directory of the user's settings. Empty saves nothing.
	Settings string
	// Tidy is called some seconds after the number of viewers has changed.
	Tidy func()
}

const (
	maxViewers = 40
	// tidyAfter is how long the number of viewers must be unchanged before ServerOptions.Tidy is called.
	tidyAfter = 3 * time.Second
)

// Server accepts viewers. Use NewServer.
type Server struct {
	o    ServerOptions
	tidy *time.Timer // runs after the number of viewers has changed

	conns, serial atomic.Int32
	online        sync.WaitGroup // connections

	refusing rate.Sometimes // logs refused clients
}

// NewServer returns a server that is not open yet.
func NewServer(o ServerOptions) *Server {
	tidy := time.AfterFunc(tidyAfter, o.Tidy)
	tidy.Stop()
	return &Server{o: o, tidy: tidy, refusing: rate.Sometimes{First: 3, Interval: time.Minute}}
}

// Run accepts viewers until ctx ends, then ends them and waits until they have left. If the socket cannot be opened,
// the log says why and the bot works without it.
func (s *Server) Run(ctx context.Context) error {
	l, err := s.o.Listen()
	if err != nil {
		s.o.Log.Error("attaching is not possible", "error", err)
		return nil
	}
	defer s.online.Wait()
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
			return nil
		case err != nil: // probably no file descriptors left; this is temporary
			failing.Do(func() { s.o.Log.Warn("no viewer can attach; trying again each second", "error", err) })
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			continue
		}
		s.online.Go(func() {
			defer fault.Rescue("a viewer", func(f *fault.Error) { s.o.Log.Error("a viewer broke", "error", f) })
			defer func() { _ = conn.Close() }()
			if conn, ok := conn.(*net.UnixConn); ok {
				s.connection(ctx, conn)
			}
		})
	}
}

// connection serves one client.
func (s *Server) connection(ctx context.Context, conn *net.UnixConn) {
	s.tidy.Reset(tidyAfter)
	defer s.tidy.Reset(tidyAfter)
	defer s.conns.Add(-1)
	count := s.conns.Add(1)
	if !unixsocket.Ours(conn) {
		s.refusing.Do(func() { s.o.Log.Warn("a viewer of another user was refused") })
		return
	}
	hangUp := context.AfterFunc(ctx, func() { _ = conn.Close() })
	wire, h, files, err := greet(conn)
	if !hangUp() {
		closeAll(files)
		return
	}
	if err != nil {
		s.o.Log.Debug("no viewer", "error", err)
		_ = newWire(conn, nil).send(message{Do: doBye, Text: fmt.Sprintf(textNotOurs, s.o.Version)}) // it may be gone
		return
	}
	defer closeAll(files)
	why := s.refuses(h)
	if count > maxViewers {
		why = fmt.Sprintf(textManyViewers, maxViewers)
	}
	if why != "" {
		_ = wire.send(message{Do: doBye, Text: why}) // it may be gone
		return
	}
	v := &viewer{server: s, wire: wire, hello: h, in: files[0], out: files[1]}
	v.serve(ctx)
}

// refuses returns why a client cannot attach, or "".
func (s *Server) refuses(h hello) string {
	token := s.o.Token()
	switch {
	case h.Protocol != protocol:
		return fmt.Sprintf(textOtherVersion, s.o.Version, h.Version)
	case token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(h.Token)) != 1:
		s.refusing.Do(func() { s.o.Log.Warn("a viewer without the token was refused") })
		return textNoToken
	}
	return ""
}

// refusal is the reason why a viewer ends that its user can do something about.
type refusal string

func (r refusal) Error() string { return string(r) }

// isRefusal returns the reason of an error, or "".
func isRefusal(err error) (why refusal) {
	errors.As(err, &why)
	return why
}

// Texts for viewers.
const (
	textManyViewers  = "%d viewers are attached already: close one first"
	textOtherVersion = "the bot is version %s and this program is version %s: restart the bot"
	textNotOurs      = "the bot, version %s, does not understand this program: restart the bot"
	textOldBot       = "the bot is of an earlier version, and this program is version %s: restart the bot"
	textOtherUser    = "the bot belongs to another user"
	textNoToken      = "the token is wrong: the bot may just have started; try again"
	textNoTerminal   = "this is no terminal: use --plain for lines"
	textDumb         = "TERM=dumb: this terminal cannot show the dashboard; use --plain for lines"
	textEnded        = "the bot has ended"
	textBroke        = "internal fault, this viewer has ended; the bot keeps running, and its log has the details"
	textLooksOnly    = "a viewer that may only look opens nothing"

	textPaused = "ollim-bot: suspended until fg; the bot keeps running\r\n"
	textLost   = "ollim-bot: the connection to %s is lost; ctrl+c stops reconnecting\n"
	textWaits  = "\r\x1b[Kollim-bot: reconnecting in %d s, r to retry now"
)
