package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

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
