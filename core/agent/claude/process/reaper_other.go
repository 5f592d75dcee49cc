//go:build !linux

package process

import "syscall"

// attributes gives the command its own session. The command ends with the bot because the system
// closes its input.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// innermost is a no-op: this platform has no sandbox in between.
func innermost(int, string) (int, bool) { return 0, false }

// collect ends the remaining processes of a group; 0 means no group. This system does not show the
// environments of other processes, so commands in their own sessions are not found.
func collect(group int, _ func(mark string) bool) (int, error) {
	if group > 0 {
		_ = syscall.Kill(-group, syscall.SIGKILL) // fails only if the group no longer exists
	}
	return 0, nil
}

// resident would need a call into the system's libraries, so it is unknown.
func resident(int) (int64, bool) { return 0, false }
