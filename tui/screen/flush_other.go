//go:build !linux

package screen

import "golang.org/x/sys/unix"

// toTerminal is FWRITE of <sys/fcntl.h>.
const toTerminal = 2

// flush throws away what was written to a terminal and not read yet.
func flush(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, toTerminal) }
