package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// sttyChars is how many control characters stty reads: NCCS of the C library. The kernel has
// fewer; the rest is 0.
const sttyChars = 32

// sttyMode is the mode of a terminal as `stty -g` prints it, without the time of a process.
func sttyMode(f *os.File) (string, error) {
	t, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return "", fmt.Errorf("read the terminal's mode: %w", err)
	}
	var chars [sttyChars]uint8
	copy(chars[:], t.Cc[:])
	var b strings.Builder
	fmt.Fprintf(&b, "%x:%x:%x:%x", t.Iflag, t.Oflag, t.Cflag, t.Lflag)
	for _, c := range chars {
		fmt.Fprintf(&b, ":%x", c)
	}
	return b.String(), nil
}
