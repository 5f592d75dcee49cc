package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// readBuffer is what one read can bring: half of what a Linux pipe holds. A
// longer line is collected in pieces and joined once.
const readBuffer = 32 << 10

// space is what may stand around a JSON value.
const space = " \t\r\n"

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
			c.take(ctx, bytes.Trim(raw, space), g)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read: %w", err)
		}
	}
}

// take sorts one line. The line's memory is its own and stays untouched.
func (c *Conn) take(ctx context.Context, raw []byte, g *sync.WaitGroup) {
	now := time.Now()
	c.mu.Lock()
	c.lastRead = now
	c.mu.Unlock()
	if len(raw) == 0 {
		return
	}
	h, ok := peek(raw)
	if !ok {
		c.skip(len(raw))
		return
	}
	switch kind := h.text("type"); kind {
	case kindControlResponse:
		ok = c.settle(h)
	case kindControlRequest:
		ok = c.accept(ctx, h, g)
	case kindControlCancel:
		c.cancel(h.text("request_id"))
	default:
		c.lines.push(Line{Type: kind, Subtype: h.text("subtype"), Raw: raw, At: now})
	}
	if !ok {
		c.skip(len(raw))
	}
}

// skip counts a line that nobody can use; the log hears of the first only.
func (c *Conn) skip(size int) {
	c.mu.Lock()
	c.skipped++
	first := c.skipped == 1
	c.mu.Unlock()
	if first {
		c.log.Warn("output that is not of the protocol was skipped", "bytes", size)
	}
}
