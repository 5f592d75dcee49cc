package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"

	"ollimbot/core/base/clean"
	"ollimbot/tui/keyboard"
	"ollimbot/tui/screen"
)

// terminal is what the dashboard runs on. It can be lent to another program.
type terminal struct {
	screen   *screen.Screen     // nil where only frames are drawn
	keyboard *keyboard.Keyboard // nil where no input is read
	in       io.Reader
	out      io.Writer
	programs []string // the environment of the programs that it is lent to
	remote   bool     // it is a pseudo-terminal that belongs to the bot
}

func newTerminal(o Options) *terminal {
	t := &terminal{in: o.Input, out: o.Output, programs: o.Env}
	if o.Remote != nil {
		t.remote, t.programs = true, o.Remote.Programs
	}
	return t
}

// editorGrace is how long a program has to end once the dashboard does.
const editorGrace = 2 * time.Second

// lend runs a program on the terminal and takes the terminal back, however the program
// ended. Nothing is painted and no key is read until then.
func (t *terminal) lend(ctx context.Context, argv []string) (err error) {
	if t.keyboard != nil {
		t.keyboard.Stop()
		defer func() { err = errors.Join(err, t.keyboard.Start()) }()
	}
	defer func() {
		if back := t.screen.Open(); back != nil {
			err = errors.Join(err, fmt.Errorf("take the terminal back: %w", back))
		}
	}()
	if err := t.screen.Close(); err != nil {
		return fmt.Errorf("hand the terminal over: %w", err)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = t.out, t.out, t.programs
	if f, ok := t.in.(*os.File); ok { // anything else would be read after the program's end
		cmd.Stdin = f
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = editorGrace
	if t.remote {
		// In a session of its own, so that its signals reach nothing else. Except on Linux the
		// end of the session's leader would close the terminal for the bot too.
		f, ok := t.in.(term.File)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: ok && term.IsTerminal(f.Fd()) && runtime.GOOS == "linux"}
		return cmd.Run()
	}
	return inForeground(cmd, t.in)
}

// inForeground runs a command as the terminal's foreground group: ctrl+c in an
// editor must not end the bot. The editor cannot be stopped with ctrl+z, since
// nothing could take the terminal from it then. If in is not the terminal of
// this session the command just runs.
func inForeground(cmd *exec.Cmd, in io.Reader) error {
	f, ok := in.(term.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return cmd.Run()
	}
	tty := int(f.Fd())
	mine, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	if err != nil { // not the terminal that sends us signals
		return cmd.Run()
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: tty}
	signal.Ignore(syscall.SIGTSTP) // the editor inherits that
	defer signal.Reset(syscall.SIGTSTP)
	if err := cmd.Start(); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGTTOU) // else taking the terminal back would stop us
	defer signal.Reset(syscall.SIGTTOU)
	err = cmd.Wait()
	if back := unix.IoctlSetPointerInt(tty, unix.TIOCSPGRP, mine); back != nil && err == nil {
		err = fmt.Errorf("take the terminal's group back: %w", back)
	}
	return err
}

// suspend stops the program until the shell continues it. A remote dashboard never stops:
// the bot would stop with it.
func (t *terminal) suspend() (stopped bool, err error) {
	if t.remote || t.screen == nil {
		return false, nil
	}
	return t.screen.Suspend(textPaused)
}

// reopen sets the terminal up again after the shell has had it.
func (t *terminal) reopen() error { return errors.Join(t.screen.Close(), t.screen.Open()) }

// setTitle names the window.
func (t *terminal) setTitle(title string) error {
	if t.screen == nil {
		return nil
	}
	return t.screen.SetTitle(title)
}

// alert gets the user's attention in the way that is chosen, one of settings.Bells.
func (t *terminal) alert(bell, text string) error {
	switch {
	case t.screen == nil:
	case bell == "bell":
		return t.screen.Bell()
	case bell == "notify":
		return t.screen.Notify(clean.Line(text))
	}
	return nil
}
