// Package wire speaks the line protocol of the claude command over a pair of
// pipes: one JSON object a line, control requests in both directions with
// their answers and cancellations, and typed views of the lines that a host
// needs.
//
// It owns framing, the queue of what is to be written and the goroutines that
// answer. It must not know processes, sessions, turns, hooks or the bot. What it
// decodes is text from outside as it came: whoever shows or stores it cleans it.
package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core/base/fault"
	"ollimbot/core/base/queue"
)

const (
	// lastWords is how long reading goes on after writing has failed: a program
	// that has refused to start has often said why on its other pipe.
	lastWords = 2 * time.Second
	// readBuffer is what one read can bring: half of what a Linux pipe holds. A
	// longer line is collected in pieces and joined once.
	readBuffer = 32 << 10
	// space is what may stand around a JSON value.
	space = " \t\r\n"
)

// ErrClosed says that the connection has ended, or can no longer send.
var ErrClosed = errors.New("the connection to claude has ended")

// Handler answers a control_request of the CLI. It runs in a goroutine of its
// own, in no order among its likes; ctx ends when the CLI cancels the request
// or the connection ends, and the handler must return soon after. A nil
// response is the empty object; an error, or a panic, is answered as an error.
// The request is the inner "request" object; the handler may keep it.
type Handler func(ctx context.Context, subtype string, request json.RawMessage) (response any, err error)

// Options are what a connection may have.
type Options struct {
	Handler Handler // nil answers every request with an error
	// Line takes each line that is not control traffic, in order, in the goroutine
	// that reads: it must not block. Nil drops them.
	Line func(Line)
	Log  *slog.Logger // nil logs nothing; contents of messages are never logged
}

// Conn is one connection. All methods may be called from any goroutine, before
// Run too.
type Conn struct {
	r     io.Reader
	w     io.Writer
	o     Options
	out   *queue.Queue[[]byte] // whole lines with their line break, not yet written
	ended chan struct{}        // closed when nothing is delivered or sent any more

	// The lock guards all that follows. It is never held over I/O or a handler.
	mu       sync.Mutex
	over     bool  // ended is closed
	fault    error // of the writer
	lastRead time.Time
	skipped  int
	asked    int                   // requests that were sent, for their ids
	waiting  map[string]chan reply // requests that have no answer yet
	pending  map[string]*callback  // requests of the CLI that have no answer yet
}

// New makes a connection that reads r and writes w. It starts nothing: lines
// that are sent before Run wait for it.
func New(r io.Reader, w io.Writer, o Options) *Conn {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Line == nil {
		o.Line = func(Line) {}
	}
	return &Conn{
		r: r, w: w, o: o, out: queue.New[[]byte](), ended: make(chan struct{}),
		waiting: map[string]chan reply{}, pending: map[string]*callback{},
	}
}

// Run reads until r ends, then ends what waits. It owns every goroutine of the
// connection (the writer, the one that closes the pipes, one for each request
// of the CLI that is being answered) and returns when the last is gone. It is
// called once.
//
// From here on the pipes belong to the connection: those that are io.Closers
// are closed at its end. That is also what frees a read or a write that hangs,
// so that without a Close a pipe that hangs keeps Run from returning.
//
// It gives nil at a clean end of r, ctx's error when that ended it, and
// otherwise the fault of the pipe. After a fault of w it goes on reading for
// two seconds at most, for the last words of the other side.
func (c *Conn) Run(ctx context.Context) error {
	life, cancel := context.WithCancel(ctx)
	defer cancel()
	var g sync.WaitGroup
	g.Go(func() {
		if err := fault.Guard("writing to claude", func() error { return c.write(life) })(); err != nil {
			c.mu.Lock()
			c.fault = err
			c.mu.Unlock()
			select {
			case <-time.After(lastWords):
				cancel()
			case <-life.Done():
			}
		}
	})
	g.Go(func() {
		<-life.Done()
		c.end() // before the pipes close, so that nobody takes that for a fault
		for _, pipe := range []any{c.w, c.r} {
			if closer, ok := pipe.(io.Closer); ok {
				_ = closer.Close() // it may be closed already; nothing can be lost here
			}
		}
	})
	err := fault.Guard("reading from claude", func() error { return c.read(life, &g) })()
	c.end()
	cancel()
	g.Wait()
	switch {
	case c.fault != nil:
		return c.fault
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// Ended is closed when no line comes any more and nothing can be sent. Callbacks
// may still run then.
func (c *Conn) Ended() <-chan struct{} { return c.ended }

// Pending is how many requests of the CLI are being answered now. One that the
// CLI has cancelled no longer counts, though its handler may still run.
func (c *Conn) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}

// LastRead is when the last line arrived, of any kind but the one that only says
// that the process lives; zero before the first.
func (c *Conn) LastRead() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastRead
}

// end wakes whoever waits: requests get ErrClosed, and what was not yet written
// never will be.
func (c *Conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.over = true
		close(c.ended)
		c.out.Abandon()
	}
}

// read takes lines until r ends. g waits for the goroutines that it starts.
func (c *Conn) read(ctx context.Context, g *sync.WaitGroup) error {
	in := bufio.NewReaderSize(c.r, readBuffer)
	for {
		raw, err := in.ReadBytes('\n')
		select {
		case <-c.ended:
			return ErrClosed
		default:
		}
		if len(raw) > 0 {
			c.dispatch(ctx, bytes.Trim(raw, space), g)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read: %w", err)
		}
	}
}

// dispatch sorts one line. The line's memory is its own and stays untouched.
func (c *Conn) dispatch(ctx context.Context, raw []byte, g *sync.WaitGroup) {
	now := time.Now()
	h, ok := peek(raw)
	kind := h.text("type")
	if kind != kindKeepAlive {
		c.mu.Lock()
		c.lastRead = now
		c.mu.Unlock()
	}
	if len(raw) == 0 {
		return
	}
	if !ok {
		c.skip(len(raw))
		return
	}
	switch kind {
	case kindControlResponse:
		ok = c.resolve(h)
	case kindControlRequest:
		ok = c.accept(ctx, h, g)
	case kindControlCancel:
		c.cancel(h.text("request_id"))
	default:
		c.o.Line(Line{Type: kind, Subtype: h.text("subtype"), Raw: raw, At: now})
	}
	if !ok {
		c.skip(len(raw))
	}
}

// skip counts a line that nobody can use: one that is no JSON object, or control
// traffic that names no request. The log hears of the first only.
func (c *Conn) skip(size int) {
	c.mu.Lock()
	c.skipped++
	first := c.skipped == 1
	c.mu.Unlock()
	if first {
		c.o.Log.Warn("output that is not of the protocol was skipped", "bytes", size)
	}
}

// write is the only place that writes. It ends with the connection or with the
// first fault of the pipe, after which nothing can be sent.
func (c *Conn) write(ctx context.Context) error {
	defer c.out.Abandon()
	for {
		line, err := c.out.Pop(ctx)
		if err != nil {
			return nil // the connection has ended
		}
		n, err := c.w.Write(line)
		if err == nil && n < len(line) {
			err = io.ErrShortWrite
		}
		if err == nil {
			continue
		}
		select {
		case <-c.ended: // we closed the pipe ourselves
			return nil
		default:
			return fmt.Errorf("write: %w", err)
		}
	}
}
