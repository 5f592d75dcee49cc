package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/muesli/cancelreader"
)

// listen hands over the lines of the input until its end, which closes the
// channel, or the end of ctx.
func (m *session) listen(ctx context.Context) error {
	defer close(m.lines)
	if m.o.Input == nil {
		<-ctx.Done()
		return nil
	}
	in, stop := interruptible(ctx, m.o.Input)
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

// interruptible makes a Read of the input end with ctx. Closing a terminal does
// not wake who reads from it, so that a file is asked first whether there is
// anything; one that never blocks is read as it is.
func interruptible(ctx context.Context, in io.Reader) (io.Reader, func()) {
	if _, file := in.(*os.File); file {
		if r, err := cancelreader.NewReader(in); err == nil {
			stop := context.AfterFunc(ctx, func() { r.Cancel() })
			return r, func() { stop(); _ = r.Close() }
		}
	} else if c, ok := in.(io.Closer); ok {
		// Nothing is left to be done about an input that does not close.
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		return in, func() { stop() }
	}
	return in, func() {}
}

// begun is a command whose last line said that it goes on.
type begun struct {
	lines []string
	count int // how many there were
	size  int // of all of them, in bytes; what is beyond maxLine is not kept
}

// take hears a line of input. One that ends in a backslash goes on in the next;
// one that ends in two ends in one.
func (m *session) take(line string) {
	b := &m.begun
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	line, goesOn := strings.CutSuffix(line, `\`)
	if goesOn && strings.HasSuffix(line, `\`) { // two of them
		goesOn = false
	}
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	b.count++
	if b.size += len(line) + 1; b.size <= maxLine {
		b.lines = append(b.lines, line)
	}
	if !goesOn {
		m.finish()
		return
	}
	if b.count == 1 {
		m.answer(kindMore, textGoesOn)
		return
	}
	m.answer(kindMore, fmt.Sprintf(textNextLine, b.count+1))
}

// finish obeys what was said on all its lines.
func (m *session) finish() {
	b := m.begun
	m.begun = begun{}
	if b.size > maxLine { // a single line may have been cut as it was read
		m.answer(kindError, textTooLong)
		return
	}
	if line := strings.TrimSpace(strings.Join(b.lines, "\n")); line != "" {
		m.obey(line)
	}
}
