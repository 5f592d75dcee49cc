package webhook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/hosts"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
)

const (
	bearer     = "Bearer "
	hookPath   = "/hook/"
	healthPath = "/healthz"
)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer fault.Rescue("the webhook server", func(f *fault.Error) {
		// The message of a panic can contain parts of the payload: only its kind and stack are logged.
		s.o.Log.Error("a delivery crashed the webhook handler", "fault", f.Kind(), "stack", f.Stack)
		write(w, http.StatusInternalServerError, reply{Error: answerInternal})
	})
	slug, hook := strings.CutPrefix(r.URL.Path, hookPath)
	switch {
	case !s.serves(r.Host):
		write(w, http.StatusMisdirectedRequest, reply{Error: answerHost})
	case hook && slug != "" && !strings.Contains(slug, "/"):
		if r.Method != http.MethodPost {
			notAllowed(w, http.MethodPost)
			return
		}
		s.hook(w, r, slug)
	case r.URL.Path == healthPath:
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			notAllowed(w, "GET, HEAD")
			return
		}
		write(w, http.StatusOK, reply{Status: "ok"})
	default:
		write(w, http.StatusNotFound, reply{Error: answerNotFound})
	}
}

// serves reports whether requests may name a host, as a proxy passes it on. The server's own address
// is always allowed.
func (s *Server) serves(host string) bool {
	if s.o.Hosts == nil || s.o.Hosts() == "" {
		return true
	}
	list, _ := hosts.Parse(s.o.Hosts()) // which config has parsed
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), ""
	}
	if addr, err := netip.ParseAddr(name); name == "localhost" || err == nil && addr.Unmap().IsLoopback() {
		return true
	}
	if port == "" { // that of its scheme, which only the proxy knows
		return list.Allows(name, 443) || list.Allows(name, 80)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && list.Allows(name, uint16(n))
}

// hook answers a delivery.
func (s *Server) hook(w http.ResponseWriter, r *http.Request, slug string) {
	d := &Delivery{ID: store.NewID(), At: time.Now(), Remote: clean.Line(r.RemoteAddr), Count: 1}
	refusal := s.check(w, r, slug, d)
	if refusal == repeated {
		s.o.Log.Info("delivery repeated", "webhook", d.Webhook)
		w.Header().Set("Idempotent-Replayed", "true") // as Stripe's own API says it
		refusal = nil
	}
	if refusal == nil {
		write(w, http.StatusAccepted, reply{Status: Accepted})
		return
	}
	if refusal.Reason != answerNotStored { // already in the log
		d.refused(refusal.Status)
		s.log.refuse(*d)
	}
	if refusal.Status == http.StatusOK {
		write(w, http.StatusOK, reply{Status: refusal.Reason, Challenge: refusal.challenge})
		return
	}
	reason, _, _ := strings.Cut(refusal.Reason, ":") // its sender can choose the rest
	s.o.Log.Debug("delivery refused", "delivery", d.ID, "webhook", d.Webhook, "status", d.Status, "reason", reason)
	// net/http reads the rest of the body before it answers: limit how long that takes. A
	// writer without deadlines waits.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTimeout))
	if refusal.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(refusal.retry))
	}
	write(w, refusal.Status, reply{Error: refusal.Reason, Details: refusal.Details})
}

// check checks, in this order: sender, spec, rate, size, payload, room. The sender of a webhook with
// verify is known only after its payload was read.
func (s *Server) check(w http.ResponseWriter, r *http.Request, slug string, d *Delivery) *RefusedError {
	spec, known := s.o.Index.Find(slug)
	if known {
		d.Webhook = spec.ID
	}
	var body []byte
	var proof claim
	var refusal *RefusedError
	if spec.Verify == "" {
		refusal = s.admits(s.authorized(r), s.weak != "", d.At)
	} else {
		body, proof, refusal = s.verified(w, r, spec, d)
	}
	if refusal != nil {
		return refusal
	}
	if !known {
		slug = clean.Cut(clean.Line(slug), maxID)
		d.Webhook = slug
		return &RefusedError{Status: http.StatusNotFound, Reason: answerUnknown + slug}
	}
	if wait := s.limit.allow(spec.ID, d.At); wait > 0 {
		return tooMany(wait)
	}
	if spec.Verify == "" {
		if body, refusal = s.readBody(w, r, MaxBody, d); refusal != nil {
			return refusal
		}
	}
	return s.take(spec, body, proof, r.Header, d)
}

