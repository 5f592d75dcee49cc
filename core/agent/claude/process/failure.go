package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ollimbot/core/clean"
)

// ExitError says that a process ended otherwise than with exit code 0.
type ExitError struct {
	Code   int            // the exit code; -1 when a signal ended it
	Signal syscall.Signal // the signal that ended it; 0 when none did
	Stderr string         // what it said last; see Process.StderrTail
}

// Error is one sentence for people.
func (e *ExitError) Error() string {
	s := fmt.Sprintf(msgExit, e.Code)
	if e.Signal != 0 {
		name := unix.SignalName(e.Signal)
		if name == "" {
			name = e.Signal.String()
		}
		s = fmt.Sprintf(msgKilled, name)
	}
	if e.Stderr != "" {
		s += ": " + e.Stderr
	}
	return s
}

// check finds what is wrong before the system is asked: its own answer is the
// same for a missing folder as for a missing program.
func (s Spec) check() error {
	if s.Dir != "" {
		info, err := os.Stat(s.Dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf(msgNoFolder, clean.Line(s.Dir))
		case err != nil:
			return fmt.Errorf(msgFolder, clean.Line(s.Dir), bare(err))
		case !info.IsDir():
			return fmt.Errorf(msgNotFolder, clean.Line(s.Dir))
		}
	}
	return runnable(s.Path)
}

// runnable says in words why a file cannot be a program.
func runnable(path string) error {
	name := clean.Line(path)
	info, err := os.Stat(path)
	switch {
	case path == "" || errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &NotFoundError{Path: path}
	case err != nil:
		return fmt.Errorf(msgUnreadable, name, bare(err))
	case info.IsDir():
		return fmt.Errorf(msgFolderNotFile, name)
	case !info.Mode().IsRegular():
		return fmt.Errorf(msgNoFile, name)
	case info.Mode().Perm()&0o111 == 0 || unix.Access(path, unix.X_OK) != nil:
		return fmt.Errorf(msgNotExecutable, name, name)
	}
	return nil
}

// explain puts the system's refusal to start a program into words. The
// arguments and the environment are not shown: they may hold anything.
func (s Spec) explain(err error) error {
	name := clean.Line(s.Path)
	switch {
	case errors.Is(err, syscall.ENOENT):
		if by := interpreter(s.Path); by != "" {
			return fmt.Errorf(msgNoInterpreter, name, by)
		}
		return fmt.Errorf(msgNoLoader, name)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf(msgFormat, name)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf(msgDenied, name)
	case errors.Is(err, syscall.ETXTBSY):
		return fmt.Errorf(msgBusy, name)
	case errors.Is(err, syscall.E2BIG):
		return fmt.Errorf(msgTooLong, name)
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		return fmt.Errorf(msgNoRoom, name, bare(err))
	}
	return fmt.Errorf(msgStart, name, bare(err))
}

// bare is the system's own word for an error, without the path before it.
func bare(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

// interpreter is what the first line of a script asks for; empty for what is
// no script.
func interpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	by, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	return clean.Line(by)
}
