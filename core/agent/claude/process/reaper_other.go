//go:build !linux

package process

import "syscall"

// attributes are those of a command: a session of its own. That it ends with us
// is for its input to tell it, which the system closes when we die.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// innermost knows nothing here: no sandbox of this system stands between.
func innermost(int, string) (int, bool) { return 0, false }

// collect ends the rest of a process's group; 0 is no group. This system does
// not show the environments of other processes, so that commands in sessions of
// their own are not found.
func collect(group int, _ func(mark string) bool) (int, error) {
	if group > 0 {
		_ = syscall.Kill(-group, syscall.SIGKILL) // what is gone needs no end
	}
	return 0, nil
}

// resident is not told without a call into the system's libraries.
func resident(int) (int64, bool) { return 0, false }
