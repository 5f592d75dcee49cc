//go:build !linux

package process

import "syscall"

// attributes gives the command its own session. The command ends with the bot because the system
// closes its input.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// innermost is a no-op: this platform has no sandbox in between.
func innermost(int, string) (int, bool) { return 0, false }

// resident would need a call into the system's libraries, so it is unknown.
func resident(int) (int64, bool) { return 0, false }
