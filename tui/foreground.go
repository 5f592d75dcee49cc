package tui

import (
	"fmt"
	"io"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// inForeground runs a command as the terminal's foreground group: ctrl+c in an
// editor must not end the bot. The editor cannot be stopped with ctrl+z, since
// nobody could take the terminal from it then. Where in is not the terminal of
// our session the command just runs.
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
