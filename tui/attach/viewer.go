package attach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
	"golang.org/x/time/rate"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/safety/audit"
	"ollimbot/tui"
	"ollimbot/tui/plain"
	"ollimbot/tui/screen"
	"ollimbot/tui/settings"
)

// Limits on a viewer's input, bytes per second and at once: a sequence without an end is parsed too.
const inRate, inBurst = 128 << 10, 256 << 10

// viewer is one client, in the bot.
type viewer struct {
	*wire
	server  *Server
	hello   hello
	in, out *os.File
	signals chan os.Signal
	done    chan message // the client's answers
}

// serve shows the dashboard, or plain mode, until the viewer quits, its client is lost or the bot ends.
func (v *viewer) serve(bot context.Context) {
	h := &v.hello
	v.signals, v.done = make(chan os.Signal, 4), make(chan message, 1)
	from := cmp.Or(clean.Cut(clean.Line(h.From), 60), "this machine")
	origin := fmt.Sprintf("viewer %d: %s", v.server.serial.Add(1), from)
	ctx, stop := context.WithCancel(audit.With(bot, audit.User, origin))
	defer stop()
	var listening sync.WaitGroup
	listening.Go(func() {
		defer stop() // the client has left
		v.listen()
	})
	defer listening.Wait()
	defer func() { _ = v.conn.Close() }()
	if v.send(message{Do: doAttached}) != nil {
		return // it is gone
	}
	o := &v.server.o
	what, rights := "dashboard", "full"
	if h.Plain {
		what = "plain"
	}
	if h.ReadOnly {
		rights = "read-only"
	}
	shown := o.Bot.Viewer(h.ReadOnly)
	defer shown.Close()
	o.Bot.Note(ctx, audit.ViewerAttached, what, rights)
	o.Log.Info("a viewer has attached", "who", origin, "what", what, "read_only", h.ReadOnly)
	defer o.Log.Info("a viewer has left", "who", origin)
	var err error
	if h.Plain {
		err = plain.Run(ctx, shown, plain.Options{
			Input: v.input(ctx), Output: screen.NewOutput(ctx, v.out), Typed: h.Typed, ReadOnly: h.ReadOnly, Notice: h.Notice,
			Config: o.Settings, Remains: true,
		})
	} else {
		err = v.dashboard(ctx, shown)
	}
	closeAll([]*os.File{v.in, v.out}) // the client can print the rest of a pipe before the bye
	bye := message{Do: doBye}
	switch {
	case bot.Err() != nil:
		bye.Ended, bye.Text = true, textEnded
	case ctx.Err() != nil, errors.Is(err, syscall.EIO), errors.Is(err, syscall.EPIPE): // it or its terminal has gone
	case isRefusal(err) != "":
		bye.Text = err.Error()
	case err != nil:
		o.Log.Error("a viewer broke", "error", err)
		bye.Text = textBroke
	}
	_ = v.send(bye) // it may be gone
}

// dashboard shows the dashboard on the passed terminal.
func (v *viewer) dashboard(ctx context.Context, shown *core.Viewer) error {
	h, o := &v.hello, &v.server.o
	env := slices.DeleteFunc(slices.Clone(h.Env), func(variable string) bool { return !counts(variable) })
	remote := &tui.Remote{
		Signals: v.signals, Run: v.program,
		OnOpen: func(file string) { o.Bot.Note(ctx, audit.FileOpened, file, "") },
	}
	if h.From != "" {
		remote.Host = o.Host
	}
	if h.Shell {
		remote.Suspend = v.suspend
	}
	switch {
	case !term.IsTerminal(v.in.Fd()) || !term.IsTerminal(v.out.Fd()):
		return refusal(textNoTerminal)
	case slices.Contains(env, "TERM=dumb"):
		return refusal(textDumb)
	case h.Theme != "" && !slices.Contains(settings.Themes, h.Theme):
		return refusal(fmt.Sprintf("--theme takes %s", strings.Join(settings.Themes, ", ")))
	}
	if err := disown(int(v.in.Fd())); err != nil {
		return err
	}
	return tui.Run(ctx, shown, tui.Options{
		Input: v.input(ctx), Output: v.out, Env: append(env, "VISUAL="+h.Editor), ReadOnly: h.ReadOnly, Theme: h.Theme,
		Config: o.Settings, Notice: h.Notice, Remote: remote,
	})
}

// disown makes a terminal that is the bot's controlling one belong to its shell alone. It is for a bot in the background of
// the shell that the viewer was started from: there, reading the terminal would stop the bot.
func disown(tty int) error {
	if _, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP); err != nil {
		return nil //nolint:nilerr // it is not the bot's
	}
	if err := unix.IoctlSetInt(tty, unix.TIOCNOTTY, 0); err != nil {
		return fmt.Errorf("give up the terminal: %w", err)
	}
	return nil
}

// listen reads what the client says until it leaves.
func (v *viewer) listen() {
	for {
		m, err := v.receive()
		if err != nil {
			return
		}
		switch m.Do {
		case doSignal:
			select {
			case v.signals <- m.Signal:
			default: // the dashboard has not read the last ones yet
			}
		case doDone:
			select {
			case v.done <- m:
			default: // nothing was asked
			}
		}
	}
}

// ask has the client do something, and waits until it has.
func (v *viewer) ask(ctx context.Context, what message) (answer message, err error) {
	if err := v.send(what); err != nil {
		return answer, err
	}
	select {
	case answer = <-v.done:
		return answer, nil
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

func (v *viewer) suspend(ctx context.Context) error {
	_, err := v.ask(ctx, message{Do: doSuspend})
	return err
}

// program implements tui.Remote.Run.
func (v *viewer) program(ctx context.Context, argv []string) error {
	a, err := v.ask(ctx, message{Do: doRun, Argv: argv})
	switch {
	case err != nil:
		return err
	case a.Missing:
		return exec.ErrNotFound
	case a.Status != "":
		return failed(a.Status)
	case a.Text != "":
		return errors.New(a.Text)
	}
	return nil
}

// failed is the status of a program that the client has run, a tui.ExitError.
type failed string

func (f failed) Error() string { return string(f) }

// ExitCode is unknown here.
func (failed) ExitCode() int { return -1 }

// input returns what the viewer types.
func (v *viewer) input(ctx context.Context) paced {
	return paced{v.in, ctx, rate.NewLimiter(inRate, inBurst)}
}

// paced is a file whose reader gets at most inRate.
type paced struct {
	*os.File
	ctx   context.Context
	limit *rate.Limiter
}

func (p paced) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	_ = p.limit.WaitN(p.ctx, min(max(n, 0), inBurst)) // it fails only at the viewer's end
	return n, err
}

// counts reports whether a viewer's variable is used: one that describes its terminal, with a value that is a plain
// word, like names of terminals and locales. A file named after a terminal is looked for.
func counts(variable string) bool {
	name, value, _ := strings.Cut(variable, "=")
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.+@;:", r)
	}
	known := slices.Contains([]string{"TERM", "COLORTERM", "COLORFGBG", "LANG", "NO_COLOR", "NO_MOTION", "REDUCE_MOTION"}, name) ||
		strings.HasPrefix(name, "LC_")
	return known && len(variable) <= 80 && strings.TrimLeftFunc(value, plain) == ""
}
