package webhook

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/config"
	"ollimbot/core/store"
)

// What a client may take.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 15 * time.Second // longer than reading may take: who was too slow is told so
	idleTimeout   = 30 * time.Second
	drainTimeout  = 250 * time.Millisecond // for the rest of a payload that is refused unread
	maxHeader     = 8 << 10                // bytes
	// stopTimeout is how long answers may take that are under way at the end.
	stopTimeout = time.Second
	// screenTimeout is how long the small model may think.
	screenTimeout = time.Minute
)

// Why New makes no server.
var (
	// ErrNoSecret says that WEBHOOK_SECRET is not set: without one everybody on
	// this machine could wake the bot.
	ErrNoSecret = errors.New("webhooks stay off: set WEBHOOK_SECRET to a long random text")
	// ErrAddress says that the address is not one of this machine alone.
	ErrAddress = errors.New("webhooks are taken on loopback only: give an address such as 127.0.0.1:8420")
)

// Options are the parts of a Server. Dir, Index, Secret, Addr and Run are
// required.
type Options struct {
	Dir    *store.Dir
	Index  *Index
	Secret config.Secret
	Addr   string         // "127.0.0.1:8420"; port 0 takes a free one
	Zone   *time.Location // of the times in deliveries; nil is UTC
	Log    *slog.Logger
	// Screen asks the small model, without tools, about the texts of a payload
	// (ScreenPrompt, ParseVerdict). It may block. Nil, or an error, holds the
	// delivery.
	Screen func(ctx context.Context, fields map[string]string) (safe bool, flagged []string, err error)
	// Run runs a delivery in the background and returns when it has ended; until
	// then it counts among the 10 at once. ctx ends with the server's. It is
	// called concurrently.
	Run func(ctx context.Context, j Job) error
	// Note leaves a pending update for the main session; nil leaves none.
	Note func(text string)
	// Changed is called after everything that Deliveries shows; it must not block.
	Changed func()
}

// Server takes deliveries. Use New.
type Server struct {
	o     Options
	token [sha256.Size]byte // of what the Authorization header has to be
	book  *book
	limit limiter
	// queue has room for all that can be active, so that sending never blocks.
	queue chan *task

	mu       sync.Mutex
	active   int  // deliveries that are queued, screened or running
	stopping bool // nothing is taken any more
	addr     string
}

// task is a delivery on its way through the work.
type task struct {
	job   Job
	entry *Delivery // the book's
}

// New reads the ledger. It starts and writes nothing.
func New(o Options) (*Server, error) {
	if o.Dir == nil || o.Index == nil || o.Run == nil {
		return nil, errors.New("make the webhook server: a part is missing in its options")
	}
	if strings.TrimSpace(o.Secret.Reveal()) == "" {
		return nil, ErrNoSecret
	}
	if err := checkLoopback(o.Addr); err != nil {
		return nil, err
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return &Server{
		o: o, token: sha256.Sum256([]byte(bearer + o.Secret.Reveal())),
		book: newBook(o), queue: make(chan *task, atOnce),
	}, nil
}

// checkLoopback refuses addresses that others than this machine reach, and
// names, which may lead anywhere.
func checkLoopback(addr string) error {
	at, err := netip.ParseAddrPort(addr)
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return ErrAddress
	}
	return nil
}

// Deliveries are the newest 100, the newest first.
func (s *Server) Deliveries() []Delivery {
	list := s.book.deliveries()
	for i := range list {
		list[i].At = list[i].At.In(s.o.Zone)
		if !list[i].Ended.IsZero() {
			list[i].Ended = list[i].Ended.In(s.o.Zone)
		}
	}
	return list
}

// Addr is where deliveries are taken; empty while they are not.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Run takes deliveries until ctx ends, which is not an error, and returns when
// nothing of them is under way any more. A port that is taken is an error. It
// is called once.
func (s *Server) Run(ctx context.Context) error {
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", s.o.Addr)
	if err != nil {
		return fmt.Errorf("take webhooks on %s: %w; choose another WEBHOOK_PORT if it is in use", s.o.Addr, err)
	}
	return s.run(ctx, l)
}

// run owns everything that the server starts; l is closed when it returns.
func (s *Server) run(ctx context.Context, l net.Listener) error {
	s.mu.Lock()
	s.addr = l.Addr().String()
	s.mu.Unlock()
	s.o.Log.Info("webhooks are taken", "addr", l.Addr().String())
	for _, d := range s.book.cutOff(time.Now()) {
		if d.Outcome == Accepted {
			s.o.Note(fmt.Sprintf(noteLost, d.Webhook, d.ID))
		}
	}
	s.book.tell()

	stop := make(chan struct{})
	var writer errgroup.Group
	writer.Go(guarded(func() error { s.book.write(stop); return nil }))

	g, inner := errgroup.WithContext(ctx)
	g.Go(guarded(func() error { return s.serve(inner, l) }))
	g.Go(guarded(func() error { return s.work(inner) }))
	err := g.Wait()

	close(stop) // only now: the work's last words belong into the ledger
	s.mu.Lock()
	s.addr = ""
	s.mu.Unlock()
	return errors.Join(err, writer.Wait())
}

// guarded turns a panic into an error: in our own goroutine it would leave the
// terminal raw.
func guarded(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("internal fault in the webhook server: %s", faultWords(p))
			}
		}()
		return f()
	}
}

// serve answers on the listener until ctx ends.
func (s *Server) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ConnContext:    withGuest,
		ErrorLog:       slog.NewLogLogger(quiet{s.o.Log.Handler()}, slog.LevelDebug),
	}
	serving, ended := context.WithCancel(ctx)
	var closer errgroup.Group
	closer.Go(guarded(func() error {
		<-serving.Done()
		patience, release := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer release()
		if server.Shutdown(patience) != nil {
			return server.Close()
		}
		return nil
	}))
	err := server.Serve(newGate(l, maxConnections))
	ended()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("take webhooks: %w", err)
	}
	return errors.Join(err, closer.Wait())
}
