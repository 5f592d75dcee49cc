//go:build !unix

package screen

import "os"

// Watch gives nothing here: the system has no signal for a new size.
func (s *Screen) Watch() (signals <-chan os.Signal, stop func()) {
	return make(chan os.Signal), func() {}
}

// Continued is never true here.
func Continued(os.Signal) bool { return false }
