package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/gofrs/flock"
)

// Running reports whether a bot lives in the directory, ours or the original
// program, and its process where that is known. Ours is known by its lock,
// whatever has become of its program's file or of bot.pid.
func (d *Dir) Running() (pid int, ok bool) {
	pid = d.readPID()
	if held(d.root) || held(d.Path(lockFile)) || isOriginal(pid) {
		return pid, true
	}
	return 0, false
}

// held reports whether somebody holds the lock on a path. It takes it, shared,
// for a moment, which a bot that just starts sits out.
func held(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return false
	}
	l := flock.New(path, flock.SetFlag(os.O_RDONLY|syscall.O_NONBLOCK))
	defer func() { _ = l.Close() }() // closing a lock cannot lose anything
	got, err := l.TryRLock()
	return err == nil && !got
}

// isOriginal reports whether a process is the original program, which is a
// Python script and holds no lock. That a process has the name somewhere in its
// arguments says nothing: so has an editor with a file of the directory.
func isOriginal(pid int) bool {
	if pid <= 0 || !lives(pid) {
		return false
	}
	args := arguments(pid)
	if len(args) < 2 || !strings.HasPrefix(filepath.Base(args[0]), "python") && !strings.HasPrefix(filepath.Base(args[0]), "Python") {
		return false
	}
	for i, arg := range args[1:] {
		if arg == "-m" && i+2 < len(args) {
			return strings.HasPrefix(args[i+2], "ollim_bot")
		}
		if !strings.HasPrefix(arg, "-") { // the script
			return filepath.Base(arg) == "ollim-bot"
		}
	}
	return false
}

func lives(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }() // only frees memory
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// arguments is the command line of a process; nil where it cannot be known.
func arguments(pid int) []string {
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	}
	line, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(line))
}
