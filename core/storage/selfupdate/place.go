package selfupdate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
)

// claim locks the program's file until done is called. The lock is on the file itself: a process
// that opened the file before it was replaced has an old file, and is refused too.
func (p Program) claim() (done func(), err error) {
	f, err := os.Open(p.Path)
	if err != nil {
		return nil, p.advise(err)
	}
	locked := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	held, err1 := f.Stat()
	now, err2 := os.Stat(p.Path)
	if errors.Is(locked, syscall.EWOULDBLOCK) || err1 != nil || err2 != nil || !os.SameFile(held, now) {
		_ = f.Close() // only read
		return nil, fmt.Errorf(textBusy, p.Path)
	}
	return func() { _ = f.Close() }, nil
}

// beside writes a program next to the installed one, synced and with the same mode, and returns its
// path. A leftover of a killed update is replaced; claim excludes other writers.
func (p Program) beside(end string, r io.Reader) (path string, err error) {
	folder, name := filepath.Split(p.Path)
	path = filepath.Join(folder, "."+name+end)
	info, err := os.Stat(p.Path)
	if err != nil {
		return "", p.advise(err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", p.advise(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", p.advise(err)
	}
	_, err = io.Copy(f, r)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // report the first error
		return "", p.advise(err)
	}
	return path, nil
}

// rename replaces one file with another, atomically and durably.
func (p Program) rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return p.advise(err)
	}
	folder, err := os.Open(filepath.Dir(to))
	if err != nil {
		return p.advise(err)
	}
	defer folder.Close()
	_ = folder.Sync() // not every file system supports this
	return nil
}

// advise adds the cure to an error about the program's file.
func (p Program) advise(err error) error {
	switch {
	case store.Full(err):
		return fmt.Errorf(textFull, filepath.Dir(p.Path), err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf(textReadOnly, p.Path, err)
	}
	return fmt.Errorf(textPlace, p.Path, err)
}

const (
	// runPatience is how long a program may take to print its version.
	runPatience = 10 * time.Second
	// busyTries and busyPause limit the retries for a busy file: a file that was just written
	// cannot be run while a child process started by another goroutine still has it open.
	busyTries = 20
	busyPause = 20 * time.Millisecond
)

// says asks a program for its version, which also proves that it runs on this machine.
func says(ctx context.Context, path string) (version string, err error) {
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, runPatience)
	defer cancel()
	for try := 1; ; try++ {
		version, err = ask(ctx, path)
		if !errors.Is(err, syscall.ETXTBSY) || try == busyTries {
			return version, err
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func ask(ctx context.Context, path string) (string, error) {
	var out, problem bytes.Buffer
	c := exec.CommandContext(ctx, path, "version")
	c.Env, c.Stdout, c.Stderr, c.WaitDelay = []string{}, &out, &problem, time.Second
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%w %s", err, clean.Cut(clean.Line(problem.String()), 200))
	}
	words := strings.Fields(out.String())
	if len(words) < 2 || words[0] != "ollim-bot" || !isVersion(words[1]) {
		return "", fmt.Errorf(textNoVersion, clean.Cut(clean.Line(out.String()), 60))
	}
	return words[1], nil
}
