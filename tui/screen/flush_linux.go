package screen

import (
	"errors"

	"golang.org/x/sys/unix"
)

// flush throws away what was written to a terminal and not read yet, and wakes who waits to
// write more, which only a start after a stop does.
func flush(fd int) error {
	return errors.Join(
		unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH),
		unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOOFF),
		unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOON),
	)
}
