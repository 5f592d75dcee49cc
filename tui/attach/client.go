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
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"
	"golang.org/x/sys/unix"

	"ollimbot/core/base/unixsocket"
	"ollimbot/tui/screen"
)

// ClientOptions are the options of a client. Dial, Token, Name, In, Out and Err are required.
type ClientOptions struct {
	// Dial connects to the bot, and Token returns what it wants to hear. Name is the bot's for messages.
	Dial  func() (*net.UnixConn, error)
	Token func() string
	Name  string

	Version string // of the program
	Editor  string // the user's choice
	Env     []string
	In, Out *os.File
	Err     io.Writer

	Plain    bool
	Typed    bool // a person types the lines of plain mode
	ReadOnly bool
	Theme    string
	// Notice is shown once by the dashboard.
	Notice string
	// Stays reconnects when the bot ends and returns.
	Stays bool
}

const (
	// The first and the longest pause between attempts to reconnect.
	firstPause, longestPause = 250 * time.Millisecond, 5 * time.Second
	// farewell is how long the bot may take to give the terminal back.
	farewell = 3 * time.Second
)

// Run attaches until the user detaches or ctx ends. If the bot cannot be reached at first, that is an error; if it
// disappears later, Run waits for it. The terminal is always restored.
func Run(ctx context.Context, o ClientOptions) error {
	o.Err = screen.NewOutput(ctx, o.Err)
	c := &client{o}
	for pause, again := firstPause, false; ; {
		began := time.Now()
		attached, err := c.once(ctx, again)
		switch {
		case ctx.Err() != nil, err == nil:
			return nil
		case !o.Stays, isRefusal(err) != "", !attached && !again:
			return err
		case attached:
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

// client is one run of the program.
type client struct{ o ClientOptions }

// wait counts down to the next attempt, or until r is pressed, which it reports. ctrl+c
// is a signal here, as in a shell.
func (c *client) wait(ctx context.Context, pause time.Duration) (retry bool) {
	var pressed chan struct{} // nil in plain mode, whose input is for the bot
	if !c.o.Plain {
		if was, err := term.GetState(c.o.In.Fd()); err == nil {
			keys := *was
			keys.Lflag &^= unix.ICANON | unix.ECHO
			_ = term.SetState(c.o.In.Fd(), &keys) // without it, r takes Enter too
			defer restore(c.o.In, was)
		}
		pressed = make(chan struct{}, 1)
		defer c.read(func(b []byte) error {
			if bytes.ContainsAny(b, "rR") {
				select {
				case pressed <- struct{}{}:
				default: // it is pressed already
				}
			}
			return nil
		}, func() {})()
	}
	over := time.Now().Add(pause)
	for left := pause; left > 0; left = time.Until(over) {
		if !c.o.Plain {
			_, _ = fmt.Fprintf(c.o.Err, textWaits, (left+time.Second-1)/time.Second)
		}
		select {
		case <-time.After(min(left, time.Second)):
		case <-pressed:
			return true
		case <-ctx.Done():
			_, _ = fmt.Fprintln(c.o.Err) // the shell's next line is its own
			return false
		}
	}
	return false
}

// read passes the input to f until stop or its end, which it reports.
func (c *client) read(f func([]byte) error, end func()) (stop func()) {
	in, err := cancelreader.NewReader(c.o.In)
	if err != nil { // a file, which never waits
		in, _ = cancelreader.NewReader(struct{ io.Reader }{c.o.In})
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		b := make([]byte, 4<<10)
		for {
			n, err := in.Read(b)
			if n > 0 && f(b[:n]) != nil {
				return
			}
			if err != nil {
				if !errors.Is(err, cancelreader.ErrCanceled) {
					end()
				}
				return
			}
		}
	})
	return func() {
		if in.Cancel() {
			reading.Wait()
		}
		_ = in.Close() // it closes only what it opened itself
	}
}

// restore sets the modes of a terminal, also from the background.
func restore(tty *os.File, state *term.State) {
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	_ = term.Restore(tty.Fd(), state) // no one is left to report an error to
}

// once attaches once, and returns nil after a detach.
func (c *client) once(ctx context.Context, again bool) (attached bool, err error) {
	conn, err := c.o.Dial()
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }()
	if !unixsocket.Ours(conn) {
		return false, refusal(textOtherUser)
	}
	hello := hello{
		Protocol: protocol, Version: c.o.Version, Token: c.o.Token(), Editor: c.o.Editor, Shell: screen.HasShell(),
		Plain: c.o.Plain, Typed: c.o.Typed, ReadOnly: c.o.ReadOnly, Theme: c.o.Theme,
	}
	if !again {
		hello.Notice = c.o.Notice
	}
	for _, v := range c.o.Env {
		if from, ok := strings.CutPrefix(v, "SSH_CONNECTION="); ok {
			hello.From, _, _ = strings.Cut(from, " ")
		} else if counts(v) {
			hello.Env = append(hello.Env, v)
		}
	}
	s := &link{client: c, wire: newWire(conn, nil)}
	if c.o.Plain {
		return s.attached, s.lines(ctx, hello)
	}
	err = s.terminal(ctx, hello)
	return s.attached, err
}

// link is a client's connection.
type link struct {
	*client
	*wire
	attached bool // the bot has accepted
	taken    bool // the bot has the terminal
}

// begin sends the hello and waits until the bot has accepted it. From then on a terminal is the bot's, which draws in it:
// nothing may be printed.
func (l *link) begin(ctx context.Context, h hello, files ...*os.File) error {
	defer context.AfterFunc(ctx, func() { _ = l.conn.Close() })()
	if err := l.send(h, files...); err != nil {
		return err
	}
	if err := l.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	m, err := l.receive()
	switch {
	case errors.Is(err, errNotOurs): // an SSH server
		return refusal(fmt.Sprintf(textOldBot, l.o.Version))
	case err != nil:
		return err
	case m.Do != doAttached:
		return reason(m)
	}
	l.attached = true
	return l.conn.SetReadDeadline(time.Time{})
}

// reason returns the error of a bye, nil if the user has quit.
func reason(bye message) error {
	switch {
	case bye.Ended:
		return errors.New(bye.Text) // it may return
	case bye.Text != "":
		return refusal(bye.Text)
	}
	return nil
}

// lines copies lines between the bot and this program's input and output.
func (l *link) lines(ctx context.Context, h hello) error {
	fromUs, toBot, err := os.Pipe()
	if err != nil {
		return err
	}
	defer closeAll([]*os.File{fromUs, toBot})
	fromBot, toUs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer closeAll([]*os.File{fromBot, toUs})
	err = l.begin(ctx, h, fromUs, toUs)
	closeAll([]*os.File{fromUs, toUs}) // the bot has its own
	if err != nil {
		return err
	}
	var copying sync.WaitGroup
	copying.Go(func() {
		_, _ = io.Copy(screen.NewOutput(ctx, l.o.Out), fromBot) // its end is the bot's
		_ = fromBot.Close()                                     // what cannot be printed is not waited for
	})
	stop := l.read(func(b []byte) error { _, err := toBot.Write(b); return err }, func() { _ = toBot.Close() })
	err = l.follow(ctx, nil)
	stop()
	copying.Wait()
	return err
}

// terminal lends the terminal to the bot.
func (l *link) terminal(ctx context.Context, h hello) error {
	state, err := term.GetState(l.o.In.Fd())
	if err != nil {
		return fmt.Errorf("read the terminal's modes: %w", err)
	}
	signals := make(chan os.Signal, 8)
	notify(signals)
	defer signal.Stop(signals)
	defer func() {
		if l.taken { // the bot could not give it back
			_ = screen.NewOutput(ctx, l.o.Out).Last(screen.Restore) // no one is left to report an error to
		}
		restore(l.o.In, state)
	}()
	if err := l.begin(ctx, h, l.o.In, l.o.Out); err != nil {
		return err
	}
	l.taken = true
	return l.follow(ctx, signals)
}

// follow does what the bot asks for until it says bye, and reports the signals. If ctx ends, it asks for the end.
func (l *link) follow(ctx context.Context, signals chan os.Signal) error {
	type heard struct {
		message
		err error
	}
	heards := make(chan heard)
	over := make(chan struct{})
	defer close(over)
	go func() { // it ends with the connection
		for {
			m, err := l.receive()
			select {
			case heards <- heard{m, err}:
			case <-over:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	ends := ctx.Done()
	for {
		select {
		case sig := <-signals:
			if s, ok := sig.(syscall.Signal); ok {
				_ = l.send(message{Do: doSignal, Signal: s}) // a lost connection is heard of
			}
		case <-ends:
			ends = nil
			_ = l.conn.CloseWrite()
			_ = l.conn.SetReadDeadline(time.Now().Add(farewell))
		case m := <-heards:
			switch {
			case m.err != nil:
				return fmt.Errorf("the connection is lost: %w", m.err)
			case m.Do == doBye:
				l.taken = false
				return reason(m.message)
			case m.Do == doRun, m.Do == doSuspend:
				l.taken = false
				signal.Stop(signals) // the bot looks at the size again, and need not hear that this program continues
				done := message{Do: doDone}
				if m.Do == doRun {
					done = l.program(ctx, m.Argv)
				} else {
					_, _ = io.WriteString(l.o.Err, textPaused)
					_ = screen.Pause() // then it was not stopped
				}
				notify(signals)
				l.taken = true
				_ = l.send(done)
			}
		}
	}
}

// notify asks for the terminal's signals, again after a program has had it.
func notify(signals chan os.Signal) {
	signal.Notify(signals, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTSTP)
}

// program runs a program on the terminal.
func (l *link) program(ctx context.Context, argv []string) message {
	done := message{Do: doDone}
	if l.o.ReadOnly || len(argv) == 0 {
		done.Text = textLooksOnly
		return done
	}
	err := screen.Program(ctx, argv, l.o.Env, l.o.In, l.o.Out)
	var ended *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &ended):
		done.Status = ended.Error()
	case errors.Is(err, exec.ErrNotFound):
		done.Missing = true
	default:
		done.Text = err.Error()
	}
	return done
}
