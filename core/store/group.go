package store

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// OwnGroup gives a command a process group, so that its children end with it when its
// context does, and a session, so that none of them can reach the dashboard's
// terminal. A bubblewrap that is killed while it starts leaves its child waiting
// for good; the group takes that along.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

// KillGroup ends what a command has left behind.
func KillGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what is gone needs no end
}
