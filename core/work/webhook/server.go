package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
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

// Limits for clients.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 15 * time.Second // longer than readTimeout, so that a slow sender gets an answer
	idleTimeout   = 30 * time.Second
	drainTimeout  = 250 * time.Millisecond // to read the rest of a refused payload
	maxHeader     = 8 << 10                // bytes
	// stopTimeout is how long pending answers can take when the server stops.
	stopTimeout = time.Second
	// screenTimeout is how long the screening can take.
	screenTimeout = time.Minute
	// retryEvery is the pause before another attempt to listen, or to write to the disk.
	retryEvery = 10 * time.Second
	// minSecret is how many characters make a secret too long to guess.
	minSecret = 16
)

// Errors of New.
var (
	// Without a secret every user of this machine could wake the bot.
	errNoSecret = errors.New("webhooks stay off: set WEBHOOK_SECRET to a long random text")
	errAddress  = errors.New("webhooks need a loopback address, such as 127.0.0.1:8420")
)

// Errors that are part of what Options.Run returns.
var (
	// ErrNotBegun: the bot stops, and the model was not asked. The next start runs it.
	ErrNotBegun = errors.New("the run had not begun")
	// ErrCutOff: the bot stops in the middle of the run, which is not repeated.
	ErrCutOff = errors.New("the run was cut off")
)

// WaitsError is what Options.Run returns if the webhook cannot run until the user decides.
type WaitsError struct{ Why string }

func (e *WaitsError) Error() string { return e.Why }

// Options are the parts of a Server. All are required unless they can be nil.
type Options struct {
	Dir    *store.Dir
	Index  *Index
	Secret config.Secret
	// Variable returns a variable of the environment or of .env: the secret of a verified sender.
	// Nil: none are set.
	Variable func(name string) config.Secret
	// Hosts are the hosts that requests may name, as hosts.Parse reads them, besides the server's own
	// address. Empty or nil: any.
	Hosts func() string
	Addr  string         // "127.0.0.1:8420"; port 0 picks a free one
	Zone  *time.Location // of the times in deliveries
	Log   *slog.Logger
	// Screen asks the small model, without tools, about the texts of a payload
	// (ScreenPrompt, ParseVerdict). It can block. If it is nil or returns an error, the
	// delivery is held.
	Screen func(ctx context.Context, fields map[string]string) (safe bool, flagged []string, err error)
	// Afford waits until there is money for the screening and the run of a task and returns a
	// ticket for them; false means that ctx has ended. Nil: no limit.
	Afford func(ctx context.Context, t routines.Task) (ticket string, ok bool)
	// Settle returns the ticket of a delivery without a run. Run settles the others.
	Settle func(ticket string)
	// Run runs a delivery and returns when it has ended. ctx ends when the server stops. It
	// is called concurrently.
	Run func(ctx context.Context, j Job) error
	// Begun returns the outcome, Done, Failed or Interrupted, of each run (Delivery.Run) that a
	// previous process has begun. Recover asks for it.
	Begun func() (map[string]string, error)
	// Note leaves a pending update for the main session, unless the same one is pending. It
	// calls kept when that is on the disk and before the main session can take it, so that
	// no crash separates the two. After an error the next start tries again.
	Note func(text string, kept func()) error
	// Notice shows the user a message at once.
	Notice func(text string)
	// Changed is called after each change of Deliveries; it must not block.
	Changed func()
}

// Server accepts deliveries and has them run. Use New.
type Server struct {
	o     Options
	token [sha256.Size]byte // of the expected Authorization header
	weak  string            // the problem of the secret, or empty
	wrong *rate.Limiter     // limits guesses of the token
	log   *deliveryLog
	limit limiter
	large chan struct{} // has room for signedAtOnce payloads above MaxBody
	// queue has room for underWay deliveries, so that sending never blocks.
	queue chan *task
	// recovered makes Recover run once; resumed are the deliveries it found, which run first.
	recovered sync.Once
	resumed   []*task

	mu       sync.Mutex
	active   int  // deliveries that are being saved, queued, screened or run
	stopping bool // no delivery is accepted any more
	addr     string
}

// task is a delivery with its record in the log.
type task struct {
	job    Job
	record *record
	// verdict is that of its screening, once there is one.
	verdict string
}

// New reads the log. It starts and writes nothing yet.
func New(o Options) (*Server, error) {
	if strings.TrimSpace(o.Secret.Reveal()) == "" {
		return nil, errNoSecret
	}
	if err := checkLoopback(o.Addr); err != nil {
		return nil, err
	}
	return &Server{
		o: o, token: sha256.Sum256([]byte(bearer + o.Secret.Reveal())),
		weak: WeakSecret("WEBHOOK_SECRET", o.Secret), wrong: newRate(guesses),
		log: newLog(o), queue: make(chan *task, underWay), large: make(chan struct{}, signedAtOnce),
	}, nil
}

