package screen

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// programGrace is how long a program has to end once ctx does.
const programGrace = 2 * time.Second

// Program runs a program on a terminal that was given back, and returns when it has ended. If ctx ends, so does the
// program.
func Program(ctx context.Context, argv, env []string, in io.Reader, out io.Writer) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, env
	if f, ok := in.(*os.File); ok { // anything else would be read after the program's end
		cmd.Stdin = f
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = programGrace
	return inForeground(cmd, in)
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

// stopSoon is how long the system may take to stop us.
const stopSoon = time.Second

// Pause stops the program's group until its shell resumes it.
//
// It is SIGSTOP, which the system would send to a group without a shell too: once
// Go has caught SIGTSTP, that no longer stops the process, also after signal.Reset.
func Pause() error {
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	if err := syscall.Kill(0, syscall.SIGSTOP); err != nil {
		return err
	}
	select {
	case <-resumed:
	case <-time.After(stopSoon): // we were not stopped
	}
	return nil
}

// HasShell reports whether a shell with job control has started our group: our
// parent is of our session, and its leader is not one of us.
func HasShell() bool {
	session, err := unix.Getsid(0)
	parents, e := unix.Getsid(os.Getppid())
	return err == nil && e == nil && session == parents && session != syscall.Getpgrp()
}
