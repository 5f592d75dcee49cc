//go:build unix

package screen

import (
	"os"
	"os/signal"
	"syscall"
)

// Watch gives the terminal's signals: a new size, and the process going on
// after it was stopped. Stop ends it. Where the output is no terminal the
// channel stays silent.
func (s *Screen) Watch() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	if _, _, ok := s.Size(); !ok {
		return c, func() {}
	}
	signal.Notify(c, syscall.SIGWINCH, syscall.SIGCONT)
	return c, func() { signal.Stop(c) }
}

// Continued reports whether the signal says that the process was stopped and
// goes on.
func Continued(sig os.Signal) bool { return sig == syscall.SIGCONT }
