package webhook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
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
	// lateAfter is how old a delivery may be that is run after a restart.
	lateAfter = 12 * time.Hour
	// retryEvery is the pause before the next try where the address cannot be
	// listened on, or the disk cannot be written.
	retryEvery = 10 * time.Second
	// minSecret is how many characters a secret needs so that nobody guesses it.
	minSecret = 16
)

// Why New makes no server.
var (
	// errNoSecret says that WEBHOOK_SECRET is not set: without one everybody on
	// this machine could wake the bot.
	errNoSecret = errors.New("webhooks stay off: set WEBHOOK_SECRET to a long random text")
	// errAddress says that the address is not one of this machine alone.
	errAddress = errors.New("webhooks are taken on loopback only: give an address such as 127.0.0.1:8420")
)

// Options are the parts of a Server. All are required but those that may be nil.
type Options struct {
	Dir    *store.Dir
	Index  *Index
	Secret config.Secret
	Addr   string         // "127.0.0.1:8420"; port 0 takes a free one
	Zone   *time.Location // of the times in deliveries
	Log    *slog.Logger
	// Screen asks the small model, without tools, about the texts of a payload
	// (ScreenPrompt, ParseVerdict). It may block. Nil, or an error, holds the
	// delivery.
	Screen func(ctx context.Context, fields map[string]string) (safe bool, flagged []string, err error)
	// Afford waits until there is money for a run of the task and gives a ticket for
	// it; false means that ctx has ended. Nil never minds.
	Afford func(ctx context.Context, t routines.Task) (ticket string, ok bool)
	// Run runs a delivery in the background and returns when it has ended; until
	// then it counts among those at once. ctx ends with the server's. It is
	// called concurrently.
	Run func(ctx context.Context, j Job) error
	// Note leaves a pending update for the main session, unless the same is
	// pending. kept is called when it is on the disk and before the
	// main session can take it, so that a crash cannot come between the two. After an
	// error it is tried again.
	Note func(text string, kept func()) error
	// Notice tells the user at once.
	Notice func(text string)
	// Changed is called after everything that Deliveries shows; it must not block.
	Changed func()
}

// Server takes deliveries. Use New.
type Server struct {
	o     Options
	token [sha256.Size]byte // of what the Authorization header has to be
	weak  string            // what is wrong with the secret, or empty
	wrong *rate.Limiter     // guesses of the token
	log   *deliveryLog
	limit limiter
	conns *connections
	// queue has room for all that can be active, so that sending never blocks.
	queue chan *task
	// recovered is what was accepted before the start; resumed runs first.
	recovered sync.Once
	resumed   []*task

	mu       sync.Mutex
	active   int  // deliveries that are written down, queued, screened or running
	stopping bool // nothing is taken any more
	addr     string
	trouble  string    // why nothing is taken, as it was told; empty while all is well
	troubled time.Time // when it was last so
}

// task is a delivery on its way through the work.
type task struct {
	job    Job
	record *record // the log's
}

// New reads the log. It starts and writes nothing.
func New(o Options) (*Server, error) {
	if strings.TrimSpace(o.Secret.Reveal()) == "" {
		return nil, errNoSecret
	}
	if err := checkLoopback(o.Addr); err != nil {
		return nil, err
	}
	return &Server{
		o: o, token: sha256.Sum256([]byte(bearer + o.Secret.Reveal())),
		weak: WeakSecret(o.Secret), wrong: newRate(guesses),
		log: newLog(o), conns: newConnections(maxConnections), queue: make(chan *task, underWay),
	}, nil
}

// WeakSecret says what is wrong with a secret that could be guessed, and the
// cure. It is empty for one that could not, and for none at all.
func WeakSecret(secret config.Secret) string {
	n := utf8.RuneCountInString(strings.TrimSpace(secret.Reveal()))
	if n == 0 || n >= minSecret {
		return ""
	}
	return fmt.Sprintf(textWeakSecret, minSecret)
}

// checkLoopback refuses addresses that others than this machine reach, and
// names, which may lead anywhere.
func checkLoopback(addr string) error {
	at, err := netip.ParseAddrPort(addr)
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return errAddress
	}
	return nil
}

