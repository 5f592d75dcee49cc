package procgroup

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	termMoment  = 300 * time.Millisecond // between SIGTERM and SIGKILL
	reaperLimit = 3 * time.Second        // until remaining processes are reported
	firstPause  = 2 * time.Millisecond   // between the first two scans
	lastPause   = 50 * time.Millisecond  // the longest pause between two scans
)

// victim is a process that Collect has signalled. The start time distinguishes it
// from a later process with the same ID.
type victim struct {
	started string
	sig     syscall.Signal
}

// Collect ends the processes whose mark owns accepts and returns their number: SIGTERM, a short pause, SIGKILL. The error is
// one line with those that do not end. It blocks for at most 3 s, and only while it waits for a process.
//
// It scans until two scans in a row find nothing, because between the two halves of an exec a
// process shows no environment. A process that is exiting shows none either while it frees its
// memory and closes its files, so a victim counts until it has exited.
func Collect(owns func(mark string) bool) (int, error) {
	victims := make(map[int]victim)
	start := time.Now()
	for pause, calm := firstPause, 0; ; pause = min(2*pause, lastPause) {
		sig := syscall.SIGTERM
		if time.Since(start) >= termMoment {
			sig = syscall.SIGKILL
		}
		var left []string
		for pid := range PIDs() {
			v, known := victims[pid]
			switch {
			case owns(MarkOf(pid)):
				if v.sig != sig {
					victims[pid] = victim{startedAt(pid), sig}
					signalMarked(pid, sig, owns)
				}
			case !known || !v.running(pid):
				continue
			}
			left = append(left, strconv.Itoa(pid))
		}
		if calm++; len(left) > 0 {
			calm = 0
		}
		switch {
		case calm == 2:
			return len(victims), nil
		case time.Since(start) >= reaperLimit:
			return len(victims), fmt.Errorf(textLeft, strings.Join(left, ", "))
		}
		time.Sleep(pause)
	}
}

// running reports whether the victim still runs under its ID. A zombie does not.
func (v victim) running(pid int) bool {
	state := Stat(pid, FieldState)
	return state != "" && state != "Z" && state != "X" && startedAt(pid) == v.started
}

// signalMarked signals a process after checking its mark again through a handle, because the ID may
// have been reused. A signal fails only if the process is gone or belongs to another user; the next
// scan shows which.
func signalMarked(pid int, sig os.Signal, owns func(mark string) bool) {
	p, err := os.FindProcess(pid) // a pidfd, which refers to this very process
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if owns(MarkOf(pid)) {
		_ = p.Signal(sig)
	}
}

// PIDs yields the IDs of all visible processes except this one and init.
func PIDs() iter.Seq[int] {
	return func(yield func(int) bool) {
		dir, err := os.Open("/proc")
		if err != nil {
			return
		}
		defer dir.Close()
		names, _ := dir.Readdirnames(-1)
		for _, name := range names {
			pid, err := strconv.Atoi(name)
			if err != nil || pid == os.Getpid() || pid == 1 {
				continue
			}
			if !yield(pid) {
				return
			}
		}
	}
}

// MarkOf returns the mark in the environment that a process was started with. It is empty
// if the process has none, is exiting, or belongs to another user.
func MarkOf(pid int) string {
	env, err := os.ReadFile(File(pid, "environ"))
	if err != nil {
		return ""
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if mark, ok := bytes.CutPrefix(v, []byte(MarkName+"=")); ok {
			return string(mark)
		}
	}
	return ""
}

// Fields of /proc/PID/stat, counted after the name.
const (
	FieldState   = 0
	FieldParent  = 1
	FieldStarted = 19
)

// Stat returns a field of "PID (NAME) STATE PARENT …", where the name may contain brackets and
// blanks. It is empty if there is no such process.
func Stat(pid, field int) string {
	line, err := os.ReadFile(File(pid, "stat"))
	if err != nil {
		return ""
	}
	f := strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:]))
	if len(f) <= field {
		return ""
	}
	return f[field]
}

func startedAt(pid int) string { return Stat(pid, FieldStarted) }

// File returns the path of a file of /proc about a process.
func File(pid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + name
}