// take accepts a payload whose sender is known, if it fits the spec.
func (s *Server) take(spec Spec, body []byte, proof claim, h http.Header, d *Delivery) (refusal *RefusedError) {
	text, sent, err := spec.read(body)
	if errors.As(err, &refusal) {
		if form := strings.HasPrefix(h.Get("Content-Type"), "application/x-www-form-urlencoded"); form && spec.Verify != "" && !bytes.ContainsRune(text, '{') {
			refusal.Details = []string{textForm}
		}
		return refusal
	}
	if greeting := spec.greets(h, sent); greeting != nil {
		return greeting
	}
	payload, err := spec.payload(text, sent)
	if errors.As(err, &refusal) {
		return refusal
	}
	d.Status, d.Outcome = http.StatusAccepted, Accepted
	return s.accept(&task{
		job:    Job{Spec: spec, Payload: payload, Delivery: *d},
		record: &record{Delivery: *d, Payload: payload.text, Key: spec.key(h, sent, proof)},
	})
}

// verified reads the payload of a webhook with verify. What the headers show is checked before.
func (s *Server) verified(w http.ResponseWriter, r *http.Request, spec Spec, d *Delivery) ([]byte, claim, *RefusedError) {
	var secret config.Secret
	if s.o.Variable != nil {
		secret = s.o.Variable(spec.SecretEnv)
	}
	if secret.Reveal() == "" {
		return nil, claim{}, &RefusedError{Status: http.StatusServiceUnavailable, Reason: answerNoSecret, retry: retrySlot}
	}
	weak := WeakSecret(spec.SecretEnv, secret) != ""
	proof, wrong := spec.claimed(r.Header, d.At)
	if wrong != "" {
		return nil, proof, s.admits(false, weak, d.At, wrong)
	}
	body, refusal := s.readBody(w, r, spec.limit(), d)
	if refusal != nil {
		return nil, proof, refusal
	}
	return body, proof, s.admits(proof.proven(secret, body), weak, d.At, fmt.Sprintf(textUnproven, spec.signatureHeader()))
}

// repeated is what accept returns for a delivery that was accepted before.
var repeated = new(RefusedError)

// admits decides about a sender that sent the right or a wrong secret, or proof of it. Wrong ones are limited.
// Beyond the limit even a right one is refused if it is weak enough to be guessed; a strong one is not
// locked out by guesses.
func (s *Server) admits(right, weak bool, now time.Time, details ...string) *RefusedError {
	if right && (!weak || s.wrong.TokensAt(now) >= 1) {
		return nil
	}
	if wait := allowOne(s.wrong, now); wait > 0 {
		return tooMany(wait)
	}
	return &RefusedError{Status: http.StatusUnauthorized, Reason: answerUnauthorized, Details: details}
}

// tooMany refuses a delivery that may be sent again after that many seconds.
func tooMany(wait int) *RefusedError {
	return &RefusedError{Status: http.StatusTooManyRequests, Reason: answerTooMany, retry: wait}
}

// authorized compares digests, which hide the length, in constant time.
func (s *Server) authorized(r *http.Request) bool {
	given := sha256.Sum256([]byte(r.Header.Get("Authorization")))
	return subtle.ConstantTimeCompare(given[:], s.token[:]) == 1
}

