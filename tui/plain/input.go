package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// listen hands over the lines of the input until its end, which closes the
// channel, or the end of ctx.
func (m *machine) listen(ctx context.Context) error {
	defer close(m.lines)
	if m.o.Input == nil {
		<-ctx.Done()
		return nil
	}
	in, stop, err := interruptible(ctx, m.o.Input)
	if err != nil {
		return fmt.Errorf("open the input: %w", err)
	}
	defer stop()
	r := bufio.NewReaderSize(in, 4096)
	for {
		line, err := readLine(r)
		if line != "" { // an empty line still has its end
			select {
			case m.lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.Is(err, io.EOF), errors.Is(err, os.ErrClosed), errors.Is(err, io.ErrClosedPipe):
			return nil
		default:
			return fmt.Errorf("read a command: %w", err)
		}
	}
}

// readLine reads a line of any length and keeps its first maxLine bytes.
func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		b.Write(part[:min(len(part), maxLine-b.Len())])
		if !errors.Is(err, bufio.ErrBufferFull) {
			return b.String(), err
		}
	}
}

// closing ends a Read of a reader that is no file by closing it.
func closing(ctx context.Context, in io.Reader) (io.Reader, func(), error) {
	c, ok := in.(io.Closer)
	if !ok {
		return in, func() {}, nil
	}
	// Nothing is left to be done about an input that does not close.
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	return in, func() { stop() }, nil
}
