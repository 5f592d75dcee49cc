package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
)

// command is the program's name on PATH.
const command = "claude"

// NotFoundError means that the claude command does not exist.
type NotFoundError struct {
	Path string // the expected path; empty if PATH was searched
}

// Error says how to install it.
func (e *NotFoundError) Error() string {
	if e.Path == "" {
		return msgNotFound
	}
	return fmt.Sprintf(msgNotThere, clean.Line(e.Path))
}

// Find returns the absolute path of the claude command: the value of OLLIM_CLAUDE, which may start
// with "~/", or the first executable "claude" on PATH. Errors are a *NotFoundError or one line
// about an unusable file.
func Find(getenv func(string) string) (string, error) {
	if path := strings.TrimSpace(getenv("OLLIM_CLAUDE")); path != "" {
		return named(path, getenv("HOME"))
	}
	refused := error(nil)
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // the assistant may be able to write to the current folder
		}
		path := filepath.Join(dir, command)
		err := runnable(path)
		if err == nil {
			return path, nil
		}
		// An unusable file is reported only if there is no better one.
		if missing := (*NotFoundError)(nil); refused == nil && !errors.As(err, &missing) {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", &NotFoundError{}
}

// named returns the path given by the user.
func named(path, home string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		path = filepath.Join(home, rest)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the folder of %s: %w", clean.Line(path), err)
	}
	return path, runnable(path)
}

// ExitError means that a process ended with a non-zero exit code or by a signal.
type ExitError struct {
	Code   int            // -1 if a signal ended it
	Signal syscall.Signal // the signal that ended it, or 0
	Stderr string         // see Process.StderrTail
}

// Error returns one sentence for the user.
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

// check finds problems before the start, because the system's error is the same for a missing
// folder and a missing program.
func (s Spec) check() error {
	if s.Dir != "" {
		info, err := os.Stat(s.Dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf(msgNoFolder, clean.Line(s.Dir))
		case err != nil:
			return fmt.Errorf(msgFolder, clean.Line(s.Dir), store.Bare(err))
		case !info.IsDir():
			return fmt.Errorf(msgNotFolder, clean.Line(s.Dir))
		}
	}
	return runnable(s.Path)
}

// runnable explains why a file cannot be run.
func runnable(path string) error {
	name := clean.Line(path)
	info, err := os.Stat(path)
	switch {
	case path == "" || errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &NotFoundError{Path: path}
	case err != nil:
		return fmt.Errorf(msgUnreadable, name, store.Bare(err))
	case info.IsDir():
		return fmt.Errorf(msgFolderNotFile, name)
	case !info.Mode().IsRegular():
		return fmt.Errorf(msgNoFile, name)
	case info.Mode().Perm()&0o111 == 0 || unix.Access(path, unix.X_OK) != nil:
		return fmt.Errorf(msgNotExecutable, name)
	}
	return nil
}

// explain describes why the system refused to start a program, without arguments and environment,
// which may contain secrets.
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
		return fmt.Errorf(msgNoRoom, name, store.Bare(err))
	}
	return fmt.Errorf(msgStart, name, store.Bare(err))
}

// interpreter returns the program in a script's first line, or empty.
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
