// Package wire speaks the line protocol of the claude command over a pair of pipes: one JSON object
// per line, control requests in both directions with answers and cancellations, and typed views of
// the other lines. It owns framing, the write queue and the goroutines that answer. It must not
// know processes, sessions, turns, hooks or the bot. Decoded text comes from outside and is not
// cleaned: clean it before showing or storing it.
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
	// lastWords is how long reading continues after a failed write: a program that refuses to start
	// has often written the reason to its other pipe.
	lastWords = 2 * time.Second
	// readBuffer is the size of one read: half of a Linux pipe. A longer line is collected
	// in pieces and joined once.
	readBuffer = 32 << 10
	// space may surround a JSON value.
	space = " \t\r\n"
)

// ErrClosed means that the connection has ended or can no longer send.
var ErrClosed = errors.New("the connection to claude has ended")

// Handler answers a control_request of the CLI. It runs in its own goroutine, concurrently with
// others; ctx ends when the CLI cancels the request or the connection ends, and the handler must
// return soon after. A nil response means the empty object; an error or a panic is answered as an
// error. The request is the inner "request" object, and the handler may keep it.
type Handler func(ctx context.Context, subtype string, request json.RawMessage) (response any, err error)

// Options of a connection.
type Options struct {
	Handler Handler // nil answers every request with an error
	// Line gets each line that is not control traffic, in order, in the reading goroutine:
	// it must not block. Nil drops them.
	Line func(Line)
	Log  *slog.Logger // nil logs nothing; message contents are never logged
}

// Conn is one connection. All methods may be called concurrently, even before Run.
type Conn struct {
	r     io.Reader
	w     io.Writer
	o     Options
	out   *queue.Queue[[]byte] // whole lines with their line break, not yet written
	ended chan struct{}        // closed when nothing more will be delivered or sent

	// mu guards the fields below. It is never held over I/O or a handler.
	mu       sync.Mutex
	over     bool  // ended is closed
	fault    error // of the writer
	lastRead time.Time
	skipped  int
	asked    int                   // number of requests sent, for their IDs
	waiting  map[string]chan reply // our unanswered requests
	pending  map[string]*callback  // unanswered requests of the CLI
}

// New creates a connection that reads r and writes w. It starts nothing: lines sent before Run are
// queued.
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

// Run reads until r ends, then ends all waiting requests. It owns every goroutine of the connection
// (the writer, the one that closes the pipes, one for each request of the CLI) and returns when all
// have ended. Call it once.
//
// From then on the pipes belong to the connection: those that are io.Closers are closed at its end,
// which also unblocks a hanging read or write. A hanging pipe without Close blocks Run.
//
// It returns nil at the end of r, ctx's error if that ended it, and otherwise the pipe's error.
// After a failed write it reads for up to two more seconds, to get the other side's last output.
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
		c.end() // before the pipes close, so that their errors are not reported
		for _, pipe := range []any{c.w, c.r} {
			if closer, ok := pipe.(io.Closer); ok {
				_ = closer.Close() // it may already be closed
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

// Ended returns a channel that is closed when no more lines arrive and nothing can be sent.
// Handlers may still be running.
func (c *Conn) Ended() <-chan struct{} { return c.ended }

// Pending returns the number of the CLI's requests that are being answered. Cancelled ones do not
// count, even if their handler is still running.
func (c *Conn) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}

// LastRead returns when the last line other than a keep-alive arrived. It is zero before the first.
func (c *Conn) LastRead() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastRead
}

// end wakes all waiting callers. Requests return ErrClosed, and unwritten lines are dropped.
func (c *Conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.over = true
		close(c.ended)
		c.out.Abandon()
	}
}

// read reads lines until r ends. g counts the goroutines that it starts.
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

// dispatch handles one line, whose memory is not reused.
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

// skip counts an unusable line: one that is not a JSON object, or control traffic without a
// request ID. Only the first is logged.
func (c *Conn) skip(size int) {
	c.mu.Lock()
	c.skipped++
	first := c.skipped == 1
	c.mu.Unlock()
	if first {
		c.o.Log.Warn("invalid output of claude was skipped", "bytes", size)
	}
}

// write is the only writer. It ends with the connection or on the pipe's first error, after which
// nothing can be sent.
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
