package gateway

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
)

// world is a link at work, and its server.
type world struct {
	t       *testing.T
	server  *server
	s       *Link
	events  chan Event
	changed chan struct{}
	cancel  context.CancelFunc
	result  chan error
	log     *syncBuffer
	bubble  bool
	broken  atomic.Bool // the next change is a panic

	mu     sync.Mutex
	states []State // all there were; wait goes through them in order
	last   State   // the one that was waited for
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// inBubble runs a story in a bubble of time: with Discord's real limits, and
// finished at once. That the bubble closes shows that no goroutine stays behind.
func inBubble(t *testing.T, script func(n int, p *peer), story func(w *world)) {
	t.Helper()
	inBubbleOf(t, new(server), script, func(*Options) {}, story)
}

func inBubbleOf(t *testing.T, srv *server, script func(n int, p *peer), set func(*Options), story func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv.script, srv.resumeAt = script, "ws://127.0.0.1:2/"
		o := Options{Token: testToken, Dial: srv.dialPipe, Find: found("ws://127.0.0.1:1")}
		set(&o)
		w := begin(t, srv, o)
		w.bubble = true
		story(w)
		w.leave()
		srv.work.Wait()
	})
}

// begin runs a link; the caller calls leave.
func begin(t *testing.T, srv *server, o Options) *world {
	w := &world{t: t, server: srv, changed: make(chan struct{}, 1), result: make(chan error, 1), log: &syncBuffer{}}
	o.Log = slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o.Changed = func() {
		if w.broken.Load() {
			panic("listener")
		}
		w.mu.Lock()
		w.states = append(w.states, w.s.State())
		w.mu.Unlock()
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
	w.s, w.events = New(o), make(chan Event, 20_000)
	srv.work.Go(func() { // a reader who never waits
		defer close(w.events)
		for e := range w.s.Events() {
			w.events <- e
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	srv.work.Go(func() { w.result <- w.s.Run(ctx) })
	return w
}

// leave ends Run and checks that the token has not been written anywhere.
func (w *world) leave() {
	w.t.Helper()
	w.calm()
	w.cancel()
	for range w.events { // until Run ends
	}
	if text := w.log.String(); strings.Contains(text, testToken) || strings.Contains(text, strings.Split(testToken, ".")[2]) {
		w.t.Errorf("the log holds the token:\n%s", text)
	}
}

// calm lets everything that happens at this moment of the bubble happen.
func (w *world) calm() {
	if w.bubble {
		synctest.Wait()
	}
}

// wait waits for a state and says how long that took.
func (w *world) wait(what string, limit time.Duration, is func(State) bool) time.Duration {
	w.t.Helper()
	began := time.Now()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		if w.met(is) {
			took := time.Since(began)
			w.calm()
			return took
		}
		select {
		case <-w.changed:
		case <-timer.C:
			w.t.Fatalf("not %s within %v: %+v\n%s", what, limit, w.s.State(), w.log)
		}
	}
}

// met goes on to the next state of the kind, from the last one on, which counts.
func (w *world) met(is func(State) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, s := range w.states {
		if is(s) {
			w.states, w.last = w.states[i:], s
			return true
		}
	}
	return false
}

func isUp(s State) bool   { return s.Phase == Up }
func isDown(s State) bool { return s.Phase == Down }

// The kinds of events, as the library calls them.
const (
	Ready         = "Ready"
	Resumed       = "Resumed"
	Message       = "MessageCreate"
	MessageDelete = "MessageDelete"
)

// next takes the next event and checks its kind.
func (w *world) next(kind string) Event {
	w.t.Helper()
	timer := time.NewTimer(time.Hour) // of the bubble
	defer timer.Stop()
	select {
	case e, ok := <-w.events:
		if !ok || e.String() != "*discordgo."+kind {
			w.t.Fatalf("event %v (%v), want %v", e, ok, kind)
		}
		return e
	case <-timer.C:
		w.t.Fatalf("no event, want %v", kind)
	}
	return Event{}
}

// text takes the next event, a message, and gives its text.
func (w *world) text() string {
	w.t.Helper()
	return w.next(Message).Data.(*discordgo.MessageCreate).Content
}

// deleted takes the next event, a deletion, and gives the message's id.
func (w *world) deleted() string {
	w.t.Helper()
	return w.next(MessageDelete).Data.(*discordgo.MessageDelete).ID
}
