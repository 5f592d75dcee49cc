package screen

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
)

// frozen takes nothing until it is closed.
type frozen chan struct{}

func (f frozen) Write(p []byte) (int, error) {
	<-f
	return 0, io.ErrClosedPipe
}

// S28: a write that was not read kept the whole program from ending.
func TestAnUnreadTerminalIsWaitedForUntilTheEndAndNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		to := make(frozen)
		defer close(to)
		s := New(ctx, to, nil)
		begun := time.Now()
		const lives = time.Hour
		time.AfterFunc(lives, end)
		for _, err := range []error{s.Open(), s.Paint([]string{"x"}), s.Close()} {
			if !errors.Is(err, ErrUnread) {
				t.Errorf("error %v", err)
			}
		}
		if got := time.Since(begun); got != lives+unreadFor {
			t.Errorf("the program waited for %v, not %v", got, lives+unreadFor)
		}
	})
}

func TestASlowTerminalIsGivenTimeAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		in, out := io.Pipe()
		go func() {
			time.Sleep(unreadFor - time.Millisecond)
			_, _ = io.Copy(io.Discard, in)
		}()
		end()
		if _, err := NewOutput(ctx, out).Write([]byte("x")); err != nil {
			t.Error(err)
		}
		_ = out.Close()
	})
}

// S28: it reads again after the program has ended, and is as it was before.
func TestAFrozenTerminalIsGivenBackOnceItReads(t *testing.T) {
	testkit.Alone(t)
	master, tty, err := pty.Open()
	testkit.Must(t, err)
	defer master.Close()
	ctx, end := context.WithCancel(t.Context())
	s := New(ctx, tty, tty)
	before := modes(t, tty)
	testkit.Must(t, s.Open())
	fill(t, int(tty.Fd()))
	end()
	if err := s.Paint([]string{"a frame"}); !errors.Is(err, ErrUnread) {
		t.Errorf("the frame gives %v", err)
	}
	testkit.Must(t, s.Close())
	if got := modes(t, tty); got != before {
		t.Errorf("the terminal is left as %s, was %s", got, before)
	}
	testkit.Must(t, tty.Close())
	rest, _ := io.ReadAll(master) // ends with an error, as the terminal has
	if got := string(rest); !strings.HasSuffix(got, cancelSequence+leave+popTitle) {
		t.Errorf("the last that it reads is %q", got[max(0, len(got)-200):])
	}
}

// fill writes to a terminal until it takes no more.
func fill(t *testing.T, fd int) {
	t.Helper()
	testkit.Must(t, unix.SetNonblock(fd, true))
	for text := []byte(strings.Repeat("x", 512)); len(text) > 0; {
		if n, err := unix.Write(fd, text); n <= 0 && !errors.Is(err, unix.EINTR) {
			text = text[:len(text)/2]
		}
	}
	testkit.Must(t, unix.SetNonblock(fd, false))
}
