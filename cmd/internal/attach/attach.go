// Package attach is the client side of a remote dashboard: it connects to the bot, authenticates, and connects the
// terminal, which it always restores. It reconnects when the bot restarts. It must not know what is displayed.
package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"ollimbot/tui/attach"
	"ollimbot/tui/screen"
)

// Options of a client. Dial, Auth and HostKey are required.
type Options struct {
	// Dial connects to the bot; Name is its address for messages.
	Dial func(ctx context.Context) (net.Conn, error)
	Name string
	// User, Auth and HostKey authenticate both sides.
	User    string
	Auth    []ssh.AuthMethod
	HostKey ssh.HostKeyCallback
	// Ask asks the user a question, before the terminal is connected. Nil if there is no user.
	Ask func(question string) (string, error)
	// Command is the view to open; empty for the dashboard.
	Command string
	// Lines leaves the terminal in its mode, for plain lines.
	Lines bool
	// Stays reconnects when the bot ends and returns.
	Stays   bool
	In, Out *os.File
	Err     io.Writer
	Env     []string // of this process
}

const (
	patience = 10 * time.Second
	answers  = 30 * time.Second // of the other end, when it is asked whether it is there
	// The first and the longest pause between attempts to reconnect.
	firstPause, longestPause = 250 * time.Millisecond, 5 * time.Second
)

// StatusError is the exit status of a command that has failed and has printed the reason.
type StatusError int

func (e StatusError) Error() string { return fmt.Sprintf("the bot ended it with status %d", int(e)) }

// Run attaches until the user detaches or ctx ends. If the bot cannot be reached at first, that is an error; if it
// disappears later, Run waits for it.
func Run(ctx context.Context, o Options) error {
	o.Err = screen.NewOutput(ctx, o.Err)
	c := &client{o: o, retry: make(chan struct{}, 1)}
	for pause, again := firstPause, false; ; {
		began := time.Now()
		err := c.once(ctx, again)
		var lost lostError
		var unknown *unknownKeyError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &unknown) && !again && o.Ask != nil:
			if err := unknown.settle(o.Ask); err != nil {
				return err
			}
			continue
		case !errors.As(err, &lost) && (!again || !unreachable(err)):
			return err
		case !o.Stays:
			return err
		case !again || lost.attached:
			if time.Since(began) > longestPause {
				pause = firstPause
			}
			_, _ = fmt.Fprintf(o.Err, textLost, o.Name)
		}
		again = true
		if c.wait(ctx, pause/2+rand.N(pause/2)) {
			pause = firstPause
		} else {
			pause = min(2*pause, longestPause)
		}
	}
}

// wait counts down to the next attempt, or until r is pressed, which it reports. ctrl+c
// is a signal here, as in a shell.
func (c *client) wait(ctx context.Context, pause time.Duration) (retry bool) {
	c.feed(nil)
	if !c.o.Lines {
		if was, err := term.GetState(c.o.In.Fd()); err == nil {
			keys := *was
			keys.Lflag &^= unix.ICANON | unix.ECHO
			_ = term.SetState(c.o.In.Fd(), &keys) // without it, r takes Enter too
			defer func() { _ = term.SetState(c.o.In.Fd(), was) }()
		}
	}
	over := time.Now().Add(pause)
	for left := pause; left > 0; left = time.Until(over) {
		if !c.o.Lines {
			_, _ = fmt.Fprintf(c.o.Err, textWaits, (left+time.Second-1)/time.Second)
		}
		select {
		case <-time.After(min(left, time.Second)):
		case <-c.retry:
			return true
		case <-ctx.Done():
			_, _ = fmt.Fprintln(c.o.Err) // the shell's next line is its own
			return false
		}
	}
	return false
}

// lostError is a lost connection, or a bot that has ended.
type lostError struct {
	attached bool
	err      error
}

func (e lostError) Error() string { return fmt.Sprintf("the connection is lost: %v", e.err) }

// unreachable reports whether no bot answered, which may be temporary.
func unreachable(err error) bool {
	var netErr *net.OpError
	return errors.As(err, &netErr) || errors.Is(err, os.ErrNotExist) || errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, syscall.ECONNRESET) || strings.Contains(fmt.Sprint(err), "disconnect, reason 12") // too many at once
}

// client is one run of the program.
type client struct {
	o Options

	mu  sync.Mutex
	in  io.WriteCloser // of the session that is attached; nil for none
	eof bool

	retry chan struct{} // r was pressed while no session is attached

	reads sync.Once
}

