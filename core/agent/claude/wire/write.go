package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

var errNoObject = errors.New("only JSON objects can be sent")

// Send queues one line: a value that marshals to a JSON object. It never waits
// for the pipe, so nil does not mean that the line was read. ErrClosed says
// that it never will be.
func (c *Conn) Send(line any) error {
	encoded, err := encode(line)
	if err != nil {
		return fmt.Errorf("send a line: %w", err)
	}
	if !c.out.push(encoded) {
		return ErrClosed
	}
	return nil
}

// write is the only place that writes. It ends with the connection or with the
// first fault of the pipe, after which nothing can be sent.
func (c *Conn) write(ctx context.Context) error {
	defer func() {
		c.out.abandon()
		close(c.broken)
	}()
	for {
		line, err := c.out.pop(ctx)
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

// encode makes one line of v, with its line break. The CLI exits at the first
// line that is no JSON object, so nothing else gets past here.
// The encoder escapes every line break inside of values, U+2028 too, and takes
// those between values of raw JSON away.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return nil, err
	}
	line := b.Bytes()
	if line[0] != '{' {
		return nil, errNoObject
	}
	if !utf8.Valid(line) { // raw JSON is taken over as it is
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	return line, nil
}
