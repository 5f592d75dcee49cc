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
// anything; one that never blocks is read as it is, and what is no file is closed.
func interruptible(ctx context.Context, in io.Reader) (io.Reader, func()) {
	r, err := cancelreader.NewReader(in)
	if err != nil {
		return in, func() {}
	}
	stop := context.AfterFunc(ctx, func() {
		if c, ok := in.(io.Closer); !r.Cancel() && ok {
			_ = c.Close() // nothing is left to be done about an input that does not close
		}
	})
	return r, func() { stop(); _ = r.Close() }
}

// take hears a line of input. One that ends in a backslash goes on in the next;
// one that ends in two ends in one.
func (m *session) take(line string) {
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	line, goesOn := strings.CutSuffix(line, `\`)
	goesOn = goesOn && !strings.HasSuffix(line, `\`)
	if len(m.begun) <= maxLine {
		m.begun += strings.TrimRightFunc(line, unicode.IsSpace) + "\n"
	}
	if goesOn {
		m.answer(kindMore, textGoesOn)
		return
	}
	m.finish()
}

// finish obeys what was said on all its lines.
func (m *session) finish() {
	text := m.begun
	m.begun = ""
	if len(text) > maxLine { // a single line may have been cut as it was read
		m.answer(kindError, textTooLong)
	} else if text = strings.TrimSpace(text); text != "" {
		m.obey(text)
	}
}
