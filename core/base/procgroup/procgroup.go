// Package procgroup makes a command and all its children end together. It owns process
// groups and must not know what runs in them.
package procgroup

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Own gives a command a process group, so that its children end when its context does,
// and a session, so that none of them can reach the dashboard's terminal. A bubblewrap
// killed during startup leaves its child waiting forever; the group kills that too.
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

// Kill kills all processes that a command has left running.
func Kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an ended group is fine
}
