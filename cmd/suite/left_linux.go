package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// patience is the grace period for processes after the tests have ended.
const patience = 3 * time.Second

// process is a process that the tests left running.
type process struct {
	pid     int
	command string
}

// adoptOrphans makes this process the parent of every process below it whose own parent ends,
// so that none escapes from the comparison.
func adoptOrphans() error {
	return os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
}

// waitFor reaps children until one of them, go test, has ended, and returns its exit status.
func waitFor(child int) (int, error) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, os.NewSyscallError("wait4", err)
		case pid == child && status.Signaled():
			return 128 + int(status.Signal()), nil
		case pid == child:
			return status.ExitStatus(), nil
		}
	}
}

// descendants returns the processes that still run below this one after a grace period.
func descendants(patience time.Duration) []process {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		for pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid > 0 && err == nil; {
			pid, err = unix.Wait4(-1, nil, unix.WNOHANG, nil)
		}
		running := below(os.Getpid())
		if len(running) == 0 {
			return nil
		}
		select {
		case <-deadline:
			return running
		case <-tick.C:
		}
	}
}

// below lists the descendants of a process that are still running.
func below(root int) (list []process) {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	for _, path := range stats {
		data, err := os.ReadFile(path)
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // "PID (NAME) STATE PARENT …"
		if err != nil || len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		pid, err1 := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, err2 := strconv.Atoi(fields[1])
		if err1 == nil && err2 == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	for level := children[root]; len(level) > 0; {
		var next []int
		for _, pid := range level {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // empty once it has ended
			command := strings.TrimSpace(string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
			list = append(list, process{pid, command})
			next = append(next, children[pid]...)
		}
		level = next
	}
	return list
}

// endAll kills the processes that are left, so that the run ends.
func endAll(running []process) error {
	var all []error
	for _, p := range running {
		if err := unix.Kill(p.pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			all = append(all, fmt.Errorf("kill %d: %w", p.pid, err))
		}
	}
	return errors.Join(all...)
}

func stillRunning(running []process) error {
	var all []error
	for _, p := range running {
		all = append(all, fmt.Errorf("left running by the suite: %d %s", p.pid, p.command))
	}
	return errors.Join(all...)
}

// left returns an error that lists the entries of the temporary directory.
func left(temp string) error {
	entries, err := os.ReadDir(temp)
	all := []error{err}
	for _, e := range entries {
		all = append(all, fmt.Errorf("left in the temporary directory by the suite: %s", describe(temp, e)))
	}
	return errors.Join(all...)
}

// describe names an entry and, for a folder, the first file in it, which identifies its test.
func describe(temp string, e fs.DirEntry) string {
	first := ""
	_ = filepath.WalkDir(filepath.Join(temp, e.Name()), func(path string, in fs.DirEntry, err error) error {
		if err != nil || in.IsDir() {
			return err
		}
		first, _ = filepath.Rel(temp, path) // both are absolute
		return fs.SkipAll
	})
	if first == "" || first == e.Name() {
		return e.Name()
	}
	return e.Name() + " with " + first
}
