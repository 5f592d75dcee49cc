package screen

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Watch gives the terminal's signals: a new size, the wish that the process
// stops, and that it goes on. Stop ends it. Where the output is no terminal the
// channel stays silent.
func (s *Screen) Watch() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 4)
	if _, _, ok := s.Size(); !ok {
		return c, func() {}
	}
	s.signals = c
	s.listen()
	return c, func() { signal.Stop(c) }
}

// listen asks for the signals, again where somebody has reset one.
func (s *Screen) listen() {
	if s.signals != nil {
		signal.Notify(s.signals, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTSTP)
	}
}

// stopSoon is how long the system may take to stop us.
const stopSoon = time.Second

// Suspend gives the terminal back and stops the program's group until its shell
// lets it go on; then it takes the terminal anew. Without a terminal, and where no
// shell could do that, nothing is stopped and stopped is false.
//
// It is SIGSTOP, which the system would send to a group without a shell too: once
// Go has caught SIGTSTP, that no longer stops anybody, also after signal.Reset.
func (s *Screen) Suspend() (stopped bool, err error) {
	if !s.open || s.raw == nil || !hasShell() {
		return false, nil
	}
	if err := s.Close(); err != nil {
		return false, err
	}
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	if err = syscall.Kill(0, syscall.SIGSTOP); err == nil {
		select {
		case <-goesOn:
		case <-time.After(stopSoon): // nobody has stopped us
		}
	}
	return err == nil, errors.Join(err, s.Open())
}

// hasShell reports whether somebody with job control has started our group: our
// parent is of our session, and its leader is not one of us.
func hasShell() bool {
	session, err := unix.Getsid(0)
	parents, e := unix.Getsid(os.Getppid())
	return err == nil && e == nil && session == parents && session != syscall.Getpgrp()
}
