// Package procgroup lets a command and all its children end together. It owns process
// groups; it must not know what runs in them.
package procgroup

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Own gives a command a process group, so that its children end with it when its
// context does, and a session, so that none of them can reach the dashboard's
// terminal. A bubblewrap that is killed while it starts leaves its child waiting
// forever; the group takes that along.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

// Kill ends what a command has left running.
func Kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // a group that has ended is fine
}
