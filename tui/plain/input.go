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

	"golang.org/x/sys/unix"
)

// listen hands over the lines of the input until its end, which closes the
// channel, or the end of ctx.
func (m *session) listen(ctx context.Context) error {
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

// interruptible makes a Read of the input end with ctx. Closing a terminal does
// not wake who reads from it, so a file is asked first whether there is anything,
// together with a pipe that says when it is over.
func interruptible(ctx context.Context, in io.Reader) (io.Reader, func(), error) {
	f, ok := in.(*os.File)
	if !ok {
		return closing(ctx, in)
	}
	wake, end, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = end.Close() })
	shut := func() {
		if stop() {
			_ = end.Close()
		}
		_ = wake.Close()
	}
	return &polled{file: f, wake: wake}, shut, nil
}

// polled reads from a file for as long as the other end of wake is open.
type polled struct{ file, wake *os.File }

// Read waits for input. It gives io.EOF at the end of the context.
func (p *polled) Read(b []byte) (int, error) {
	fds := []unix.PollFd{
		{Fd: int32(p.file.Fd()), Events: unix.POLLIN},
		{Fd: int32(p.wake.Fd()), Events: unix.POLLIN},
	}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, fmt.Errorf("wait for input: %w", err)
		case fds[1].Revents != 0:
			return 0, io.EOF
		case fds[0].Revents&unix.POLLNVAL != 0:
			return 0, os.ErrClosed
		}
		return p.file.Read(b)
	}
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
