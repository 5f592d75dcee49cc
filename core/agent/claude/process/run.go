package process

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// ErrSlow says that a command did not end within its time.
var ErrSlow = errors.New("it took too long")

// Answer is what a command has said, which was started, read and ended.
type Answer struct {
	Stdout []byte
	Stderr string // see Process.StderrTail
	Err    error  // how it ended; see Process.Err
}

// Run starts a command without input, reads up to most bytes of what it says, and
// ends it with all that it has left. The error is that of Start, ErrSlow after
// limit, that of ctx, or says that something still runs.
func Run(ctx context.Context, s Spec, limit time.Duration, most int64) (Answer, error) {
	p, err := Start(s)
	if err != nil {
		return Answer{}, err
	}
	_ = p.Stdin().Close()
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// The kill, and the collecting after it, end the reading too.
	stop := context.AfterFunc(within, func() { _ = p.Signal(os.Kill) })
	said, readErr := io.ReadAll(io.LimitReader(p.Stdout(), most))
	if int64(len(said)) < most {
		waitFor(p.Done(), within.Done(), limit)
	}
	stop()
	late := within.Err() != nil
	cancel()
	err = p.Stop(within, 0)
	switch {
	case err != nil:
		return Answer{}, err
	case ctx.Err() != nil:
		return Answer{}, ctx.Err()
	case late:
		return Answer{}, ErrSlow
	case readErr != nil:
		return Answer{}, readErr
	}
	return Answer{Stdout: said, Stderr: p.StderrTail(), Err: p.Err()}, nil
}