// listen sends the input to the current session.
func (c *client) listen() {
	b := make([]byte, 4<<10)
	for {
		n, err := c.o.In.Read(b)
		c.mu.Lock()
		if c.in != nil {
			_, _ = c.in.Write(b[:n]) // a session that is gone ends by itself
			if err != nil {
				_ = c.in.Close()
			}
		} else if bytes.ContainsAny(b[:n], "rR") {
			select {
			case c.retry <- struct{}{}:
			default: // it is pressed already
			}
		}
		c.eof = err != nil
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// feed directs the input to a session.
func (c *client) feed(in io.WriteCloser) {
	c.reads.Do(func() { go c.listen() }) // it ends with the process: a blocked read of a terminal cannot be cancelled
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.in = in; in != nil && c.eof {
		_ = in.Close()
	}
}

// once attaches once, and returns nil after a detach.
func (c *client) once(ctx context.Context, again bool) error {
	dialCtx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := c.o.Dial(dialCtx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	sshConn, channels, requests, err := ssh.NewClientConn(conn, c.o.Name, &ssh.ClientConfig{
		User: c.o.User, Auth: c.o.Auth, HostKeyCallback: c.o.HostKey, HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
	})
	if err != nil {
		return err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	client := ssh.NewClient(sshConn, channels, requests)
	defer client.Close()
	s, err := client.NewSession()
	if err != nil {
		return lostError{err: err}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go attach.KeepAlive(ctx, client, answers)
	if again && !c.o.Lines {
		_, _ = fmt.Fprintf(c.o.Err, textAgain, c.o.Name)
	}
	return c.attached(ctx, s)
}

// attached shows a session on the terminal until it ends.
func (c *client) attached(ctx context.Context, s *ssh.Session) (err error) {
	out := &watched{Output: screen.NewOutput(ctx, c.o.Out)}
	s.Stdout, s.Stderr = out, c.o.Err
	in, err := s.StdinPipe()
	if err != nil {
		return err
	}
	if !c.o.Lines {
		restore, err := c.lend(s)
		if err != nil {
			return err
		}
		defer func() {
			if out.open { // the bot could not restore it
				_ = out.Last(screen.Restore) // no one is left to report an error to
			}
			restore()
		}()
	}
	if c.o.Command == "" {
		err = s.Shell()
	} else {
		err = s.Start(c.o.Command)
	}
	if err != nil {
		return lostError{err: err}
	}
	c.feed(in)
	defer c.feed(nil)
	err = s.Wait()
	var exit *ssh.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitStatus() == attach.Ended:
		return lostError{true, errors.New("the bot has ended")}
	case errors.As(err, &exit):
		return StatusError(exit.ExitStatus())
	}
	return lostError{true, err}
}

// lend puts the terminal into raw mode and sends its size and capabilities, now and after
// each change. The returned function restores the terminal.
func (c *client) lend(s *ssh.Session) (restore func(), err error) {
	w, h, err := term.GetSize(c.o.Out.Fd())
	if err != nil {
		return nil, fmt.Errorf("ask for the terminal's size: %w", err)
	}
	name := ""
	for _, v := range c.o.Env {
		key, value, _ := strings.Cut(v, "=")
		switch {
		case key == "TERM":
			name = value
		case attach.Counts(key):
			_ = s.Setenv(key, value) // the bot may refuse a variable
		}
	}
	if err := s.RequestPty(name, h, w, ssh.TerminalModes{}); err != nil {
		return nil, fmt.Errorf("ask for a terminal: %w", err)
	}
	state, err := term.MakeRaw(c.o.In.Fd())
	if err != nil {
		return nil, fmt.Errorf("switch the terminal to raw input: %w", err)
	}
	signals, done := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(signals, syscall.SIGWINCH, syscall.SIGCONT)
	var g sync.WaitGroup
	g.Go(func() {
		for {
			select {
			case sig := <-signals:
				if sig == syscall.SIGCONT { // a shell has had it
					_, _ = term.MakeRaw(c.o.In.Fd())
				}
				if w, h, err := term.GetSize(c.o.Out.Fd()); err == nil {
					_ = s.WindowChange(h, w) // a connection that is gone ends the session
				}
			case <-done:
				return
			}
		}
	})
	return func() {
		signal.Stop(signals)
		close(done)
		g.Wait()
		_ = term.Restore(c.o.In.Fd(), state) // no one is left to report an error to
	}, nil
}

// watched is the terminal's output, and tracks whether the dashboard uses it. One goroutine writes, and has ended
// when the session has.
type watched struct {
	*screen.Output
	tail []byte
	open bool
}

const enters, leaves = "\x1b[?1049h", "\x1b[?1049l"

func (w *watched) Write(b []byte) (int, error) {
	text := string(append(w.tail, b...))
	if in, out := strings.LastIndex(text, enters), strings.LastIndex(text, leaves); in != out {
		w.open = in > out
	}
	w.tail = []byte(text[max(0, len(text)-len(enters)+1):])
	return w.Output.Write(b)
}

const (
	textLost  = "ollim-bot: the connection to %s is lost; ctrl+c stops reconnecting\n"
	textWaits = "\r\x1b[Kollim-bot: reconnecting in %d s, r to retry now"
	textAgain = "\r\x1b[Kollim-bot: attached to %s again\n"
)