// Deliveries are the newest 100, the newest first.
func (s *Server) Deliveries() []Delivery {
	list := s.log.deliveries()
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

// Recover takes up what an earlier run of the program had accepted and not
// finished: what had not begun is run with the first work, what was cut off, is
// too old or has no spec any more is reported. It is called before the main
// session takes pending updates, so that a report that a crash repeats is known
// as the one that is still pending. Run calls it where nobody has.
func (s *Server) Recover() { s.recovered.Do(s.takeUp) }

func (s *Server) takeUp() {
	for _, r := range s.log.open() {
		if r.Outcome == Accepted && r.Note != "" { // it was held, and a crash came before that was told
			s.abandon(r, r.Note, Held)
			continue
		}
		if t, ok := s.again(r); ok {
			s.mu.Lock()
			s.active++
			s.mu.Unlock()
			s.resumed = append(s.resumed, t)
			continue
		}
		note := noteLost
		if r.Outcome == Running {
			note = noteCutOff
		}
		s.abandon(r, fmt.Sprintf(note, r.Webhook, r.ID), Interrupted)
	}
	s.log.tidy(time.Now())
}

// again makes a task of a delivery that was accepted before the start.
func (s *Server) again(r *record) (*task, bool) {
	spec, known := s.o.Index.Find(r.Webhook)
	if r.Outcome != Accepted || !known || time.Since(r.At) > lateAfter {
		return nil, false
	}
	payload, err := spec.Check(r.Payload)
	if err != nil {
		return nil, false
	}
	return &task{job: Job{Spec: spec, Payload: payload, Delivery: r.Delivery}, record: r}, true
}

// Run takes deliveries until ctx ends, which is not an error, and returns when
// nothing of them is under way any more. While the address cannot be listened on
// it says so and tries again. It is called once.
func (s *Server) Run(ctx context.Context) error {
	return s.run(ctx, func(ctx context.Context) (net.Listener, error) {
		var c net.ListenConfig
		l, err := c.Listen(ctx, "tcp", s.o.Addr)
		if err != nil {
			return nil, fmt.Errorf("take webhooks on %s: %w; choose another WEBHOOK_PORT if it is in use", s.o.Addr, err)
		}
		return l, nil
	})
}

// run owns everything that the server starts.
func (s *Server) run(ctx context.Context, listen func(context.Context) (net.Listener, error)) error {
	if s.weak != "" {
		s.o.Log.Warn(textWeak, "problem", s.weak)
		s.o.Notice(s.weak)
	}
	s.Recover()
	stop := make(chan struct{})
	var writer errgroup.Group
	writer.Go(fault.Guard("the log of deliveries", func() error { s.log.tend(stop); return nil }))

	g, inner := errgroup.WithContext(ctx)
	g.Go(fault.Guard("the webhooks' listener", func() error { s.listen(inner, listen); return nil }))
	g.Go(fault.Guard("the webhooks' work", func() error { return s.work(inner) }))
	err := g.Wait()

	close(stop) // only now: the work's last words belong into the log
	return errors.Join(err, writer.Wait())
}

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 64 << 10

// Deliver sends a payload to a running bot, as `ollim-bot webhook test` does,
// and returns the status of HTTP and the answer, cleaned. An error means that
// there was no answer; it never holds the secret.
func Deliver(ctx context.Context, addr string, secret config.Secret, id string, payload []byte) (status int, answer string, err error) {
	if err := checkLoopback(addr); err != nil {
		return 0, "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+hookPath+url.PathEscape(id), bytes.NewReader(payload))
	if err != nil {
		return 0, "", fmt.Errorf("make the delivery: %w", err)
	}
	r.Header.Set("Authorization", bearer+secret.Reveal())
	r.Header.Set("Content-Type", "application/json")
	client := http.Client{
		// No proxy and no redirect: the secret goes to this machine only.
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       readTimeout + writeTimeout,
	}
	begun := time.Now()
	response, err := client.Do(r)
	if err != nil {
		if where, ok := errors.AsType[*url.Error](err); ok {
			err = where.Err
		}
		return 0, "", fmt.Errorf("deliver to %s: %w (after %s); is the bot running, with this WEBHOOK_PORT?", addr, err, time.Since(begun).Round(time.Millisecond))
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return response.StatusCode, "", fmt.Errorf("read the answer: %w", err)
	}
	return response.StatusCode, clean.Text(string(bytes.TrimSpace(body))), nil
}
