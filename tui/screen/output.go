package screen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/charmbracelet/x/term"
)

// ErrUnread says that the terminal does not take what it is sent, and that the program
// ends without waiting for it.
var ErrUnread = errors.New("the terminal no longer reads")

// unreadFor is how long a terminal may take for a write once the program has to end.
const unreadFor = time.Second

// Output writes to a terminal that may stop reading, as a frozen window does. A write waits
// for it until ctx has ended, and then for unreadFor. Its methods are called from one
// goroutine. Use NewOutput.
type Output struct {
	ctx   context.Context
	to    io.Writer
	stuck chan error // gets the end of the write that was given up; nil for none
}

// NewOutput returns an output whose writes do not outlast ctx for long.
func NewOutput(ctx context.Context, to io.Writer) *Output { return &Output{ctx: ctx, to: to} }

// Write returns ErrUnread once a write was given up. That write may still read text.
func (o *Output) Write(text []byte) (int, error) {
	if o.stuck != nil {
		return 0, ErrUnread
	}
	written := 0
	done := make(chan error, 1)
	go func() { // a write to a terminal cannot be interrupted
		n, err := o.to.Write(text)
		written = n
		done <- err
	}()
	var err error
	select {
	case err = <-done:
	case <-o.ctx.Done():
		late := time.NewTimer(unreadFor)
		defer late.Stop()
		select {
		case err = <-done:
		case <-late.C:
			o.stuck = done
			return 0, ErrUnread
		}
	}
	if err != nil {
		return written, fmt.Errorf("write to the terminal: %w", err)
	}
	return written, nil
}

// Last writes text that must arrive. If a write was given up, Last first throws away what
// the terminal has not read, so that text is what it reads next.
func (o *Output) Last(text string) error {
	_, err := o.Write([]byte(text))
	if errors.Is(err, ErrUnread) && o.discard() {
		_, err = o.Write([]byte(cancelSequence + text))
	}
	return err
}

// cancelSequence ends a sequence that was cut.
const cancelSequence = "\x18"

// discard throws away what the terminal has not read, until the write that was given up has
// ended. It reports whether the terminal takes text again.
func (o *Output) discard() bool {
	f, ok := o.to.(term.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return false
	}
	tick := time.NewTicker(unreadFor / 100)
	defer tick.Stop()
	for range 100 {
		if flush(int(f.Fd())) != nil {
			return false
		}
		select {
		case <-o.stuck: //nolint:errcheck // that write was given up
			o.stuck = nil
			return flush(int(f.Fd())) == nil
		case <-tick.C:
		}
	}
	return false
}