// readBody reads at most one byte more than limit.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, limit int, d *Delivery) (body []byte, refusal *RefusedError) {
	defer func() { d.Size = len(body) }()
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, &RefusedError{Status: http.StatusUnsupportedMediaType, Reason: answerEncoding}
	}
	if r.ContentLength > int64(limit) {
		w.Header().Set("Connection", "close") // the rest is not read
		return nil, tooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err == nil && len(body) > MaxBody && limit > MaxBody {
		select {
		case s.large <- struct{}{}:
			defer func() { <-s.large }()
		default: // strangers must not fill the memory
			return body, tooMany(1)
		}
		var rest []byte
		rest, err = io.ReadAll(io.LimitReader(r.Body, int64(limit-MaxBody)))
		body = append(body, rest...)
	}
	switch {
	case len(body) > limit:
		w.Header().Set("Connection", "close")
		return body, tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return body, &RefusedError{Status: http.StatusRequestTimeout, Reason: answerTimeout}
	case err != nil:
		return body, &RefusedError{Status: http.StatusBadRequest, Reason: answerJSON}
	}
	return body, nil
}

// statusNotStored means that the delivery is not on the disk.
const statusNotStored = http.StatusServiceUnavailable

// accept queues a delivery, if there is room, once it is on the disk. Its sender can then
// forget it.
func (s *Server) accept(t *task) *RefusedError {
	if refusal := s.reserve(); refusal != nil {
		return refusal
	}
	if err := s.log.add(t.record); err != nil {
		s.release()
		if errors.Is(err, errRepeated) {
			return repeated
		}
		return &RefusedError{Status: statusNotStored, Reason: answerNotStored, retry: retrySlot}
	}
	s.queue <- t // it has room for all active ones
	return nil
}

func (s *Server) reserve() *RefusedError {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping:
		return &RefusedError{Status: http.StatusServiceUnavailable, Reason: answerStopping, retry: retrySlot}
	case s.active >= underWay:
		return tooMany(retrySlot)
	}
	s.active++
	return nil
}

// reply is the body of an answer.
type reply struct {
	Status  string   `json:"status,omitempty"`
	Error   string   `json:"error,omitempty"`
	Details []string `json:"details,omitempty"`
	// Challenge is what a sender that tries the address wants to read.
	Challenge string `json:"challenge,omitempty"`
}

func notAllowed(w http.ResponseWriter, methods string) {
	w.Header().Set("Allow", methods)
	write(w, http.StatusMethodNotAllowed, reply{Error: answerMethod})
}

// write sends an answer. An error means that the sender has disconnected.
func write(w http.ResponseWriter, status int, body reply) {
	data, _ := json.Marshal(body) // of texts
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n'))
}

// quiet logs the messages of net/http, which can quote a request, as one cleaned line under
// a constant message.
type quiet struct{ slog.Handler }

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	told := slog.NewRecord(r.Time, r.Level, "connection trouble", r.PC)
	told.AddAttrs(slog.String("trouble", clean.Cut(clean.Line(r.Message), 200)))
	return q.Handler.Handle(ctx, told)
}

// Limits of accepted deliveries.
const (
	perMinute = 60  // deliveries of one webhook: a burst of that size, then one a second
	atOnce    = 10  // deliveries that are screened or run at once
	underWay  = 100 // deliveries that were accepted and have not ended
	guesses   = 10  // wrong tokens a minute
	// retrySlot is the Retry-After when underWay is reached or nothing can be written, in
	// seconds.
	retrySlot = 10
)

// limiter counts the deliveries of each webhook.
type limiter struct {
	mu sync.Mutex
	of map[string]*rate.Limiter
}

// allow counts a delivery at now, or returns the seconds to wait. The id must be that of a
// spec, so that strangers cannot fill the memory.
func (l *limiter) allow(id string, now time.Time) (wait int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string]*rate.Limiter{}
	}
	if l.of[id] == nil {
		l.of[id] = newRate(perMinute)
	}
	return allowOne(l.of[id], now)
}

// newRate allows a burst of that many, and then as many in a minute.
func newRate(perMinute int) *rate.Limiter {
	return rate.NewLimiter(rate.Every(time.Minute/time.Duration(perMinute)), perMinute)
}

// allowOne takes a token at now, or returns the seconds to wait.
func allowOne(l *rate.Limiter, now time.Time) (wait int) {
	r := l.ReserveN(now, 1)
	d := r.DelayFrom(now)
	if d == 0 {
		return 0
	}
	r.CancelAt(now)
	return int((d + time.Second - 1) / time.Second)
}
