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
)

// isOriginal reports whether a process is the original program, a Python script that takes
// no lock. Its name anywhere in the arguments is not enough: an editor with a file of the
// directory has it too.
func isOriginal(pid int) bool {
	return lives(pid) && runsOriginal(arguments(pid))
}

// runsOriginal reports whether a command line is that of the original program.
func runsOriginal(args []string) bool {
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

// lives asks the kernel directly: os.FindProcess first forks once, to see whether the system
// has pidfds.
func lives(pid int) bool {
	if pid <= 0 { // a group of processes
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// arguments returns the command line of a process; nil if unknown.
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
