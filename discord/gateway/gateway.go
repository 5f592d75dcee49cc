// Package gateway keeps the bot connected to Discord's gateway and hands out
// what happens there, in order.
//
// It owns the connection: opening it, noticing that it died, resuming or
// starting anew, the number of sessions that may be started, and the sentence
// that says why there is no connection. The protocol is spoken here, over a
// WebSocket; discordgo lends its numbers and names. Its session is not used: it
// cannot be told to wait before it starts anew, knows no limit of time, follows
// no address for resuming, and waits for itself for ever when Discord asks it to
// reconnect at the wrong moment.
//
// It must not know the bot, who its owner is, or how messages are sent. Of
// Discord's other API it knows one question, Options.Find.
package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/fault"
)

// Options are what a Supervisor needs. Token and Find are required.
type Options struct {
	// Token is the bot's token, without "Bot " in front of it.
	Token string
	// Find says where the gateway is and how many sessions may still be started
	// (GET /gateway/bot). It is asked before a session is started, never before
	// one is resumed, and must give up when ctx ends. After it has answered once an
	// error is only logged: the gateway is tried where it was.
	Find func(ctx context.Context) (Door, error)
	// Dial opens network connections, for tests; nil is a net.Dialer. It must
	// give up when ctx ends.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Log gets one line for each change; nil is silence. The token is in none.
	Log *slog.Logger
	// Timing are the limits; the zero value means the defaults.
	Timing Timing
}

// Door is where sessions are started, and how many may be.
type Door struct {
	Address    string
	Remaining  int
	ResetAfter time.Duration // until Remaining is counted anew
}

// Timing are the limits of a connection; what is zero gets its default.
type Timing struct {
	Open       time.Duration // from dialling to Ready or Resumed; 30 s
	BackoffMin time.Duration // after the first refusal, then doubling, and between tries to reach Discord at all; 1 s
	BackoffMax time.Duration // the longest after a refusal; 60 s
	Settled    time.Duration // up for so long, the next refusal is the first one again; 30 s
	Window     time.Duration // at most 3 sessions are started in it and 30 in 60 of it; 1 min
	PauseMin   time.Duration // before a new session after an invalid one, for which Discord asks for 1 to 5 s; 1 s
	PauseMax   time.Duration // and at most; 2.5 s
}

func (t Timing) withDefaults() Timing {
	for _, d := range []struct {
		v    *time.Duration
		zero time.Duration
	}{
		{&t.Open, 30 * time.Second},
		{&t.BackoffMin, time.Second},
		{&t.BackoffMax, time.Minute},
		{&t.Settled, 30 * time.Second},
		{&t.Window, time.Minute},
		{&t.PauseMin, time.Second},
		{&t.PauseMax, 2500 * time.Millisecond},
	} {
		if *d.v <= 0 {
			*d.v = d.zero
		}
	}
	t.BackoffMax = max(t.BackoffMin, t.BackoffMax)
	t.PauseMax = max(t.PauseMin, t.PauseMax)
	return t
}

// StoppedError is the end of Run when trying again cannot help: a person has to
// change something first. Its text is a sentence that says what and where.
type StoppedError struct {
	Code   int // Discord's close code: 4004 or 4010 to 4014
	Reason string
}

func (e *StoppedError) Error() string { return e.Reason }

// errRanBefore is Run's answer when it is called a second time.
var errRanBefore = errors.New("run gateway: it has been run before")

// Supervisor holds one connection to Discord. Its methods may be called
// concurrently.
type Supervisor struct {
	o      Options
	board  *board
	queue  *queue
	starts *starts
	ran    atomic.Bool

	presence *presence
	// Used by keep alone: the reason that was logged last, and where the gateway is.
	told, address string
}

// New makes a supervisor; it reads, dials and starts nothing.
func New(o Options) *Supervisor {
	o.Timing = o.Timing.withDefaults()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	return &Supervisor{
		o: o, board: newBoard(), queue: newQueue(), presence: newPresence(), starts: &starts{window: o.Timing.Window},
	}
}

// Run connects and stays connected until ctx ends, which is no error, or until
// Discord says that trying again is pointless: a *StoppedError. It then closes
// Events. It returns at most some two seconds after ctx ended: that is how long
// saying goodbye to Discord may take. Run may be called once.
func (s *Supervisor) Run(ctx context.Context) error {
	if !s.ran.CompareAndSwap(false, true) {
		return errRanBefore
	}
	defer close(s.queue.out)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(fault.Guard("the events of Discord", func() error { return s.queue.pump(ctx) }))
	g.Go(fault.Guard("the connection to Discord", func() error { return s.keep(ctx) }))
	return g.Wait()
}

// Events are what happened, in the order in which Discord told it. However slow
// the reader is, nothing is lost and the connection does not notice. The same
// message may come twice after a reconnect, so handle messages by id; after a
// Ready whatever was missed must be asked for, by id too. The channel is closed
// when Run ends; what nobody had taken by then is gone.
func (s *Supervisor) Events() <-chan Event { return s.queue.out }

// State is how the connection is at this moment.
func (s *Supervisor) State() State { return s.board.read() }

// OnChange calls f after each change of State, but for a growing Dropped alone. f
// must not block; it may call State. A panic in it ends Run with an error.
func (s *Supervisor) OnChange(f func()) { s.board.listen(f) }
