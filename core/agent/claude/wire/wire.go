// Package wire speaks the line protocol of the claude command over a pair of
// pipes: one JSON object a line, control requests in both directions with
// their answers and cancellations, and typed views of the lines that a host
// needs.
//
// It owns framing, the two queues and the goroutines that answer. It must not
// know processes, sessions, turns, hooks or the bot. What it decodes is text
// from outside as it came: whoever shows or stores it cleans it.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// lastWords is how long reading goes on after writing has failed: a program
// that has refused to start has often said why on its other pipe.
const lastWords = 2 * time.Second

// The types of control traffic, and what a response says of its request.
const (
	kindControlRequest  = "control_request"
	kindControlResponse = "control_response"
	kindControlCancel   = "control_cancel_request"

	subtypeSuccess = "success"
	subtypeError   = "error"
)

var (
	// ErrClosed says that the connection has ended, or can no longer send.
	ErrClosed = errors.New("the connection to claude has ended")

	errRunning = errors.New("the connection is already being read")
)

// Handler answers a control_request of the CLI. It runs in a goroutine of its
// own, in no order among its likes; ctx ends when the CLI cancels the request
// or the connection ends, and the handler must return soon after. A nil
// response is the empty object; an error, or a panic, is answered as an error.
// The request is the inner "request" object; the handler may keep it.
type Handler func(ctx context.Context, subtype string, request json.RawMessage) (response any, err error)

// Options are what a connection may have.
type Options struct {
	Handler Handler      // nil answers every request with an error
	Log     *slog.Logger // nil logs nothing; contents of messages are never logged
}

// Conn is one connection. All methods may be called from any goroutine, before
// Run too.
type Conn struct {
	r       io.Reader
	w       io.Writer
	handler Handler
	log     *slog.Logger

	lines *queue[Line]   // read, and not yet taken by Next
	out   *queue[[]byte] // whole lines with their line break, not yet written

	ended  chan struct{} // closed when nothing is delivered or sent any more
	broken chan struct{} // closed when nothing can be sent any more

	// The lock guards all that follows. It is never held over I/O or a handler.
	mu       sync.Mutex
	running  bool
	over     bool  // ended is closed
	fault    error // of the writer, or a panic of one of our goroutines
	lastRead time.Time
	skipped  int
	asked    int                   // requests that were sent, for their ids
	waiting  map[string]chan reply // requests that have no answer yet
	pending  map[string]*callback  // requests of the CLI that have no answer yet
	recent   memory                // ids of requests of the CLI that are over
}

// New makes a connection that reads r and writes w. It starts nothing: lines
// that are sent before Run wait for it.
func New(r io.Reader, w io.Writer, o Options) *Conn {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Conn{
		r: r, w: w, handler: o.Handler, log: o.Log,
		lines: newQueue[Line](), out: newQueue[[]byte](),
		ended: make(chan struct{}), broken: make(chan struct{}),
		waiting: map[string]chan reply{}, pending: map[string]*callback{},
	}
}

// Run reads until r ends, then ends what waits. It owns every goroutine of the
// connection (the writer, the one that closes the pipes, one for each request
// of the CLI that is being answered) and returns when the last is gone.
//
// From here on the pipes belong to the connection: those that are io.Closers
// are closed at its end. That is also what frees a read or a write that hangs,
// so that without a Close a pipe that hangs keeps Run from returning.
//
// It gives nil at a clean end of r, ctx's error when that ended it, and
// otherwise the fault of the pipe. After a fault of w it goes on reading for
// two seconds at most, for the last words of the other side.
func (c *Conn) Run(ctx context.Context) error {
	c.mu.Lock()
	again := c.running
	c.running = true
	c.mu.Unlock()
	if again {
		return errRunning
	}
	life, cancel := context.WithCancel(ctx)
	defer cancel()
	var g sync.WaitGroup
	g.Go(func() { c.noteFault(guard(func() error { return c.write(life) })) })
	g.Go(func() { c.noteFault(guard(func() error { return c.closeAtEnd(life, cancel) })) })
	err := guard(func() error { return c.read(life, &g) })
	c.end()
	cancel()
	g.Wait()

	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.fault != nil:
		return c.fault
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// Next gives the next line that is not control traffic, in the order in which
// they were read, and io.EOF after the last. The queue behind it has no limit,
// so that a slow consumer never holds up control traffic. It ends early with
// ctx's error, but never while a line is there.
func (c *Conn) Next(ctx context.Context) (Line, error) { return c.lines.pop(ctx) }

// Pending is how many requests of the CLI are being answered now. One that the
// CLI has cancelled no longer counts, though its handler may still run.
func (c *Conn) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}

// LastRead is when the last line of any kind arrived; zero before the first.
func (c *Conn) LastRead() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastRead
}

// Skipped is how many lines were no JSON object, or control traffic that names
// no request.
func (c *Conn) Skipped() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.skipped
}

// end wakes whoever waits: consumers get what was read and then io.EOF,
// requests get ErrClosed, and what was not yet written never will be.
func (c *Conn) end() {
	c.mu.Lock()
	first := !c.over
	c.over = true
	c.mu.Unlock()
	if first {
		close(c.ended)
		c.lines.close()
		c.out.abandon()
	}
}

// closeAtEnd waits for the end, cancels the callbacks and closes the pipes.
func (c *Conn) closeAtEnd(ctx context.Context, cancel context.CancelFunc) error {
	select {
	case <-ctx.Done():
	case <-c.ended:
	case <-c.broken:
		timer := time.NewTimer(lastWords)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-c.ended:
		case <-timer.C:
		}
	}
	c.end() // before the pipes close, so that nobody takes that for a fault
	cancel()
	for _, pipe := range []any{c.w, c.r} {
		if closer, ok := pipe.(io.Closer); ok {
			_ = closer.Close() // it may be closed already; nothing can be lost here
		}
	}
	return nil
}

// noteFault keeps the first fault that Run returns.
func (c *Conn) noteFault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault == nil {
		c.fault = err
	}
}

// guard turns a panic into an error: one in a goroutine of ours would end the
// whole program.
func guard(run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal fault: %s", faultName(p))
		}
	}()
	return run()
}