// WeakSecret returns a warning, with the cure, if the secret in a variable could be guessed. It is
// empty for a strong secret and for none.
func WeakSecret(name string, secret config.Secret) string {
	n := utf8.RuneCountInString(strings.TrimSpace(secret.Reveal()))
	if n == 0 || n >= minSecret {
		return ""
	}
	return fmt.Sprintf(textWeakSecret, name, minSecret)
}

// checkLoopback rejects addresses that other machines can reach, and names, which can
// resolve to anything.
func checkLoopback(addr string) error {
	at, err := netip.ParseAddrPort(addr)
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return errAddress
	}
	return nil
}

// Deliveries returns the newest 100, newest first.
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

// Addr is the address of the server; empty while it does not listen.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Recover handles the deliveries that the last process accepted and did not finish. Those
// whose run had not begun will run first; those that were cut off or have lost their spec
// are reported. Call it before the main session takes pending updates, so that a
// report repeated after a crash is recognized as pending. Run calls it if you did not.
func (s *Server) Recover() { s.recovered.Do(s.recoverOpen) }

func (s *Server) recoverOpen() {
	open := s.log.open()
	var begun map[string]string
	var unknown error
	if len(open) > 0 {
		if begun, unknown = s.o.Begun(); unknown != nil { // a run that may have begun is not repeated
			s.o.Log.Error("the runs of deliveries could not be looked up", "error", unknown)
		}
	}
	for _, r := range open {
		if r.Note != "" { // held, and a crash prevented the report
			s.abandon(r, r.Note, Held)
			continue
		}
		outcome := begun[r.Run()]
		if unknown != nil || r.Outcome == Running && r.Payload == nil { // an earlier version dropped it when the run began
			outcome = cmp.Or(outcome, Interrupted)
		}
		switch outcome {
		case "":
			s.resume(r)
		case Interrupted:
			s.abandon(r, fmt.Sprintf(noteCutOff, r.Webhook, r.ID), Interrupted)
		default:
			s.finish(r, func(r *record) { r.Outcome = outcome })
		}
	}
	s.log.tidy(time.Now())
}

// resume has a delivery run that was accepted before the start, or reports why it cannot run.
func (s *Server) resume(r *record) {
	spec, known := s.o.Index.Find(r.Webhook)
	var payload Payload
	err := errors.New("it is gone")
	if known {
		payload, err = spec.Check(r.Payload)
	}
	if err != nil {
		s.o.Log.Warn("delivery held", "delivery", r.ID, "webhook", r.Webhook, "error", clean.Line(err.Error()))
		s.abandon(r, fmt.Sprintf(noteLost, r.Webhook, r.ID), Held)
		return
	}
	s.mu.Lock()
	s.active++
	s.mu.Unlock()
	s.log.change(r, func(r *record) { r.Outcome = Accepted })
	s.resumed = append(s.resumed, &task{job: Job{Spec: spec, Payload: payload, Delivery: r.Delivery}, record: r})
}

// Run accepts deliveries until ctx ends, which is not an error, and then waits for those in
// progress. If it cannot listen on the address, it reports that and tries again. It is called
// once.
func (s *Server) Run(ctx context.Context) error {
	return s.run(ctx, func(ctx context.Context) (net.Listener, error) {
		var c net.ListenConfig
		l, err := c.Listen(ctx, "tcp", s.o.Addr)
		if err != nil {
			return nil, fmt.Errorf("listen for webhooks on %s: %w; choose another WEBHOOK_PORT if it is in use", s.o.Addr, err)
		}
		return l, nil
	})
}

// run owns all goroutines of the server.
func (s *Server) run(ctx context.Context, listen func(context.Context) (net.Listener, error)) error {
	if s.weak != "" {
		s.o.Log.Warn(textWeak, "problem", s.weak)
		s.o.Notice(s.weak)
	}
	s.Recover()
	stop := make(chan struct{})
	var writer errgroup.Group
	writer.Go(fault.Guard("the delivery log", func() error { s.log.tend(stop); return nil }))

	g, inner := errgroup.WithContext(ctx)
	g.Go(fault.Guard("the webhooks' listener", func() error { s.listen(inner, listen); return nil }))
	g.Go(fault.Guard("the webhooks' work", func() error { return s.work(inner) }))
	err := g.Wait()

	close(stop) // only now: the log must contain the last states
	return errors.Join(err, writer.Wait())
}

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 64 << 10

// Deliver sends a payload to a running bot, with the headers that prove its sender (Spec.Sign), and
// returns the HTTP status and the answer, cleaned. An error means that there was no answer; it never
// contains the secret.
func Deliver(ctx context.Context, addr, id string, payload []byte, proof http.Header) (status int, answer string, err error) {
	if err := checkLoopback(addr); err != nil {
		return 0, "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+hookPath+url.PathEscape(id), bytes.NewReader(payload))
	if err != nil {
		return 0, "", fmt.Errorf("create the request: %w", err)
	}
	maps.Copy(r.Header, proof)
	r.Header.Set("Content-Type", "application/json")
	client := http.Client{
		// No proxy and no redirect: the secret must not leave this machine.
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
